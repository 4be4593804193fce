"""What no input may do to a codec, as functions of bytes. Shared by the test suite and by ``make fuzz``.

An input is a little program: each operation is a byte and what it takes, so that a fuzzer can cut reads, let time
pass, and put a right check under any content, which it would never hit upon by chance. Whatever comes:

* nothing raises but what the interface allows, and the counters add up;
* no card comes from a message whose check fails (the checks are computed here anew, by other code);
* what a decoder keeps is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, reduce
from operator import xor
from typing import Final, NamedTuple

from drivers.angel.codec import AngelDecoder
from drivers.angel.commands import (
    COMMAND_TEXTS,
    MAX_COMMAND_BYTES,
    Answer,
    Command,
    CommandReader,
    encode_command,
    parse_command,
)
from drivers.angel.dialogue import Dialogue
from drivers.angel.frames import encode as angel_telegram
from drivers.decoder import Decoded, Decoder
from drivers.errors import DeviceSilent
from drivers.events import CardDrawn, CardReused, CardRevealed, OutOfGame, OverdrawnDiscarded, StandBy
from drivers.feig.codec import FeigDecoder
from drivers.line.codec import LineDecoder
from drivers.line.codec import encode as line_of
from drivers.mouth import Mouth
from drivers.rr3036.codec import Rr3036Decoder
from drivers.ssi.codec import SsiDecoder
from drivers.tags import Shoes, TagRegistry

#: Longer programs find nothing that shorter ones do not.
MAX_INPUT: Final = 512
#: Bytes and items that a decoder may keep, far above what any of them needs.
MAX_KEPT: Final = 8192

_CARDS: Final = (CardDrawn, CardReused, CardRevealed, OutOfGame, OverdrawnDiscarded)
_UIDS: Final = {"E004010012345678": "AS", "E0040100A1B2C3D4": "KD"}

Seal = Callable[[bytes], bytes]
Check = Callable[[bytes], bool]


class Target(NamedTuple):
    """A decoder with what is right for it: ``seal`` makes a whole message of content, ``check`` judges one."""

    make: Callable[[], Decoder]
    seal: Seal
    check: Check
    good: tuple[bytes, ...]


class Step(NamedTuple):
    """One operation: what is sent, after how long, and what happens to the line then."""

    data: bytes
    after_s: float
    then: str = ""


def program(data: bytes, target: Target) -> Iterator[Step]:
    """The operations of an input."""
    place = 0
    while place < len(data):
        operation, count = data[place] & 7, data[place] >> 3
        taken = data[place + 1 : place + 1 + count]
        place += 1 + count if operation < 4 else 1
        match operation:
            case 0 | 1:
                yield Step(taken, 0.001)
            case 2:
                yield Step(target.seal(taken), 0.002)
            case 3:
                sealed = bytearray(target.seal(taken))
                if sealed and taken:
                    sealed[taken[0] % len(sealed)] ^= 1 << (count & 7)
                yield Step(bytes(sealed), 0.002)
            case 4:
                yield Step(target.good[count % len(target.good)], 0.05)
            case 5:
                yield Step(b"", count * 0.05)
            case 6:
                yield Step(b"", 0.0, "flush" if count & 1 else "reopen")
            case 7:
                yield Step(target.good[count % len(target.good)][: count & 7], 0.01)


def run(target: Target, data: bytes) -> Decoder:
    """Run a program on a new decoder. Raises ``AssertionError`` for what may not happen."""
    decoder = target.make()
    decoder.reopened()
    now = 1000.0
    for step in program(data[:MAX_INPUT], target):
        now += step.after_s
        told: list[Decoded] = []
        try:
            decoder.outgoing(now)
            if step.then == "reopen":
                decoder.reopened()
            elif step.then == "flush":
                told += decoder.flush(now)
            else:
                told += decoder.decode(step.data, now) if step.data else decoder.idle(now)
        except DeviceSilent:
            decoder.reopened()
        for event, raw in told:
            if isinstance(event, _CARDS):
                assert target.check(raw), f"{event} from {raw.hex()}, whose check is wrong"
        stats = decoder.stats
        assert stats.frames == stats.accepted + stats.duplicates + stats.bad_checksum, stats
        assert min(stats.frames, stats.junk_bytes, stats.gaps) >= 0, stats
    if _looked_at(data):
        assert kept(decoder) < MAX_KEPT, "the decoder grows"
    return decoder


def _looked_at(data: bytes) -> bool:
    """One input in 16: looking takes longer than decoding."""
    return sum(data[:4]) % 16 == 0


def kept(thing: object, depth: int = 4) -> int:
    """Items and bytes that hang on ``thing``."""
    if isinstance(thing, bytes | bytearray | str):
        return len(thing)
    if isinstance(thing, dict):
        return sum(kept(item, depth - 1) for item in thing.values()) if depth else 0
    if isinstance(thing, list | tuple | set | frozenset):
        return len(thing) + (sum(kept(item, depth - 1) for item in thing) if depth else 0)
    slots = getattr(type(thing), "__slots__", ())
    inside = [*vars(thing).values()] if hasattr(thing, "__dict__") else [getattr(thing, name, 0) for name in slots]
    return sum(kept(item, depth - 1) for item in inside) if depth else 1


# --- checks and seals, written from the hardware page and nothing else --------------------------------------------


def _xor(data: bytes) -> bytes:
    return f"{reduce(xor, data, 0):02X}".encode()


def _angel_seal(content: bytes) -> bytes:
    body = content + b"\x03"
    return b"\x05" + body + _xor(body)


def _angel_check(raw: bytes) -> bool:
    return raw[0] == 5 and raw[-3] == 3 and raw[-2:] == _xor(raw[1:-2])


@lru_cache(maxsize=1 << 14)  # by far the slowest of these, and mutations keep most contents
def _crc(data: bytes) -> bytes:
    crc = 0xFFFF
    for byte in data:
        for bit in range(8):
            mixed = (crc ^ byte >> bit) & 1
            crc = crc >> 1 ^ (0x8408 if mixed else 0)
    return bytes((crc & 0xFF, crc >> 8))


def _crc_check(raw: bytes) -> bool:
    return len(raw) > 2 and raw[-2:] == _crc(raw[:-2])


def _feig_seal(content: bytes) -> bytes:
    body = bytes((0x02, 0x00, len(content) + 5)) + content
    return body + _crc(body)


def _rr_seal(content: bytes) -> bytes:
    body = bytes((len(content) + 2,)) + content
    return body + _crc(body)


def _sum(data: bytes) -> bytes:
    return (0x10000 - sum(data) & 0xFFFF).to_bytes(2, "big")


def _ssi_seal(content: bytes) -> bytes:
    body = bytes((len(content) + 1,)) + content
    return body + _sum(body)


def _ssi_check(raw: bytes) -> bool:
    return raw[0] == len(raw) - 2 and raw[-2:] == _sum(raw[:-2])


def _line_check(raw: bytes) -> bool:
    text = raw.removeprefix(b"\x02")
    if text[:1] == b"]":
        text = text[3:]
    return text in {suit + b"%02d" % rank for suit in (b"A", b"H", b"C", b"D") for rank in range(1, 14)}


def _hex(*texts: str) -> tuple[bytes, ...]:
    return tuple(bytes.fromhex(text) for text in texts)


def _shoes() -> Shoes:
    return Shoes([TagRegistry("one", _UIDS)])


_ANGEL_GOOD: Final = (
    *(angel_telegram(CardDrawn("8S", "player", 1), str(seq)) for seq in range(1, 10)),
    *(angel_telegram(StandBy(), str(seq)) for seq in range(1, 10)),
    *_hex(
        "053053033630", "0536 4981B2033446", "053945820346 44", "053945C70342 33", "0532 64A080033735",
        "0533 6981B7033646", "053465820344 30", "0538 5281800336 38", "053743033737", "0535 4C81034642",
        "06", "1521", "1502", "024103", "05", "0531",
    ),
)  # fmt: skip

TARGETS: Final[dict[str, Target]] = {
    "angel": Target(AngelDecoder, _angel_seal, _angel_check, _ANGEL_GOOD),
    "angel_capture": Target(lambda: AngelDecoder(None), _angel_seal, _angel_check, _ANGEL_GOOD),
    "line": Target(
        LineDecoder,
        lambda content: content + b"\r\n",
        _line_check,
        (
            *(line_of(CardDrawn(card)) for card in ("8S", "AH", "TD", "KC")),
            b"NR\r", b"]C0D12\r\n", b"CUT\r\n", b"\x02H01\x03",
        ),
    ),
    "ssi": Target(
        SsiDecoder,
        _ssi_seal,
        _ssi_check,
        _hex("08F3000003443132FE5B", "08F3000103443132FE5A", "07F30000014E52FE65", "04D00000FF2C", "05000400 00FFF7"),
    ),
    "feig": Target(
        lambda: FeigDecoder(Mouth(_shoes())),
        _feig_seal,
        _crc_check,
        _hex(
            "02001300B000010300E0040100123456780371",
            "02001D00B000020300E0040100123456780300E0040100A1B2C3D4EC42",
            "02000800B00119CE", "1100B000010300E004010012345678D835", "0600B0015C63",
        ),
    ),
    "rr3036": Target(
        lambda: Rr3036Decoder(Mouth(_shoes())),
        _rr_seal,
        _crc_check,
        _hex("0400 00525A", "0D00000078563412000104E02F35", "04000E2CB3"),
    ),
}  # fmt: skip


def decoder_target(name: str) -> Callable[[bytes], None]:
    """``TARGETS[name]`` as a function of an input."""

    def fuzz(data: bytes) -> None:
        run(TARGETS[name], data)

    return fuzz


_COMMANDS: Final = tuple(COMMAND_TEXTS)
_COMMAND_FRAMES: Final = frozenset(encode_command(command, "with_stx") for command in _COMMANDS)


def fuzz_commands(data: bytes) -> None:
    """The shoe's side: what is taken for a command is one, check and all, in either reading."""
    reader = CommandReader()
    for start in range(0, len(data[:MAX_INPUT]), 7):
        for frame in reader.feed(data[start : start + 7]):
            assert len(frame) <= MAX_COMMAND_BYTES + 1
            for reading, checked in (("with_stx", frame[:-2]), ("without_stx", frame[1:-2])):
                found = parse_command(frame, reading)  # type: ignore[arg-type]
                if isinstance(found, Command):
                    assert found in COMMAND_TEXTS
                    assert frame[-2:] == _xor(checked)
                else:
                    assert isinstance(found, Answer)
                    assert found.kind == "nak"
    assert kept(reader) <= MAX_COMMAND_BYTES


