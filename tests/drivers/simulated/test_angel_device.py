"""Whole hands of the Angel Eye shoe, heard through the decoder that the table uses."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from controller.cards import CUT, FACES, HIDDEN, RANKS
from controller.rules.scores import baccarat_value, banker_draws, player_draws
from drivers.angel.codec import AngelDecoder
from drivers.angel.frames import check
from drivers.events import (
    CardDrawn,
    CardReused,
    CardRevealed,
    CutCard,
    ErrorCleared,
    ErrorRaised,
    Event,
    Gap,
    OutOfGame,
    OverdrawnDiscarded,
    RoundResult,
    StandBy,
    Started,
)
from drivers.simulated.angel_device import AngelDevice, Mode
from drivers.simulated.faults import FAULTS, Fault
from drivers.simulated.shoe import SimulatedShoe
from drivers.simulated.steps import Outcome, Refused, Send, Step, wire_of

# An ace burns one card; then player 5, banker 7: 2S 7C 9S TD -> player 1, draws.
BURN = ("AS", "JD")
NATURAL = ("8S", "AH", "KD", "TC")
FIVE_CARDS = ("2S", "7C", "TS", "TD", "QD")


class Table:
    """The host: everything it hears, with the times at which it comes at speed 1."""

    def __init__(self, *cards: str, mode: Mode = "hidden", seed: int | None = None) -> None:
        model = SimulatedShoe(1, cards=list(cards)) if seed is None else SimulatedShoe(seed)
        self.shoe = AngelDevice(model, mode)
        self.decoder = AngelDecoder()
        self.now = 0.0
        self.hear(self.shoe.switch_on())

    def hear(self, steps: Sequence[Step]) -> list[Event]:
        events = []
        for step in steps:
            self.now += step.after_s
            if isinstance(step, Send):
                events += self.decoder.feed(step.data, self.now)
        return events

    def draw(self, name: str | None = None, argument: str = "") -> list[Event]:
        self.now += 1.5
        self.last = self.shoe.draw(Fault(name, argument) if name else None)
        return self.hear(self.last.steps)

    def draws(self, count: int) -> list[Event]:
        return [event for _ in range(count) for event in self.draw()]


def dealt(*cards: str, mode: Mode = "hidden") -> Table:
    """A table whose burn is over; ``cards`` come next."""
    table = Table(*BURN, *cards, mode=mode)
    table.draws(len(BURN))
    return table


def place(number: int) -> tuple[str, int]:
    return ("player", "banker")[number % 2], number // 2 + 1


def drawn(*cards: str, first: int = 0) -> list[Event]:
    return [CardDrawn(card, *place(number)) for number, card in enumerate(cards, first)]  # type: ignore[arg-type]


def revealed(*cards: str) -> list[Event]:
    return [CardRevealed(card, *place(number)) for number, card in enumerate(cards)]  # type: ignore[arg-type]


def test_a_new_shoe_shows_its_first_card_and_burns_by_its_value() -> None:
    table = Table("3H", "QS", "2D", "KC", *NATURAL)
    assert table.draws(4) == [
        CardDrawn("3H", "first", 0),
        CardDrawn("QS", "burn_left", 2),
        CardDrawn("2D", "burn_left", 1),
        CardDrawn("KC", "burn_left", 0),
    ]
    assert table.draw() == drawn(HIDDEN)


@pytest.mark.parametrize("first", FACES[:13])
def test_the_burn_is_as_long_as_the_first_card_says(first: str) -> None:
    table = Table(first, *["2D"] * 20)
    events = table.draws(20)
    burned = [event for event in events if isinstance(event, CardDrawn) and event.target == "burn_left"]
    assert len(burned) == min(RANKS.index(first[0]) + 1, 10)
    assert [event.index for event in burned] == list(range(len(burned) - 1, -1, -1))


def test_golden_bytes_of_the_capture() -> None:
    """The same cards as in the capture's new shoe; its own numbers."""
    table = Table("2C", "JD", "2C", "9S")
    table.draws(3)
    steps = table.shoe.draw(None).steps
    assert wire_of(steps) == bytes.fromhex("05 34 44 81 80 03 37 32") * 3
    assert [step.after_s for step in steps] == [0.0, 0.05, 0.05]


