"""SSI packets to events, and what the host answers (hardware page 3.3). No I/O.

Inferred, not seen on hardware [I]: how long a scanner waits before it sends again, that each packet of continued
data begins with the code type, and that a session is to be started anew after each code.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from drivers.decoder import Decoded, Decoder, escape
from drivers.errors import DeviceSilent
from drivers.events import Event, NoRead, Repeated, UnknownCode
from drivers.framing import Cut
from drivers.line.codec import REPEAT_WINDOW_S
from drivers.line.codes import MAX_CODE_BYTES, CodeTable, face_of
from drivers.settings import DEFAULT_CUT_CODES, CodeSet
from drivers.ssi.frames import (
    ACK,
    DECODE_DATA,
    NAK,
    NAK_RESEND,
    SCAN_ENABLE,
    SCANNER,
    START_SESSION,
    Packet,
    command,
    encode,
    frames,
    parse,
)

# A packet's bytes follow each other; a device server may hold some of them back.
STALL_S: Final = 0.5
# "Otherwise the scanner resends with bit 0 set (2 retries)"; it waits 2 s by default [I].
RESEND_S: Final = 2.5
# A damaged packet that did not come again by then is lost; so is the rest of a continued one.
GIVE_UP_S: Final = 3.0
# A command that is not answered is sent again, so often in all.
ANSWER_S: Final = 0.5
TRIES: Final = 3

_LINE_ENDS: Final = b"\r\n"


class SsiDecoder(Decoder):
    """Packets to events. Each decoded packet is acknowledged once its event was handed on, a damaged one refused.

    A resent packet whose first copy was taken is no second card. A damaged packet that never comes again, or that
    comes again as what cannot be told from the card before it, is ``NoRead``: a card left and which is not known. The
    same code again as a new packet within ``repeat_window_s`` is ``Repeated``, as on a line.

    ``triggered``: the scanner reads only in a session; one is started when the line opens and after each code.
    """

    def __init__(
        self,
        code_set: CodeSet = "scan_table",
        cut_codes: Iterable[str] = DEFAULT_CUT_CODES,
        repeat_window_s: float = REPEAT_WINDOW_S,
        *,
        triggered: bool = False,
    ) -> None:
        """Raises ``SettingsError`` for cut codes that mean something else."""
        super().__init__()
        self._codes = CodeTable(code_set, cut_codes)
        self._window = repeat_window_s
        self._triggered = triggered
        self._frames = frames()
        self._byte_at = 0.0
        self._last: bytes | None = None
        self._last_at = 0.0
        self._last_event: Event | None = None
        self._damaged: bytes | None = None
        self._damaged_at = 0.0
        self._parts = b""
        self._parts_at = 0.0
        self._replies = b""
        self._dialogue = _Commands()

    @property
    def alive(self) -> bool:
        """See ``Decoder.alive``: a scanner that is triggered must have answered."""
        return self._dialogue.answered or not self._triggered

    def decode(self, data: bytes, now: float) -> list[Decoded]:
        """See ``Decoder.decode``."""
        out = self.idle(now) if data else []
        out += self._take(self._frames.feed(data), now)
        if data:
            self._byte_at = now
        return out

    def idle(self, now: float) -> list[Decoded]:
        """See ``Decoder.idle``: also tells of what was damaged and did not come again."""
        out: list[Decoded] = []
        if self._frames.pending and now - self._byte_at > STALL_S:
            out += self._take(self._frames.stalled(), now)
        if self._damaged is not None and now - self._damaged_at > GIVE_UP_S:
            out += self._lost()
        if self._parts and now - self._parts_at > GIVE_UP_S:
            out += self._cut_off()
        return out

    def flush(self, now: float) -> list[Decoded]:  # noqa: ARG002
        """See ``Decoder.flush``. Half a packet is none: the scanner sends it again when the line is back."""
        self._frames.drop()
        self.stats.junk_bytes = self._frames.junk_bytes
        return self._lost() + self._cut_off()

    def reopened(self) -> None:
        """See ``Decoder.reopened``: a packet may come again whose first copy was taken before the interruption."""
        self._frames.drop()
        self._damaged, self._parts, self._replies = None, b"", b""
        self._dialogue = _Commands()
        if self._triggered:
            self._dialogue.add(SCAN_ENABLE, START_SESSION)

    def outgoing(self, now: float) -> bytes:
        """See ``Decoder.outgoing``: answers to packets, then the command that is due."""
        replies, self._replies = self._replies, b""
        return replies + self._dialogue.outgoing(now)

    def _take(self, cuts: list[Cut], now: float) -> list[Decoded]:
        out: list[Decoded] = []
        for cut in cuts:
            self.stats.frames += 1
            packet = parse(cut.raw) if cut.holds else None
            if packet is None:
                self.stats.bad_checksum += 1
                if cut.raw[2] == SCANNER:
                    self._damaged, self._damaged_at = cut.raw, now
                    # One refusal for what may be one packet, cut at several of its bytes.
                    self._replies = self._replies.removesuffix(_RESEND) + _RESEND
            elif packet.source == SCANNER and packet.op == DECODE_DATA:
                self._replies += _TAKEN
                out += self._decoded(packet, cut.raw, now)
            else:
                self.stats.accepted += 1
                if packet.source == SCANNER:
                    self._dialogue.heard(packet)
        self.stats.junk_bytes = self._frames.junk_bytes
        return out

    def _decoded(self, packet: Packet, raw: bytes, now: float) -> list[Decoded]:
        out: list[Decoded] = []
        known = packet.data == self._last and now - self._last_at <= RESEND_S
        if packet.resent and known:
            self._last_at = now
            self.stats.duplicates += 1
            return self._lost("resent after damage")
        if not packet.resent:
            out += self._lost()
        self._damaged = None
        self.stats.accepted += 1
        rescan = not self._parts and packet.data == self._last and now - self._last_at < self._window
        self._last, self._last_at = packet.data, now
        if packet.continued:
            self._parts = (self._parts or packet.data[:1]) + packet.data[1:]
            self._parts_at = now
            if len(self._parts) <= MAX_CODE_BYTES:
                return out
            return out + self._cut_off()
        whole, self._parts = (self._parts or packet.data[:1]) + packet.data[1:], b""
        if self._triggered:
            self._dialogue.add(START_SESSION)
        if rescan and self._last_event is not None:
            return [*out, Decoded(Repeated(face_of(self._last_event)), raw)]
        self._last_event = self._codes.judge(whole[1:].rstrip(_LINE_ENDS))
        return [*out, Decoded(self._last_event, raw)]

    def _lost(self, why: str = "damaged packet") -> list[Decoded]:
        """A card that came damaged and not again."""
        raw, self._damaged = self._damaged, None
        return [] if raw is None else [Decoded(NoRead(why), raw)]

    def _cut_off(self) -> list[Decoded]:
        """Data whose end did not come, or that is too long to be a card."""
        parts, self._parts = self._parts, b""
        return [Decoded(UnknownCode(escape(parts[1:])), parts)] if parts else []


class _Commands:
    """Commands to the scanner, one under way at a time."""

    def __init__(self) -> None:
        self.answered = False
        self._waiting: deque[int] = deque()
        self._sent_at: float | None = None
        self._tries = 0

    def add(self, *ops: int) -> None:
        """Send ``ops``, in turn; one that waits already is not sent twice."""
        self._waiting.extend(op for op in ops if op not in self._waiting)

    def heard(self, packet: Packet) -> None:
        """The scanner said something that is no code."""
        if packet.op not in (ACK, NAK):
            return
        self.answered = True
        again = packet.op == NAK and packet.data[:1] == bytes((NAK_RESEND,))
        if self._sent_at is not None and not again:
            self._waiting.popleft()
            self._tries = 0
        self._sent_at = None

    def outgoing(self, now: float) -> bytes:
        """The command that is due. Raises ``DeviceSilent``."""
        if not self._waiting or (self._sent_at is not None and now - self._sent_at < ANSWER_S):
            return b""
        if self._tries == TRIES:
            raise DeviceSilent("the scanner does not answer commands: check its power, speed and that it speaks SSI")
        self._tries += 1
        self._sent_at = now
        return encode(command(self._waiting[0]))


_TAKEN: Final = encode(command(ACK))
_RESEND: Final = encode(command(NAK, bytes((NAK_RESEND,))))
