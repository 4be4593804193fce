"""Faults asked for and faults by chance."""

from __future__ import annotations

from random import Random

import pytest

from drivers.simulated.faults import DEFAULT_UNPLUG_S, FAULTS, Fault, FaultPlan, Rate, parse_fault, parse_rate

LINE = FAULTS["line"]
ANGEL = FAULTS["angel"]


def test_faults_asked_for_come_one_a_draw_in_order() -> None:
    plan = FaultPlan([], Random(1))
    plan.add(Fault("drop"))
    plan.add(Fault("repeat"))
    assert plan.pending == ["drop", "repeat"]
    assert [plan.next(), plan.next(), plan.next()] == [Fault("drop"), Fault("repeat"), None]


def test_faults_by_chance_are_seeded_and_as_frequent_as_said() -> None:
    def run(seed: int, rates: list[Rate]) -> list[str]:
        plan = FaultPlan(rates, Random(seed))
        return [fault.name if fault else "" for fault in (plan.next() for _ in range(2000))]

    rates = [Rate("drop", 0.1), Rate("repeat", 0.0), Rate("noise", 0.2)]
    names = run(5, rates)
    assert run(5, rates) == names
    assert run(6, rates) != names
    assert 150 < names.count("drop") < 250
    assert names.count("repeat") == 0
    # A rate that never hits does not change the luck of the others, but for what it hides.
    assert [name == "drop" for name in names] == [name == "drop" for name in run(5, [rates[0], rates[1], rates[1]])]
    assert run(1, [Rate("drop", 1.0)]) == ["drop"] * 2000


def test_arguments() -> None:
    assert parse_fault(["unplug", "0.5"], LINE).seconds == 0.5
    assert parse_fault(["unplug"], LINE).seconds == DEFAULT_UNPLUG_S
    assert parse_fault(["overdraw", "keep"], ANGEL) == Fault("overdraw", "keep")
    assert parse_rate("drop", LINE) == Rate("drop", 1.0)
    assert parse_rate("drop:0.25", LINE) == Rate("drop", 0.25)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give a fault: corrupt, drop"),
        (["dorp"], "'dorp' is not known here: choose one of corrupt, drop"),
        (["bad_bcc"], "not known here"),
        (["drop", "1"], "takes no argument"),
        (["unplug", "soon"], "'soon' is no time"),
        (["unplug", "-1"], "no time"),
        (["unplug", "nan"], "no time"),
        (["unplug", "1", "2"], "one argument"),
    ],
)
def test_wrong_faults_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_fault(words, LINE)


def test_overdraw_knows_two_uses() -> None:
    with pytest.raises(ValueError, match="discard or keep"):
        parse_fault(["overdraw", "eat"], ANGEL)


@pytest.mark.parametrize("text", ["dorp:0.5", "drop:2", "drop:-1", "drop:often", "drop:nan", "drop:"])
def test_wrong_rates_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"fault"):
        parse_rate(text, LINE)