def test_a_hand_in_hidden_mode() -> None:
    table = dealt(*FIVE_CARDS)
    assert table.draws(4) == drawn(*[HIDDEN] * 4)
    assert table.draw() == [
        *drawn(HIDDEN, first=4),
        *revealed(*FIVE_CARDS),
        RoundResult("banker", False, False),
        StandBy(),
    ]


def test_a_hand_in_open_mode() -> None:
    table = dealt(*NATURAL, mode="open")
    events = table.draws(3)
    assert "hand_over" not in table.last.answer
    assert [*events, *table.draw()] == [*drawn(*NATURAL), RoundResult("player", False, False), StandBy()]
    assert table.last.answer == {"ok": True, "left": 0, "item": "card", "hand_over": True}


@pytest.mark.parametrize("mode", ["hidden", "open"])
def test_two_hundred_hands_add_up(mode: Mode) -> None:
    table = Table(seed=20, mode=mode)
    hands = 0
    while hands < 200:
        events: list[Event] = []
        while not events or not isinstance(events[-1], StandBy):
            if table.shoe.shoe.left == 0:
                table.hear(table.shoe.load(None).steps)
                events = []
            events += table.draw()
        check_hand([event for event in events if not isinstance(event, CutCard)], table, mode)
        hands += 1
    stats = table.decoder.stats
    assert (stats.bad_checksum, stats.gaps, stats.junk_bytes) == (0, 0, 0)
    # Start telegrams come in two bursts of three, all others three times.
    assert stats.duplicates >= 2 * stats.accepted
    assert stats.frames == stats.accepted + stats.duplicates


def check_hand(events: list[Event], table: Table, mode: Mode) -> None:
    """One hand, from its first card to the stand-by, by the table's own rules, of which the shoe knows nothing."""
    cards = [event for event in events if isinstance(event, CardDrawn) and event.target in ("player", "banker")]
    reveals = [event for event in events if isinstance(event, CardRevealed)]
    assert [type(event) for event in events[-2:]] == [RoundResult, StandBy]
    places = [(event.target, event.index) for event in cards]
    assert places[:4] == [place(number) for number in range(4)]
    assert places[4:] in ([], [("player", 3)], [("banker", 3)], [("player", 3), ("banker", 3)])
    if mode == "hidden":
        assert {event.card for event in cards} == {HIDDEN}
        in_order = [("player", 1), ("banker", 1), ("player", 2), ("banker", 2), ("player", 3), ("banker", 3)]
        assert [(event.target, event.index) for event in reveals] == [spot for spot in in_order if spot in places]
        faces = {(event.target, event.index): event.card for event in reveals}
    else:
        assert reveals == []
        faces = {(event.target, event.index): event.card for event in cards}
    assert [faces[spot] for spot in places] == [item.card for item in table.shoe.shoe.felt][-len(cards) :]
    player = [card for (target, _), card in faces.items() if target == "player"]
    banker = [card for (target, _), card in faces.items() if target == "banker"]
    assert (len(player) == 3) == player_draws(player[:2], banker[:2])
    assert (len(banker) == 3) == banker_draws(player, banker[:2])
    ahead = baccarat_value(player) - baccarat_value(banker)
    pairs = player[0][0] == player[1][0], banker[0][0] == banker[1][0]
    assert events[-2] == RoundResult("player" if ahead > 0 else "banker" if ahead else "tie", *pairs)


def test_the_cut_card_is_no_card_of_the_hand() -> None:
    table = dealt("8S", CUT, "AH", "KD", "TC")
    events = table.draws(2)
    assert events == [*drawn(HIDDEN), CutCard()]
    assert table.last.answer == {"ok": True, "left": 3, "item": "cut"}
    assert table.draws(3)[:1] == drawn(HIDDEN, first=1)


