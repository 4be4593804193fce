"""What a self-test makes of what a driver told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

import pytest

from calibration.shoe import ShoeTest
from controller.cards import SHOE_SIZE, full_shoe, shuffled_shoe
from drivers.decoder import DecoderStats
from drivers.events import (
    CardDrawn,
    CardReused,
    CardRevealed,
    CutCard,
    ErrorCleared,
    ErrorRaised,
    Event,
    Gap,
    NoRead,
    OutOfGame,
    OverdrawnDiscarded,
    PortLost,
    Repeated,
    RoundResult,
    TagForeign,
    TagRepeated,
    TagsTogether,
    TagUnknown,
    UnknownCode,
)

CARDS = shuffled_shoe(Random("self-test"))
CLEAN = DecoderStats(accepted=SHOE_SIZE, frames=SHOE_SIZE)


def drawn(cards: Iterable[str]) -> list[Event]:
    return [CardDrawn(card) for card in cards]


def judged(
    events: Sequence[Event], expected: int = SHOE_SIZE, *, tags: bool = False, truth: list[str] | None = None
) -> ShoeTest:
    test = ShoeTest(expected, tags=tags, truth=truth)
    for n, event in enumerate(events):
        test.take(event, n * 1_000_000_000, n * 1_000_000_000 + 2_000_000)
    return test


def failed(test: ShoeTest, stats: DecoderStats = CLEAN) -> list[str]:
    return [check.name for check in test.checks(stats) if not check.ok]


def test_a_whole_shuffled_shoe_passes() -> None:
    test = judged([*drawn(CARDS[:300]), CutCard(), *drawn(CARDS[300:])], truth=CARDS)
    assert test.complete
    assert [check.name for check in test.checks(CLEAN)] == [
        "line",
        "count",
        "unread",
        "composition",
        "misread",
        "order",
    ]
    assert failed(test) == []
    figures = test.figures(CLEAN)
    assert (figures["cards"], figures["cut_cards"], figures["hidden"]) == (SHOE_SIZE, 1, 0)
    assert (figures["told_ms_median"], figures["apart_ms_median"]) == (2.0, 1000.0)


@pytest.mark.parametrize("seed", range(40))
def test_no_shuffle_is_taken_for_none(seed: int) -> None:
    assert failed(judged(drawn(shuffled_shoe(Random(seed))))) == []


def test_cards_as_from_the_box_are_found() -> None:
    assert failed(judged(drawn(full_shoe()))) == ["order"]
    assert failed(judged(drawn(full_shoe()[::-1]))) == ["order"]
    riffle = [card for pair in zip(full_shoe()[:208], full_shoe()[208:], strict=True) for card in pair]
    assert failed(judged(drawn(riffle))) == ["order"], "equal neighbours"


def test_a_misread_card_shows_by_the_composition_and_by_the_order_if_that_is_known() -> None:
    wrong = "8S" if CARDS[10] != "8S" else "9S"
    cards = [*CARDS[:10], wrong, *CARDS[11:]]
    assert failed(judged(drawn(cards))) == ["composition"]
    test = judged(drawn(cards), truth=CARDS)
    assert failed(test) == ["composition", "misread"]
    texts = {check.name: check.text for check in test.checks(CLEAN)}
    assert texts["misread"] == f"1 misread: card 11: {wrong} for {CARDS[10]}"
    assert f"9 of {wrong}" in texts["composition"]
    assert f"7 of {CARDS[10]}" in texts["composition"]


def test_a_card_too_few_and_one_too_many() -> None:
    few = judged([*drawn(CARDS[:-1]), Repeated("KS")])
    assert not few.complete
    assert failed(few) == ["count", "composition"]
    assert "1 readings were taken for repeats" in few.checks(CLEAN)[1].text
    assert failed(judged(drawn([*CARDS, "8S"]))) == ["count", "composition"]


@pytest.mark.parametrize("event", [NoRead("NR"), UnknownCode("XYZ")])
def test_an_unread_card_is_a_card_and_no_face(event: Event) -> None:
    test = judged([*drawn(CARDS[:-1]), event])
    assert test.complete
    assert failed(test) == ["unread"], "the composition lacks the one card that was not read"
    assert test.order() == ""


def test_a_part_of_a_shoe_is_judged_as_a_part() -> None:
    assert failed(judged(drawn(CARDS[:20]), 20)) == []
    assert failed(judged(drawn(["8S"] * 9), 9)) == ["composition"]


def test_a_bad_line_fails() -> None:
    assert failed(judged([*drawn(CARDS), Gap("1", "3")])) == ["line"]
    assert failed(judged([PortLost("unplugged"), *drawn(CARDS)])) == ["line"]
    assert failed(judged(drawn(CARDS)), DecoderStats(bad_checksum=1, frames=1)) == ["line"]


def test_tags_are_there_once_and_alone() -> None:
    assert failed(judged(drawn(CARDS), tags=True)) == []
    assert failed(judged([*drawn(CARDS), TagRepeated("t", "E0", "8S")], tags=True)) == ["tags"]
    foreign = [TagForeign("t", "E0", "8S", "blue"), TagUnknown("t", "E0")]
    assert failed(judged([*drawn(CARDS[:-2]), *foreign], tags=True)) == ["tags"]
    pair = TagsTogether("t", (CARDS[-2], CARDS[-1]))
    test = judged([*drawn(CARDS[:-2]), pair], tags=True)
    assert test.complete
    assert failed(test) == ["tags"], "both are known, their order is not"


def test_faces_that_come_after_the_hand() -> None:
    events: list[Event] = [
        CardDrawn("8S", "first", 0),
        CardDrawn("**", "player", 1),
        CardDrawn("**", "banker", 1),
        CardRevealed("AH", "player", 1),
        CardRevealed("KD", "banker", 1),
        RoundResult("tie", False, False),
        CardDrawn("**", "player", 1),
    ]
    test = judged(events, 4)
    assert (test.cards, test.waits) == (4, True)
    assert failed(test) == []
    assert test.figures(CLEAN)["hidden"] == 1
    assert "1 faces were never told" in {c.name: c.text for c in test.checks(CLEAN)}["composition"]


def test_a_reveal_of_nothing_adds_no_card() -> None:
    assert judged([CardRevealed("AH", "player", 1)], 1).cards == 0


def test_an_over_drawn_card_is_one_card_whatever_becomes_of_it() -> None:
    out: list[Event] = [ErrorRaised(2, False), OutOfGame("**", "burn", 0)]
    discarded = judged([*out, OverdrawnDiscarded("8S", "player", 1), ErrorCleared(2, False)], 1)
    assert (discarded.cards, discarded.figures(CLEAN)["hidden"]) == (1, 0)
    kept = judged([*out, ErrorCleared(2, False), CardReused("**", "player", 1), CardRevealed("8S", "player", 1)], 1)
    assert (kept.cards, kept.figures(CLEAN)["hidden"]) == (1, 0)
    unseen = judged([CardReused("8S", "player", 1)], 1)
    assert unseen.cards == 1, "its leaving was not heard"


def test_a_card_read_at_the_second_try_counts_once_and_is_told() -> None:
    test = judged([*drawn(CARDS[:5]), ErrorRaised(1, True), ErrorCleared(1, False), *drawn(CARDS[5:])])
    assert test.cards == SHOE_SIZE
    assert failed(test) == ["unread"]


def test_the_digest_tells_orders_apart_and_holds_no_card() -> None:
    one, other = judged(drawn(CARDS)).order(), judged(drawn(shuffled_shoe(Random(2)))).order()
    assert one == judged(drawn(CARDS)).order()
    assert len({one, other}) == 2
    assert judged(drawn(CARDS[:20]), 20).order() == "", "too few cards to be told apart"
