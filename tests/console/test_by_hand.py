"""What people decide at a table that stands: confirmation, correction, a card elsewhere, cards cleared early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.timeout(300), pytest.mark.system]

Visit = Callable[..., Page]
Hall = Any
Until = Callable[[Callable[[], Any], str], Any]


def test_a_result_counts_once_the_dealer_has_confirmed_it(hall: Hall, visit: Visit, shot: Any, screen: Any) -> None:
    table = hall.by_hand["hand-1"]
    table.play("confirm")
    dora = visit(hall, "dora", "table/hand-1/dealer")
    expect(dora.locator("#dealer-prompt")).to_contain_text("CONFIRM")
    shot(dora, "dealer-confirm")
    screen.press(dora, "c", "confirm")
    dora.keyboard.press("Enter")
    expect(dora.locator("#dialog")).to_be_hidden()
    expect(dora.locator("#dealer-prompt")).not_to_contain_text("CONFIRM")
    expect(dora.locator("#dealer-felt")).to_contain_text("WIN" if "TIE" not in _outcome(table) else "TIE")
    assert _last_round(table)["status"] == "complete"


def _outcome(table: Any) -> str:
    return str(_last_round(table)["results"][-1]["outcomes"]["winner"]).upper()


def _last_round(table: Any) -> dict[str, Any]:
    with table.studio.client("supervisor") as client:
        name = client.command("history", {"limit": 1}).data["rounds"][0]["round"]
        record: dict[str, Any] = client.command("history", {"round": name}).data
    return record


def test_M_24_a_confirmation_that_does_not_come_is_given_by_the_supervisor(
    hall: Hall, visit: Visit, screen: Any
) -> None:
    table = hall.by_hand["hand-2"]
    anna, dora = visit(hall, "anna", "table/hand-2"), visit(hall, "dora", "table/hand-2/dealer")
    table.play("confirm")
    expect(dora.locator("#dealer-prompt")).to_contain_text("STOP")
    expect(dora.locator("#dealer-prompt")).to_contain_text("confirm")
    expect(anna.locator("#table-actions")).to_contain_text("M-24")
    screen.choose(anna, "resolve", resolution="resume", reason="felt and screen agree")
    expect(dora.locator("#dealer-prompt")).not_to_contain_text("STOP")
    record = _last_round(table)
    assert record["status"] == "complete"
    (incident,) = record["incidents"]
    assert (incident["code"], incident["resolved_by"]) == ("M-24", "supervisor:anna")


def test_M_23_cards_cleared_early_pass_the_reader_again(hall: Hall, visit: Visit, until: Until, screen: Any) -> None:
    table = hall.by_hand["hand-1"]
    table.play("confirm")
    felt = table.shoe("felt")["count"]
    dora, anna = visit(hall, "dora", "table/hand-1/dealer"), visit(hall, "anna", "table/hand-1")
    expect(dora.locator("#dealer-prompt")).to_contain_text("CONFIRM")
    screen.press(dora, "t", "report")
    screen.fill(dora, code="M-23")
    expect(dora.locator("#dealer-prompt")).to_contain_text("STOP")
    screen.choose(anna, "resolve", resolution="rescan", cards=str(felt), reason="they lie in the discard, in order")
    until(lambda: table.status()["step"]["step"] == "rescan", "the rescan")
    table.shoe("rescan")
    expect(dora.locator("#dealer-prompt")).to_contain_text("CONFIRM")
    screen.press(dora, "c", "confirm")
    dora.keyboard.press("Enter")
    expect(dora.locator("#dialog")).to_be_hidden()
    expect(dora.locator("#dealer-prompt")).not_to_contain_text("CONFIRM")
    assert [one["code"] for one in _last_round(table)["incidents"]] == ["M-23"]


def test_a_published_result_is_corrected_by_two_people(
    hall: Hall, visit: Visit, until: Until, shot: Any, screen: Any
) -> None:
    table = hall.by_hand["hand-1"]
    table.play("confirm")
    anna, bruno = visit(hall, "anna", "table/hand-1"), visit(hall, "bruno", "table/hand-1")
    screen.choose(anna, "confirm")
    before = _last_round(table)
    assert before["version"] == 1
    wrong = before["cards"][0]
    right = next(card for card in ("9H", "8H", "7H") if card[0] != wrong["card"][0])
    anna.locator('[data-dialog="correct"]').click()
    expect(anna.locator("#dialog")).to_contain_text("version 1")
    anna.locator(f'#dialog [data-position="{wrong["position"]}"]').select_option(right)
    shot(anna, "correct")
    screen.fill(anna, reason="the recording shows it")
    expect(bruno.locator("#table-actions")).to_contain_text("Approval asked: correct")
    assert _last_round(table)["version"] == 1  # one person alone changes nothing
    screen.choose(bruno, "approve", accept="yes", reason="so it is")
    record = until(lambda: (one := _last_round(table))["version"] == 2 and one, "the second version")
    assert record["cards"][0]["card"] == right
    assert [one["version"] for one in record["results"]] == [1, 2]
    (approval,) = record["approvals"]
    assert (approval["by"], approval["closed_by"], approval["given"]) == ("supervisor:anna", "supervisor:bruno", True)
    page = visit(hall, "anna", f"table/hand-1/round/{record['round']}")
    for said in ("version 2", "the recording shows it", "bruno"):
        expect(page.locator("main")).to_contain_text(said)


def test_a_card_at_another_place_stays_there_by_a_supervisors_word(
    hall: Hall, visit: Visit, until: Until, screen: Any
) -> None:
    table = hall.by_hand["hand-1"]
    if table.status()["step"]["step"] == "confirm":
        with table.studio.client("dealer") as dealer:
            dealer.command("confirm")
    table.play("confirm", cards=1)
    dora, anna = visit(hall, "dora", "table/hand-1/dealer"), visit(hall, "anna", "table/hand-1")
    expect(dora.locator("#dealer-felt .felt .card:not(.slot)")).to_have_count(1)
    screen.press(dora, "t", "report")
    screen.fill(dora, code="M-11")
    expect(dora.locator("#dealer-prompt")).to_contain_text("STOP")
    anna.locator('[data-dialog="resolve"]').click()
    expect(anna.locator("#dialog fieldset")).to_be_visible()
    places = anna.locator('#dialog [name="position"] option').evaluate_all("all => all.map((one) => one.value)")
    assert places == ["", "banker/0", "player/1", "banker/1"]
    screen.fill(anna, resolution="reassign", position="banker/0", reason="it lies there, face up")
    expect(dora.locator("#dealer-prompt")).to_contain_text("PLAYER 1")
    table.play("confirm")
    record = until(lambda: _last_round(table), "the record")
    moved = [one["data"] for one in record["timeline"] if one["type"] == "card_reassigned"]
    assert moved == [{"position": "player/0", "to": "banker/0"}]
    with table.studio.client("dealer") as dealer:
        dealer.command("confirm")