def test_load_starts_the_shoe_and_its_numbers_again() -> None:
    table = dealt(*NATURAL)
    table.draws(2)
    outcome = table.shoe.load(5)
    assert outcome.answer == {"ok": True, "shoe": 2, "cards": 416}
    start = bytes.fromhex("05 30 53 03 36 30")
    assert [step.data for step in outcome.steps if isinstance(step, Send)] == [start] * 6
    assert table.hear(outcome.steps) == [Started()]
    (event,) = table.draw()
    assert isinstance(event, CardDrawn)
    assert event.target == "first"


def test_all_copies_with_a_wrong_check_show_as_a_gap_at_the_next() -> None:
    table = dealt(*NATURAL)
    assert table.draw("bad_bcc") == []
    frames = [step.data for step in table.last.steps if isinstance(step, Send)]
    assert len(frames) == 3
    assert not any(check(frame) for frame in frames)
    assert table.decoder.stats.bad_checksum == 3
    gap, second = table.draw()
    assert isinstance(gap, Gap)
    assert [second] == drawn(HIDDEN, first=1)


def test_one_wrong_check_does_no_harm() -> None:
    table = dealt(*NATURAL)
    assert table.draw("one_bad_bcc") == drawn(HIDDEN)
    assert table.decoder.stats.bad_checksum == 1
    assert table.draw() == drawn(HIDDEN, first=1)


def test_a_telegram_left_out_shows_as_a_gap() -> None:
    table = dealt(*NATURAL)
    assert table.draw("gap") == []
    assert table.last.steps == []
    assert [type(event) for event in table.draw()] == [Gap, CardDrawn]


def test_the_last_card_of_a_hand_may_be_lost_and_the_result_still_comes() -> None:
    table = dealt(*NATURAL)
    table.draws(3)
    events = table.draw("gap")
    assert isinstance(events[0], Gap)
    assert events[1:] == [*revealed(*NATURAL), RoundResult("player", False, False), StandBy()]


def test_a_power_cycle_forgets_the_hand() -> None:
    table = dealt("2S", "7C", *NATURAL)
    assert table.draws(2) == drawn(HIDDEN, HIDDEN)
    assert table.draw("power_cycle") == [Started(), *drawn(HIDDEN)]
    junk = [step.data for step in table.last.steps if isinstance(step, Send)][:4]
    assert junk == [b"\xff", b"\xff", b"\xc5", b"\xfc"]
    assert table.decoder.stats.junk_bytes == 4
    assert table.draws(3)[-2:] == [RoundResult("player", False, False), StandBy()]


def test_an_overdrawn_card_is_discarded_as_in_the_capture() -> None:
    table = dealt(*NATURAL, "7S")
    table.draw("overdraw")
    table.draws(2)
    assert table.draw() == [
        *drawn(HIDDEN, first=3),
        ErrorRaised(2, False),
        ErrorRaised(7, True),
        OutOfGame(HIDDEN, "burn", 0),
        OverdrawnDiscarded("7S", "player", 1),
        ErrorCleared(2, False),
        *revealed(*NATURAL),
        RoundResult("player", False, False),
        StandBy(),
    ]
    assert [(entry.card, entry.fault) for entry in table.last.entries] == [("TC", None), ("7S", "overdraw")]
    assert table.last.answer["left"] == 0
    assert table.shoe.felt_count() == len(BURN) + 4


def test_an_overdrawn_card_that_is_kept_opens_the_next_hand() -> None:
    table = dealt(*NATURAL, "9S", *NATURAL[1:])
    table.draws(3)
    assert table.draw("overdraw", "keep") == [
        *drawn(HIDDEN, first=3),
        ErrorRaised(2, False),
        OutOfGame(HIDDEN, "burn", 0),
        ErrorCleared(2, False),
        *revealed(*NATURAL),
        RoundResult("player", False, False),
    ]
    left = table.last.answer["left"]
    assert not table.shoe.takes_fault
    assert table.draw() == [CardReused(HIDDEN, "player", 1)]
    assert table.last.answer["left"] == left
    assert [(entry.item, entry.card) for entry in table.last.entries] == [("reused", "9S")]
    events = table.draws(3)
    assert events[:3] == drawn(*[HIDDEN] * 3, first=1)
    assert events[3:7] == revealed("9S", *NATURAL[1:])