def fuzz_dialogue(data: bytes) -> None:
    """The host's side: every command asked for ends, once, whatever is answered and whenever."""
    dialogue = Dialogue("with_stx")
    decoder = AngelDecoder(1.0, dialogue)
    asked = []
    now = 0.0
    for byte in data[:MAX_INPUT]:
        if byte < 0xC0:
            decoder.decode(bytes((byte,)), now)
        elif byte < 0xE0:
            asked.append(dialogue.ask(_COMMANDS[byte % len(_COMMANDS)]))
        elif byte < 0xF0:
            now += (byte - 0xDF) * 0.3
            dialogue.lock.want((True, False, None)[byte % 3])
        elif byte < 0xFE:
            decoder.decode(_ANGEL_GOOD[-(byte - 0xEF)], now)
        else:
            decoder.reopened()
        sent = decoder.outgoing(now)
        assert sent == b"" or sent in _COMMAND_FRAMES
    decoder.flush(now)
    assert all(future.done() for future in asked), "a command that never ends"
    if _looked_at(data):
        assert kept(decoder) < MAX_KEPT


FUZZ: Final[dict[str, Callable[[bytes], None]]] = {
    **{name: decoder_target(name) for name in TARGETS},
    "angel_commands": fuzz_commands,
    "angel_dialogue": fuzz_dialogue,
}
