"""A round's whole record and the list of rounds, from a journal of real facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.commands import History, ShoeReport
from controller.commands import Statistics as Ask
from controller.record.queries import answer
from controller.record.statistics import Statistics
from controller.refusal import Refusal
from drivers import events as e

Query = Callable[..., Any]


@pytest.fixture
def query(tmp_path: Path) -> Query:
    """``query(play, round=…)``: the answer of ``history`` over everything played so far."""

    def ask(p: Any, args: Any = None, **fields: Any) -> Any:
        with p.journal(tmp_path / "t.journal") as journal:
            found = answer(journal, args or History(**fields), Statistics())
        json.dumps(found)
        return found

    return ask


def played(play: Any) -> Any:
    """A boundless round with a pause, a surplus card that is burned, decisions and a settlement."""
    p = play("boundless")
    p.bets(("p1", "main", 100), ("p2", "main", 50))
    p.close()
    p.cards("9C")
    p.order("pause", "dealer", reason="a player calls")
    p.order("resume", "supervisor", reason="settled")
    p.cards("7H 8S TD")
    p.cards("3D")  # one card too many
    p.order("resolve", "supervisor", incident=1, resolution="burn_card", reason="put aside")
    p.choose("main", 2, p1="hit", p2="stand")
    p.cards("4C")
    p.post()
    return p


def test_a_whole_round(play: Any, query: Query) -> None:
    p = played(play)
    found = query(p, round=p.round)
    assert found["status"] == "complete"
    assert found["version"] == 1
    assert [(c["position"], c["card"]) for c in found["cards"]] == [
        ("player/0", "9C"), ("dealer/0", "7H"), ("player/1", "8S"), ("dealer/1", "TD"), ("player/2", "4C"),
    ]  # fmt: skip
    hole = found["cards"][3]
    assert hole["commitment"]
    assert len(hole["key"]) == 64
    assert hole["revealed_at"] > hole["at"]
    assert [entry["phase"] for entry in found["phases"]] == [
        "betting", "dealing", "deciding", "dealer_drawing", "result",
    ]  # fmt: skip
    for phase, following in zip(found["phases"], found["phases"][1:], strict=False):
        assert phase["to"] == following["from"]
        assert phase["ms"] >= 0
    assert found["phases"][-1]["to"] is None
    (pause, incident) = found["holds"]
    assert (pause["hold"], pause["reason"], pause["by"]) == ("pause", "a player calls", "dealer:pat")
    assert (pause["lifted_by"], pause["lifted_reason"]) == ("supervisor:pat", "settled")
    assert (incident["hold"], incident["by"], incident["lifted_by"]) == (
        "incident:1", "policy:procedure", "supervisor:pat",
    )  # fmt: skip
    (raised,) = found["incidents"]
    assert (raised["code"], raised["resolution"], raised["reason"]) == ("M-08", "burn_card", "put aside")
    assert "void_round" in raised["resolutions"]
    (window,) = found["windows"]
    assert (window["line"], window["requests"], window["draw"]) == ("main", {"hit": 1, "stand": 1}, True)
    assert found["bets"] == {"count": 2, "total": 150, "stake": 150, "returned": 250, "players": 2}
    assert found["persons"] == [
        {"person": "dealer:pat", "did": ["paused"]},
        {"person": "supervisor:pat", "did": ["resumed", "incident_resolved"]},
    ]
    assert [one["version"] for one in found["results"]] == [1]
    kinds = [entry["type"] for entry in found["timeline"]]
    assert kinds[0] == "betting_opened"
    assert kinds == [r.fact.type for _, r in p.records if r.round == p.round]


def test_nobody_who_bets_is_named(play: Any, query: Query) -> None:
    p = played(play)
    text = json.dumps(query(p, round=p.round))
    assert "p1" not in text
    assert "p2" not in text


def test_a_hidden_card_is_masked_until_its_reveal(play: Any, query: Query) -> None:
    p = play("boundless")
    p.bets(("p1", "main", 100))
    p.close()
    p.cards("9C 7H 8S QD")
    p.put(e_repeated("QD"))
    for found in (query(p, round=p.round), query(p), query(p, ShoeReport())):
        assert "QD" not in json.dumps(found)
    for by in ("game", "dealer", "supervisor", "shift", "device", "error"):
        assert "QD" not in json.dumps(query(p, Ask(by=by)))
    assert query(p, round=p.round)["cards"][3]["card"] == "**"
    assert query(p)["rounds"][0]["hidden"] == 1
    p.choose("main", 2, p1="stand")
    assert query(p, round=p.round)["cards"][3]["card"] == "QD"
    assert query(p)["rounds"][0]["hidden"] == 0


def e_repeated(card: str) -> Any:
    from controller.table.inputs import ShoeInput

    return ShoeInput(e.Repeated(card))


def test_a_void_round_names_who_and_opens_its_hidden_card_when_the_shoe_has_ended(play: Any, query: Query) -> None:
    p = play("boundless")
    p.bets(("p1", "main", 100))
    p.close()
    p.cards("9C 7H 8S QD 2C")  # the last one is a surplus card
    p.order("void", "supervisor", reason="felt disturbed")
    p.post()
    found = query(p, round=p.round)
    assert found["status"] == "void"
    assert (found["void"]["reason"], found["void"]["by"]) == ("felt disturbed", "supervisor:pat")
    assert found["incidents"][0]["resolution"] == "void"
    assert all(hold["to"] for hold in found["holds"])
    assert found["bets"]["returned"] == 100
    assert found["cards"][3]["card"] == "**"
    p.order("reopen", "supervisor", reason="cleared")
    p.order("end_shift", "supervisor")
    hole = query(p, round=found["round"])["cards"][3]
    assert hole["card"] == "QD"
    assert len(hole["key"]) == 64


def test_rounds_come_newest_first_and_page_by_page(play: Any, query: Query) -> None:
    p = play("baccarat")
    names = []
    for _ in range(5):
        names.append(p.round)
        p.bets(("p1", "BANKER", 10))
        p.close()
        p.cards("9C 2H KS 5D")
        p.post()
        p.order("open_bets")
    newest = [p.round, *reversed(names)]
    assert [r["round"] for r in query(p)["rounds"]] == newest
    assert [r["round"] for r in query(p, limit=2)["rounds"]] == newest[:2]
    assert [r["round"] for r in query(p, after=newest[1], limit=2)["rounds"]] == newest[2:4]
    assert query(p, after=names[0])["rounds"] == []
    assert [r["status"] for r in query(p)["rounds"]] == ["in_progress"] + ["complete"] * 5
    assert query(p)["rounds"][1]["outcomes"]["winner"] == "player"


def test_an_unknown_round_or_shoe_is_refused(play: Any, query: Query) -> None:
    p = play("baccarat")
    for args in (History(round="no"), History(after="no"), ShoeReport(shoe="no")):
        with pytest.raises(Refusal) as refused:
            query(p, args)
        assert refused.value.code == "not_found"


def test_a_split_seat_moves_its_card(play: Any, query: Query) -> None:
    p = play("classic", seats=2)
    p.bets(("p1", "main", 100, 1))
    p.close()
    p.cards("8C 6H 8S")
    p.choose("seat/1/hand/0", 2, p1="split")
    places = [c["position"] for c in query(p, round=p.round)["cards"]]
    assert places[:3] == ["seat/1/hand/0/0", "dealer/0", "seat/1/hand/1/0"]


def test_a_shoe_report(play: Any, query: Query) -> None:
    p = played(play)
    found = query(p, ShoeReport())
    assert found["shoe"] == p.table.state.shoe.id
    assert found["loaded_by"] == "dealer:pat"
    assert found["cards_out"] == p.table.state.shoe.out == 6
    assert [(r["status"], r["cards"], r["incidents"]) for r in found["rounds"]] == [("complete", 5, ["M-08"])]
    assert found["incidents"] == {"M-08": 1}
    assert found["put_aside"] == 1
    assert found["read_interval_ms"]["count"] == 2  # 7H to 8S to TD; the others had a pause or a window before them
    assert query(p, ShoeReport(shoe=found["shoe"])) == found
    p.order("end_shift", "supervisor")
    assert query(p, ShoeReport())["ended_at"]


def test_a_corrected_round_has_both_versions_and_who_did_it(play: Any, query: Query) -> None:
    p = play("boundless")
    p.bets(("p1", "main", 100))
    p.close()
    p.cards("TC 6C 9S KD")
    p.choose("main", 2, p1="stand")
    p.cards("8H")  # dealer 24
    p.post()
    p.order("correct", "supervisor", round=p.round, cards=[["dealer/2", "5H"]], reason="video shows a five")
    p.order("approve", "supervisor", person="kim", approval=1, accept=True, reason="so it does")
    p.post()
    found = query(p, round=p.round)
    (correction,) = found["corrections"]
    assert [correction[key] for key in ("by", "approved_by", "reason")] == [
        "supervisor:pat", "supervisor:kim", "video shows a five",
    ]  # fmt: skip
    assert [(c["position"], c["before"], c["after"]) for c in correction["cards"]] == [("dealer/2", "8H", "5H")]
    assert correction["before"]["outcomes"][0]["result"] == "win"
    assert correction["after"]["outcomes"][0]["result"] == "lose"
    assert [one["version"] for one in found["results"]] == [1, 2]
    assert (found["version"], found["status"], found["bets"]["returned"]) == (2, "complete", 0)
    (approval,) = found["approvals"]
    assert (approval["given"], approval["closed_by"]) == (True, "supervisor:kim")
    assert {one["person"] for one in found["persons"]} == {"supervisor:pat", "supervisor:kim"}
    assert query(p)["rounds"][0]["corrected"] is True


def test_the_dealer_of_a_round_is_who_was_logged_on(play: Any, query: Query) -> None:
    p = play("baccarat")
    assert query(p)["rounds"][0]["dealer"] is None
    p.order("log_on", "dealer", person="ben")
    p.close()
    p.cards("9C 2H KS 5D")
    p.order("open_bets")
    first, second = reversed(query(p)["rounds"])
    assert (first["dealer"], second["dealer"]) == ("ben", "ben")
    groups = query(p, Ask(by="dealer"))["groups"]
    assert {one["dealer"]: one["rounds"] for one in groups} == {"nobody": 1, "ben": 1}