def test_no_stand_by() -> None:
    table = dealt(*NATURAL, *NATURAL)
    table.draw("no_standby")
    assert table.draws(3)[-1] == RoundResult("player", False, False)
    assert table.draws(4)[-1] == StandBy()


def test_a_card_that_cannot_be_read_waits_to_be_shown_again() -> None:
    table = dealt(*NATURAL)
    assert table.draw("no_read") == [ErrorRaised(1, True)]
    assert table.shoe.needs_rescan
    assert not table.shoe.takes_fault
    with pytest.raises(Refused, match="rescan_last first"):
        table.draw()
    assert table.hear(table.shoe.rescan_last().steps) == [ErrorCleared(1, False), *drawn(HIDDEN)]
    assert not table.shoe.needs_rescan
    with pytest.raises(Refused):
        table.shoe.rescan_last()


def test_the_last_card_of_a_hand_shown_again_brings_the_result() -> None:
    table = dealt(*NATURAL)
    table.draws(3)
    table.draw("no_read")
    outcome = table.shoe.rescan_last()
    assert outcome.answer == {"ok": True, "count": 1, "hand_over": True}
    assert table.hear(outcome.steps)[-1] == StandBy()


@pytest.mark.parametrize(("words", "code"), [([], 4), (["midway"], 5)])
def test_a_card_pushed_back_is_an_error_and_comes_to_the_same_place(words: list[str], code: int) -> None:
    table = dealt(*NATURAL)
    table.draws(2)
    assert table.hear(table.shoe.push_back(words).steps) == [ErrorRaised(code, True)]
    assert table.draw() == [ErrorCleared(code, False), *drawn(HIDDEN, first=1)]
    assert table.draws(2)[-1] == StandBy()


def test_a_card_pushed_back_during_the_burn() -> None:
    table = Table("AS", "JD", *NATURAL)
    table.draw()
    table.shoe.push_back([])
    assert table.draw()[-1] == CardDrawn("AS", "first", 0)
    table.draw()
    table.shoe.push_back([])
    assert table.draw()[-1] == CardDrawn("JD", "burn_left", 0)
    assert table.draw() == drawn(HIDDEN)


def test_a_card_pushed_back_after_the_result_opens_the_next_hand() -> None:
    table = dealt(*NATURAL, "2S")
    table.draws(4)
    table.hear(table.shoe.push_back([]).steps)
    assert table.draw() == [ErrorCleared(4, False), *drawn(HIDDEN)]


def test_an_unread_card_or_the_cut_card_can_be_pushed_back() -> None:
    table = dealt("8S", CUT, *NATURAL[1:])
    table.draw("no_read")
    table.hear(table.shoe.push_back([]).steps)
    assert table.draw() == [ErrorCleared(4, False), *drawn(HIDDEN)]
    assert table.draw() == [CutCard()]
    table.hear(table.shoe.push_back([]).steps)
    assert table.draw() == [ErrorCleared(4, False), CutCard()]
    assert table.draw() == drawn(HIDDEN, first=1)
    with pytest.raises(Refused, match="midway"):
        table.shoe.push_back(["twice"])


@pytest.mark.parametrize("name", ["split", "noise"])
def test_split_and_noise_lose_nothing(name: str) -> None:
    table = dealt(*NATURAL)
    assert table.draw(name) == drawn(HIDDEN)
    assert table.draw() == drawn(HIDDEN, first=1)


def test_this_shoe_does_not_read_the_felt() -> None:
    with pytest.raises(Refused, match="only on its way out"):
        dealt(*NATURAL).shoe.rescan()


@pytest.mark.parametrize("name", FAULTS["angel"])
def test_every_fault_tells_no_face_to_the_dealer(name: str) -> None:
    table = dealt(*NATURAL, *NATURAL)
    answers: list[Outcome] = []
    table.draw(name)
    answers.append(table.last)
    for _ in range(4):
        if table.shoe.needs_rescan:
            table.hear(table.shoe.rescan_last().steps)
        table.draw()
        answers.append(table.last)
    assert all(set(outcome.answer) <= {"ok", "left", "item", "hand_over"} for outcome in answers)
