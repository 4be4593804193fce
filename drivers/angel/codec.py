"""The telegram stream of the Angel Eye shoe (hardware page 1.1): both directions, no I/O.

Inferred there and here, not stated by the vendor [I]: the length bound, the window that tells a copy from a new
telegram, and that a step in the sequence means a loss. A loss of exactly nine telegrams (or a multiple) leaves
no step; only a repeat of the very same bytes after it would show.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from drivers.angel.commands import ACK, NAK, NAK_TEXTS, STX
from drivers.angel.dialogue import Dialogue
from drivers.angel.frames import ENQ, ETX, START_SEQ, check, encode, next_seq, parse
from drivers.decoder import Decoded, Decoder
from drivers.events import Event, Gap, Started

# "The longest known frame is 13 bytes (M), so 32 is ample" [I].
MAX_FRAME_BYTES: Final = 32

# "Each telegram is sent three times, identical bytes"; "drop a frame only if all bytes equal the previous
#  accepted frame and it came within about 1 s (triple about 50-150 ms)" [I].
COPIES: Final = 3
COPY_WINDOW_S: Final = 1.0


class _Mode(Enum):
    JUNK = auto()
    EVENT = auto()
    EVENT_CHECK = auto()
    REPLY = auto()
    REPLY_CHECK = auto()
    NAK = auto()


_MODES: Final = {ENQ: _Mode.EVENT, STX: _Mode.REPLY, NAK: _Mode.NAK}


class FrameReader:
    """Cuts the stream into whole telegrams (ENQ to B2), checked by nobody yet.

    An ENQ always starts a telegram: it cannot occur inside one, so what it interrupts was cut off. Answers to
    commands may stand between telegrams ("the parser must take 02/05/06/15 as start codes"); ``replies`` are those
    that the last ``feed`` completed. Every byte is in a returned frame, in ``reply_bytes`` (answers), in
    ``junk_bytes`` or in ``pending``.
    """

    def __init__(self) -> None:
        self.junk_bytes = 0
        self.reply_bytes = 0
        self.replies: list[bytes] = []
        self._buffer = bytearray()
        self._mode = _Mode.JUNK
        self._check_left = 0

    @property
    def pending(self) -> int:
        """Bytes of a telegram that has not ended yet."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """The telegrams that ``data`` completes."""
        frames = []
        self.replies = []
        for byte in data:
            frame = self._step(byte)
            if frame is not None:
                frames.append(frame)
        return frames

    def drop(self) -> None:
        """Count an unfinished telegram as junk."""
        self.junk_bytes += len(self._buffer)
        self._reset()

    def _step(self, byte: int) -> bytes | None:
        if byte == ENQ or self._mode is _Mode.JUNK:
            self._start(byte)
        elif self._mode is _Mode.NAK:
            if byte in NAK_TEXTS:
                self._answer(bytes((NAK, byte)))
                self._reset()
            else:
                self._start(byte)
        elif self._mode in (_Mode.EVENT_CHECK, _Mode.REPLY_CHECK):
            return self._check_character(byte)
        elif byte == ETX:
            self._buffer.append(byte)
            self._check_left = 2
            self._mode = _Mode.EVENT_CHECK if self._mode is _Mode.EVENT else _Mode.REPLY_CHECK
        elif byte in (STX, ACK, NAK):
            self._start(byte)
        else:
            self._buffer.append(byte)
            if len(self._buffer) > MAX_FRAME_BYTES:
                self.drop()
        return None

    def _start(self, byte: int) -> None:
        if self._buffer:
            self.drop()
        if byte == ACK:
            self._answer(bytes((ACK,)))
            return
        mode = _MODES.get(byte)
        if mode is None:
            self.junk_bytes += 1
            return
        self._buffer.append(byte)
        self._mode = mode

    def _check_character(self, byte: int) -> bytes | None:
        self._buffer.append(byte)
        self._check_left -= 1
        if self._check_left:
            return None
        frame = bytes(self._buffer)
        is_event = self._mode is _Mode.EVENT_CHECK
        self._reset()
        if is_event:
            return frame
        self._answer(frame)
        return None

    def _answer(self, raw: bytes) -> None:
        self.reply_bytes += len(raw)
        self.replies.append(raw)

    def _reset(self) -> None:
        self._buffer.clear()
        self._mode = _Mode.JUNK


class AngelDecoder(Decoder):
    """Telegrams to events: copies dropped, losses shown as ``Gap`` before the telegram that reveals them.

    A telegram is a copy if all its bytes equal the last accepted one's and it came within ``copy_window_s``
    seconds of that one; None (a capture without times) takes equal telegrams in a row as copies, however many.
    Equal bytes later than that are a new ``Started`` for ``S``; for others nine telegrams may be missing between
    the two, so they are a ``Gap`` and the event. The first telegram of all is not checked for a gap; the
    sequence is kept over a reopened line. A telegram with a wrong check changes nothing but a counter.

    With a ``dialogue`` the decoder is also the shoe's partner in it: it hands on answers and events, and sends what
    is due.
    """

    def __init__(self, copy_window_s: float | None = COPY_WINDOW_S, dialogue: Dialogue | None = None) -> None:
        super().__init__()
        self._dialogue = dialogue
        self._reader = FrameReader()
        self._window = copy_window_s
        self._last_frame = b""
        self._last_at = 0.0
        self._seq: str | None = None

    def decode(self, data: bytes, now: float) -> list[Decoded]:
        """See ``Decoder.decode``."""
        out = []
        for frame in self._reader.feed(data):
            self.stats.frames += 1
            if not check(frame):
                self.stats.bad_checksum += 1
            elif self._is_copy(frame, now):
                self.stats.duplicates += 1
            else:
                self.stats.accepted += 1
                self._last_frame = frame
                self._last_at = now
                out += [Decoded(event, frame) for event in self._accept(frame)]
        self.stats.junk_bytes = self._reader.junk_bytes
        if self._dialogue is not None:
            for decoded in out:
                self._dialogue.heard(decoded.event)
            for raw in self._reader.replies:
                self._dialogue.answered(raw, now)
        return out

    def outgoing(self, now: float) -> bytes:
        """See ``Decoder.outgoing``: the command that is due."""
        return b"" if self._dialogue is None else self._dialogue.outgoing(now)

    @property
    def reply_bytes(self) -> int:
        """Bytes that were answers to commands of a host."""
        return self._reader.reply_bytes

    def idle(self, now: float) -> list[Decoded]:  # noqa: ARG002  (an ENQ ends whatever was left open)
        """A telegram cut in its middle is no event: the next one shows by its sequence if it was lost."""
        return []

    def flush(self, now: float) -> list[Decoded]:  # noqa: ARG002
        """Half a telegram becomes junk, and no command waits any longer."""
        self._reader.drop()
        self.stats.junk_bytes = self._reader.junk_bytes
        if self._dialogue is not None:
            self._dialogue.interrupted()
        return []

    def reopened(self) -> None:
        """Half a telegram from before does not continue; the sequence does, so that a loss shows."""
        self._reader.drop()
        self.stats.junk_bytes = self._reader.junk_bytes
        if self._dialogue is not None:
            self._dialogue.interrupted()

    def _is_copy(self, frame: bytes, now: float) -> bool:
        return frame == self._last_frame and (self._window is None or now - self._last_at <= self._window)

    def _accept(self, frame: bytes) -> list[Event]:
        event = parse(frame)
        if isinstance(event, Started):
            self._seq = START_SEQ
            return [event]
        seq = chr(frame[1])
        if not "1" <= seq <= "9":  # UnknownCode: such a telegram has no place in the sequence
            return [event]
        before, self._seq = self._seq, seq
        if before is None or seq == next_seq(before):
            return [event]
        self.stats.gaps += 1
        return [Gap(before, seq), event]


class AngelEncoder:
    """The device side: numbers telegrams as the shoe does."""

    def __init__(self) -> None:
        self._seq = START_SEQ

    @property
    def seq(self) -> str:
        """Sequence character of the last telegram."""
        return self._seq

    def encode(self, event: Event) -> bytes:
        """The next telegram, one copy. Raises ``ValueError`` (and uses no number) if there is none for it."""
        seq = START_SEQ if isinstance(event, Started) else next_seq(self._seq)
        frame = encode(event, seq)
        self._seq = seq
        return frame

    def triple(self, event: Event) -> bytes:
        """The next telegram as the shoe sends it: ``COPIES`` times."""
        return self.encode(event) * COPIES
