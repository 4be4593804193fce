"""Polling an RR3036 reader (hardware page 2.2): requests out, inventories to events. No I/O."""

from __future__ import annotations

from drivers.mouth import Mouth, Sighting
from drivers.polled import POLL_S, PolledTags, Trouble
from drivers.rr3036.frames import (
    FIELD_OFF,
    INCOMPLETE,
    INIT,
    INVENTORY,
    NO_TAG,
    OK,
    OPEN_FIELD,
    TO_ISO_15693,
    WRONG_MODE,
    Request,
    encode_request,
    frames,
    parse_answer,
    parse_tags,
)


class Rr3036Decoder(PolledTags):
    """Starts the reader, turns it to ISO 15693, and asks for inventories.

    It is set up again when it says that its field is off (05) or that it is in another mode (1F). An inventory that
    is incomplete (0A, 0B) or of a shape that is not known names nothing for certain.
    """

    def __init__(self, mouth: Mouth, poll_s: float = POLL_S, address: int = 0x00) -> None:
        self._address = address
        super().__init__(frames(), mouth, poll_s)

    def set_up(self) -> list[bytes]:
        """See ``PolledTags.set_up``."""
        return [self._request(INIT), self._request(TO_ISO_15693)]

    def inventory(self) -> bytes:
        """See ``PolledTags.inventory``."""
        return self._request(INVENTORY)

    def interpret(self, raw: bytes) -> Sighting | Trouble | None:
        """See ``PolledTags.interpret``."""
        answer = parse_answer(raw)
        if answer is None:
            return None
        if answer.status == NO_TAG:
            return Sighting(())
        if answer.status in INCOMPLETE:
            return Sighting((), f"inventory incomplete ({answer.status:02X})")
        if answer.status == FIELD_OFF:
            return Trouble("its field is off", (self._request(OPEN_FIELD), self._request(TO_ISO_15693)))
        if answer.status == WRONG_MODE:
            return Trouble("it is in another mode", (self._request(TO_ISO_15693),))
        if answer.status != OK:
            return Trouble(f"status {answer.status:02X}")
        if not answer.data:
            return None  # a command was done
        try:
            return Sighting(tuple(tag.uid for tag in parse_tags(answer.data)))
        except ValueError as error:
            return Sighting((), f"not understood: {error}")

    def _request(self, request: Request) -> bytes:
        return encode_request(request._replace(address=self._address))
