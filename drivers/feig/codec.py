"""Polling a FEIG reader (hardware page 2.1): requests out, inventories to events. No I/O."""

from __future__ import annotations

from drivers.feig.frames import (
    ANY_READER,
    INVENTORY,
    MORE_DATA,
    NEW_INVENTORY,
    NO_TAG,
    OK,
    Request,
    encode_request,
    frames,
    parse_answer,
    parse_tags,
)
from drivers.mouth import Mouth, Sighting
from drivers.polled import POLL_S, PolledTags, Trouble
from drivers.settings import FrameForm


class FeigDecoder(PolledTags):
    """Asks for a new inventory each time; the reader resolves collisions and names every tag in its field.

    An answer of a shape that is not known, with a transponder that is no ISO 15693 tag, or with more tags than it
    holds (94h) names nothing for certain.
    """

    def __init__(
        self, mouth: Mouth, poll_s: float = POLL_S, form: FrameForm = "advanced", address: int = ANY_READER
    ) -> None:
        self._inventory = encode_request(Request(INVENTORY, NEW_INVENTORY, address), form)
        super().__init__(frames(), mouth, poll_s)

    def set_up(self) -> list[bytes]:
        """See ``PolledTags.set_up``: a reader in host mode needs none."""
        return []

    def inventory(self) -> bytes:
        """See ``PolledTags.inventory``."""
        return self._inventory

    def interpret(self, raw: bytes) -> Sighting | Trouble | None:
        """See ``PolledTags.interpret``."""
        answer = parse_answer(raw)
        if answer is None or answer.control != INVENTORY:
            return None
        if answer.status == NO_TAG:
            return Sighting(())
        if answer.status == MORE_DATA:
            return Sighting((), "more tags than an answer holds")
        if answer.status != OK:
            return Trouble(f"status {answer.status:02X}")
        try:
            return Sighting(tuple(tag.uid for tag in parse_tags(answer.data)))
        except ValueError as error:
            return Sighting((), f"not understood: {error}")
