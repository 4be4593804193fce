"""What shoes send until they are empty, a stream for each protocol, and loops that cut it and trust every byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, NamedTuple

from controller.cards import FACES, shuffled_shoe
from drivers.angel.codec import COPIES, AngelEncoder
from drivers.angel.frames import ENQ, ETX
from drivers.events import CardDrawn, Event, RoundResult, StandBy, Started, TargetName
from drivers.feig import frames as feig
from drivers.line.codec import card_code, encode
from drivers.rr3036 import frames as rr3036
from drivers.ssi import frames as ssi

_SHOES: Final = 8
#: Of tags there is one: a card takes twenty answers.
_TAGGED_SHOES: Final = 1
_COUP: Final[tuple[tuple[TargetName, int], ...]] = (("player", 1), ("banker", 1), ("player", 2), ("banker", 2))
_CARDS: Final = {card_code(face, "scan_table").encode(): face for face in FACES}

#: A card passes the antenna in 0.15 s and the next one follows after a second: of answers 50 ms apart, so many.
_ANSWERS_WITH_TAG: Final = 3
_ANSWERS_WITHOUT: Final = 17


class Stream(NamedTuple):
    """What a shoe sends, how many events and messages are in it, and its cards' tags, where it has any."""

    data: bytes
    events: int
    messages: int
    tags: Mapping[str, str] = {}


def _cards(rng: Random, shoes: int = _SHOES) -> list[str]:
    return [card for _ in range(shoes) for card in shuffled_shoe(rng)]


def line_stream(rng: Random) -> Stream:
    """One line a card."""
    cards = _cards(rng)
    return Stream(b"".join(encode(CardDrawn(card)) for card in cards), len(cards), len(cards))


def angel_stream(rng: Random) -> Stream:
    """Coups of four cards with their result, every telegram three times as the shoe sends it."""
    encoder = AngelEncoder()
    events: list[Event] = [Started()]
    cards = _cards(rng)
    for start in range(0, len(cards), len(_COUP)):
        for card, place in zip(cards[start : start + len(_COUP)], _COUP, strict=True):
            events.append(CardDrawn(card, *place))
        events += [RoundResult("player", False, False), StandBy()]
    return Stream(b"".join(encoder.triple(event) for event in events), len(events), COPIES * len(events))


def ssi_stream(rng: Random) -> Stream:
    """One packet a card."""
    cards = _cards(rng)
    packets = [ssi.encode(ssi.decoded(card_code(card, "scan_table").encode())) for card in cards]
    return Stream(b"".join(packets), len(cards), len(cards))


def feig_stream(rng: Random) -> Stream:
    """Answers to polls, most of them empty."""
    empty = feig.encode_answer(feig.Answer(feig.INVENTORY, feig.NO_TAG))

    def answer(uid: str) -> bytes:
        return feig.encode_answer(feig.Answer(feig.INVENTORY, feig.OK, feig.encode_tags([feig.Tag(uid)])))

    return _polled(rng, answer, empty)


def rr3036_stream(rng: Random) -> Stream:
    """Answers to polls, most of them empty."""
    empty = rr3036.encode_answer(rr3036.Answer(rr3036.NO_TAG))

    def answer(uid: str) -> bytes:
        return rr3036.encode_answer(rr3036.Answer(rr3036.OK, rr3036.encode_tags([rr3036.Tag(uid)])))

    return _polled(rng, answer, empty)


def _polled(rng: Random, answer: Callable[[str], bytes], empty: bytes) -> Stream:
    tags = {f"E0040100{number:08X}": card for number, card in enumerate(_cards(rng, _TAGGED_SHOES))}
    away = empty * _ANSWERS_WITHOUT
    data = b"".join(answer(uid) * _ANSWERS_WITH_TAG + away for uid in tags)
    return Stream(data, len(tags), len(tags) * (_ANSWERS_WITH_TAG + _ANSWERS_WITHOUT), tags)


def cut_lines(reads: list[bytes]) -> int:
    """Split at line ends, a rest carried over, and look up each code."""
    cards: list[str] = []
    rest = b""
    for data in reads:
        *lines, rest = (rest + data).split(b"\r\n")
        cards += [_CARDS[line] for line in lines]
    return len(cards)


def cut_telegrams(reads: list[bytes]) -> int:
    """Find each start and end, a rest carried over; nothing is checked."""
    found, buffer = 0, b""
    for data in reads:
        buffer += data
        place = 0
        while (start := buffer.find(ENQ, place)) >= 0 and (end := buffer.find(ETX, start)) >= 0:
            if end + 3 > len(buffer):
                break
            telegram, place = buffer[start : end + 3], end + 3
            found += bool(telegram)
        buffer = buffer[place:]
    return found


def cut_packets(reads: list[bytes]) -> int:
    """SSI: the first byte is the length without the check."""
    return _cut(reads, 0, ssi.CHECK_BYTES)


def cut_feig(reads: list[bytes]) -> int:
    """FEIG, advanced: the third byte is the length (none is over 255)."""
    return _cut(reads, 2, 0)


def cut_rr3036(reads: list[bytes]) -> int:
    """RR3036: the first byte is the length without itself."""
    return _cut(reads, 0, 1)


def _cut(reads: list[bytes], length_at: int, more: int) -> int:
    """Go from length to length, a rest carried over; nothing is checked."""
    found, buffer = 0, b""
    for data in reads:
        buffer += data
        place = 0
        while place + length_at < len(buffer):
            end = place + buffer[place + length_at] + more
            if end > len(buffer):
                break
            message, place = buffer[place:end], end
            found += bool(message)
        buffer = buffer[place:]
    return found
