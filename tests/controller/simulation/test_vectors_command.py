"""``dealerd vectors``: the shared vectors from their given fields alone, small hand-written ones, wrong input."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.book.base import Book
from controller.book.bets import BookFault
from controller.cards import full_shoe
from controller.cli import main
from controller.table.state import TableState

Row = dict[str, Any]
FILES = [
    "boundless", "boundless_variants", "boundless_cut_first", "boundless_cut_first_current", "classic",
    "classic_variants", "baccarat",
]  # fmt: skip
COMMENTS = {"style", "rig"}
PERSON = ("seat", "id", "balance", "bets", "wants_insurance")


def given(row: Row) -> Row:
    """What a table is given of a line."""
    if row["type"] == "header":
        return row
    if row["type"] == "shoe":
        return {key: row[key] for key in ("type", "shoe", "cards", "cut")}
    found = {key: row[key] for key in ("type", "round", "shoe", "cards", "cut", "bets") if key in row}
    for group in ("players", "seats"):
        for person in row.get(group, []):
            asked = [{key: d[key] for key in ("hand", "n", "request")} for d in person["decisions"]]
            told = {key: person[key] for key in PERSON if key in person}
            found.setdefault(group, []).append(told | {"decisions": asked})
    for person in row.get("behind", []):
        names = ("seat", "main", "pair", "follow_split", "follow_double")
        bets = [{key: bet[key] for key in names if key in bet} for bet in person["bets"]]
        found.setdefault("behind", []).append({"id": person["id"], "balance": person["balance"], "bets": bets})
    return found


def differences(want: Any, got: Any, where: str = "") -> Iterator[str]:
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted((set(want) | set(got)) - COMMENTS):
            if key in want and key in got:
                yield from differences(want[key], got[key], f"{where}.{key}")
            else:
                yield f"{where}.{key} only {'expected' if key in want else 'answered'}"
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for index, pair in enumerate(zip(want, got, strict=True)):
            yield from differences(*pair, f"{where}[{index}]")
    elif want != got or isinstance(want, bool) != isinstance(got, bool):
        yield f"{where}: {got} answered, {want} expected"


def shoe(text: str) -> list[str]:
    """Eight decks that begin with these cards."""
    rest = full_shoe()
    for card in text.split():
        rest.remove(card)
    return text.split() + rest


def header(game: str, **readings: Any) -> Row:
    return {"type": "header", "game": game, "version": 1, "readings": readings}


def player(name: str, bets: Row, *requests: tuple[str, int, str | None], balance: int = 1000) -> Row:
    decisions = [{"hand": hand, "n": n, "request": request} for hand, n, request in requests]
    return {"id": name, "balance": balance, "bets": bets, "wants_insurance": True, "decisions": decisions}


@pytest.fixture
def vectors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command on rows; status, answered lines and standard error."""

    def run(*rows: Row | str) -> tuple[int, list[Row], str]:
        file = tmp_path / "given.jsonl"
        file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
        status = main(["vectors", str(file)])
        printed = capsys.readouterr()
        return status, [json.loads(line) for line in printed.out.splitlines()], printed.err

    return run


@pytest.mark.parametrize("name", FILES)
def test_the_shared_vectors_agree_in_every_field(shared: Path, vectors: Any, name: str) -> None:
    wanted = [json.loads(line) for line in (shared / "vectors" / f"{name}.jsonl").read_text().splitlines()]
    status, got, errors = vectors(*map(given, wanted))
    # A slow machine shows progress.
    told = [line for line in errors.splitlines() if not line.endswith("lines played")]
    assert (status, told, len(got)) == (0, [], len(wanted))
    for want, line in zip(wanted, got, strict=True):
        where = f"{want['type']} {want.get('round', want.get('shoe', ''))}"
        assert list(differences(want, line, where)) == []


# --- by hand --------------------------------------------------------------------------------------------------------

BOUNDLESS = [
    header("boundless", burn="none", cut="next"),
    {"type": "shoe", "shoe": 1, "cards": shoe("6C 6H 5S TD TC KC"), "cut": 2},
    {
        "type": "round", "round": 1, "shoe": 1,
        "players": [
            player("doubles", {"main": 100}, ("main", 2, "double")),
            player("late", {"main": 20}, ("main", 2, "none")),
            player("stands", {"main": 50, "pairs": 10}, ("main", 2, "stand")),
            player("side", {"bust_bonus": 5}),
            player("poor", {"main": 11}, balance=10),
        ],
    },
]  # fmt: skip


def test_a_boundless_round_by_hand(vectors: Any) -> None:
    status, lines, errors = vectors(*BOUNDLESS)
    assert (status, errors) == (0, "")
    head, shoe_line, round_ = lines
    assert head == BOUNDLESS[0]
    assert shoe_line == {**BOUNDLESS[1], "burn": None}
    bounds = ("round_in_shoe", "last_round", "start_pos", "end_pos")
    assert [round_[key] for key in bounds] == [1, False, 0, 6]
    assert round_["events"] == [
        {"e": "deal", "slot": "player/0", "card": "6C", "pos": 0, "face": "up"},
        {"e": "deal", "slot": "dealer/0", "card": "6H", "pos": 1, "face": "up"},
        {"e": "cut_card", "before_pos": 2},
        {"e": "deal", "slot": "player/1", "card": "5S", "pos": 2, "face": "up"},
        {"e": "deal", "slot": "dealer/1", "card": "TD", "pos": 3, "face": "down"},
        {"e": "decide", "hand": "main", "n": 2, "players": 3},
        {"e": "deal", "slot": "player/2", "card": "TC", "pos": 4, "face": "up"},
        {"e": "reveal", "slot": "dealer/1", "card": "TD"},
        {"e": "deal", "slot": "dealer/2", "card": "KC", "pos": 5, "face": "up"},
        {"e": "round_end", "reason": "settled"},
    ]
    assert round_["common"] == {"main": {"cards": ["6C", "5S", "TC"], "score": 21}}
    dealer = {"cards": ["6H", "TD", "KC"], "score": 26, "bj": False, "bust": True, "drew": True}
    assert round_["dealer"] == dealer
    people = {row["id"]: row for row in round_["players"]}
    assert people["doubles"] == {
        **BOUNDLESS[2]["players"][0], "accepted": {"main": 100}, "rejected": {},
        "decisions": [{"hand": "main", "n": 2, "score": 11, "request": "double", "auto": False, "effect": "double",
                       "legal": ["hit", "stand", "double", "surrender"],
                       "offered": ["hit", "stand", "double", "surrender"]}],
        "hands": [{"hand": "main", "cards": ["6C", "5S", "TC"], "score": 21, "stake": 200, "doubled": True,
                   "result": "win", "return": 400}],
        "side": {}, "total_stake": 200, "total_return": 400, "balance_after": 1200,
    }  # fmt: skip
    (late,) = people["late"]["decisions"]
    assert (late["request"], late["auto"], late["effect"]) == ("none", True, "hit")
    assert people["stands"]["side"] == {"pairs": {"stake": 10, "category": None, "odds": 0, "return": 0}}
    assert people["stands"]["balance_after"] == 1000 - 60 + 100
    assert people["side"]["side"] == {"bust_bonus": {"stake": 5, "category": "bust_3", "odds": 1, "return": 10}}
    assert (people["poor"]["accepted"], people["poor"]["rejected"]) == ({}, {"main": 11})
    assert (people["poor"]["total_stake"], people["poor"]["balance_after"]) == (0, 10)


def test_the_cut_card_ends_the_shoe_and_a_burn_is_told(vectors: Any) -> None:
    rows = [
        header("boundless", cut="current", burn="additional"),
        {"type": "shoe", "shoe": 7, "cards": shoe("2S 3S 4S TC 7H TS TD"), "cut": 3},
        {"type": "round", "round": 9, "shoe": 7, "players": [player("a", {"main": 1}, ("main", 2, "stand"))]},
        {"type": "shoe", "shoe": 8, "cards": shoe("AS AD"), "cut": 300},
    ]
    status, (_, first, round_, second), _ = vectors(*rows)
    assert status == 0
    assert first["burn"] == {
        "indicator": "2S", "value": 2, "burned_face_down": 2,
        "events": [
            {"e": "burn_indicator", "card": "2S", "pos": 0, "face": "up"},
            {"e": "burn", "card": "3S", "pos": 1, "face": "down"},
            {"e": "burn", "card": "4S", "pos": 2, "face": "down"},
        ],
    }  # fmt: skip
    assert round_["events"][0] == {"e": "cut_card", "before_pos": 3}
    assert (round_["start_pos"], round_["end_pos"], round_["last_round"]) == (3, 7, True)
    assert second["burn"]["value"] == 1


def test_a_refused_request_is_none_to_the_table(vectors: Any) -> None:
    asks = player("a", {"main": 10}, ("main", 2, "split"), ("main", 3, "hit"))
    rows = [*BOUNDLESS[:2], {"type": "round", "round": 1, "shoe": 1, "players": [asks]}]
    status, lines, errors = vectors(*rows)
    assert status == 0
    (decision,) = lines[2]["players"][0]["decisions"]
    assert (decision["request"], decision["auto"], decision["effect"]) == ("split", True, "hit")
    assert "round 1: a's 'hit' on main at 3 cards was not asked for" in errors


CLASSIC = [
    header("classic", burn="none", das=False),
    {"type": "shoe", "shoe": 1, "cards": shoe("8C 6D 8H TC 9S TS 5H"), "cut": 200},
    {
        "type": "round", "round": 1, "shoe": 1,
        "seats": [{"seat": 3, "id": "S3", "balance": 1000, "bets": {"main": 100, "pair": 10},
                   "wants_insurance": False,
                   "decisions": [{"hand": 0, "n": 2, "request": "split"}, {"hand": 0, "n": 2, "request": "stand"},
                                 {"hand": 1, "n": 2, "request": "none"}]}],
        "behind": [
            {"id": "B1", "balance": 60,
             "bets": [{"seat": 3, "main": 30, "pair": 5, "follow_split": False, "follow_double": True}]},
            {"id": "B2", "balance": 55,
             "bets": [{"seat": 3, "main": 30, "follow_split": True, "follow_double": True}]},
            {"id": "B3", "balance": 90,
             "bets": [{"seat": 3, "main": 30, "follow_split": True, "follow_double": True}]},
        ],
    },
]  # fmt: skip


def test_a_classic_round_by_hand(vectors: Any) -> None:
    status, (_, _, round_), errors = vectors(*CLASSIC)
    assert (status, errors) == (0, "")
    brief = [e.get("slot") or e.get("effect") or e["e"] for e in round_["events"]]
    seat = "seat/3/hand"
    assert brief == [
        f"{seat}/0/0", "dealer/0", f"{seat}/0/1", "split", "split", f"{seat}/0/1", f"{seat}/1/1", "stand", "stand",
        "dealer/1", "dealer/2", "round_end",
    ]  # fmt: skip
    assert round_["events"][3:5] == [
        {"e": "decision", "seat": 3, "hand": 0, "effect": "split"},
        {"e": "split", "seat": 3, "move": [f"{seat}/0/1", f"{seat}/1/0"]},
    ]
    assert round_["dealer"] == {"cards": ["6D", "TS", "5H"], "score": 21, "bj": False, "bust": False}
    (holder,) = round_["seats"]
    assert [(d["hand"], d["request"], d["auto"], d["legal"]) for d in holder["decisions"]] == [
        (0, "split", False, ["hit", "stand", "double", "split", "surrender"]),
        (0, "stand", False, ["hit", "stand"]),
        (1, "none", True, ["hit", "stand"]),
    ]
    assert [(h["hand"], h["cards"], h["stake"], h["result"]) for h in holder["hands"]] == [
        (0, ["8C", "TC"], 100, "lose"),
        (1, ["8H", "9S"], 100, "lose"),
    ]
    assert holder["side"] == {"pair": {"stake": 10, "category": "pair", "odds": 11, "return": 120}}
    assert (holder["total_stake"], holder["balance_after"], holder["forced_to_leave"]) == (210, 910, False)
    declined, short, followed = round_["behind"]
    assert declined["bets"][0]["split"] == {"requested": False, "followed": False}
    assert declined["bets"][0]["pair_result"]["return"] == 60
    assert short["bets"][0]["split"] == {"requested": True, "followed": False}
    assert "pair_result" not in short["bets"][0]
    assert followed["bets"][0] == {
        **CLASSIC[2]["behind"][2]["bets"][0], "split": {"requested": True, "followed": True}, "double": None,
        "hands": [{"hand": number, "stake": 30, "result": "lose", "return": 0} for number in (0, 1)],
    }  # fmt: skip
    assert [row["balance_after"] for row in round_["behind"]] == [85, 25, 30]


COUP = {"type": "round", "round": 1, "cards": shoe("2C 9H TC TD"), "cut": None, "bets": {"BANKER": 11, "TIE": 5}}
BACCARAT = [header("baccarat", shuffle="every round", tie="9 for 1", banker="floor(1.95*stake) cents"), COUP]


def test_coups_by_hand(vectors: Any) -> None:
    second = {**COUP, "round": 2, "cards": shoe("2C 3H TC TD 4S 7D"), "bets": {"PLAYER": 10, "JACKPOT": 1}}
    status, (_, first, other), errors = vectors(*BACCARAT, second)
    assert status == 0
    assert first == {
        **COUP, "burn": None, "natural": True, "outcome": "BANKER", "total_stake": 16, "total_return": 21,
        "events": [
            {"e": "deal", "slot": slot, "card": card, "pos": pos, "face": "up"}
            for pos, (slot, card) in enumerate(
                [("player/0", "2C"), ("banker/0", "9H"), ("player/1", "TC"), ("banker/1", "TD")]
            )
        ],
        "player": {"cards": ["2C", "TC"], "points": 2}, "banker": {"cards": ["9H", "TD"], "points": 9},
        "results": {"BANKER": {"stake": 11, "return": 21}, "TIE": {"stake": 5, "return": 0}},
    }  # fmt: skip
    assert (other["outcome"], other["results"]) == ("PLAYER", {"PLAYER": {"stake": 10, "return": 20}})
    assert "bettor's bet of 1 on JACKPOT was refused" in errors


def test_full_lines_answer_like_given_ones_and_twice_alike(vectors: Any) -> None:
    _, first, _ = vectors(*CLASSIC)
    _, second, _ = vectors(*first)
    assert first == second


# --- wrong input ----------------------------------------------------------------------------------------------------


def changed(rows: list[Row], line: int, **changes: Any) -> list[Row]:
    return [*rows[: line - 1], rows[line - 1] | changes, *rows[line:]]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([], "the file is empty"),
        (["{not json"], "line 1: not JSON"),
        (["[1]"], "line 1: a JSON object is expected"),
        (BOUNDLESS[1:], "line 1: the first line must be the header"),
        ([*BOUNDLESS[:2], "", "{}"], "line 4: a shoe or a round is expected here in a file of boundless, not None"),
        (changed(BOUNDLESS, 1, game="poker"), "line 1: header: game: Invalid enum value 'poker'"),
        (changed(BOUNDLESS, 1, version=2), "line 1: version 2 of the form is not known"),
        ([header("boundless", deck="six")], "header: unknown reading 'deck'; known are cut, burn"),
        ([header("boundless", cut="never")], 'reading cut = "never"; allowed: "next", "current"'),
        ([header("boundless", das=1)], "reading das = 1; allowed: true, false"),
        ([header("classic", split_order="split_first")], "split_order means nothing for classic"),
        ([header("baccarat")], 'reading shuffle = "every round"'),
        ([header("baccarat", shuffle="every round", tie="8 for 1")], 'this program pays "9 for 1"'),
        (changed(BOUNDLESS, 2, cards=["AS"]), "line 2: cards are not eight decks: AS occurs 1 times, not 8"),
        (changed(BOUNDLESS, 2, cards=[*shoe("AS")[:-1], "1S"]), "line 2: cards are not eight decks: '1S' is not"),
        (changed(BOUNDLESS, 2, cut=416), "line 2: cut must be 0 to 415, not 416"),
        (changed(BOUNDLESS, 2, cut="x"), "line 2: shoe: cut: Expected `int | null`, got `str`"),
        ([BOUNDLESS[0], BOUNDLESS[2]], "line 2: round 1 is dealt from shoe 1, but no shoe came before it"),
        (changed(BOUNDLESS, 3, shoe=2), "line 3: round 1 is dealt from shoe 2, but the shoe before it is 1"),
        ([*BOUNDLESS[:2], BOUNDLESS[1]], "line 3: shoe 1: the shoe in play is not over"),
        (changed(BOUNDLESS, 3, players=[{"id": "a"}]), "players[0]: Object missing required field `balance`"),
        (changed(BOUNDLESS, 3, players=[player("a", {"main": 1.5})]), "players[0].bets[...]: Expected `int`"),
        (changed(BOUNDLESS, 3, players=[player("a", {})] * 2), "line 3: round 1: a is there more than once"),
        (changed(BOUNDLESS, 3, players=[player("a", {}, balance=-1)]), "the balance of 'a' cannot be set"),
        (changed(BOUNDLESS, 3, players=[player("a", {}, ("main", 2, "fold"))]), "Invalid enum value 'fold'"),
        (changed(BOUNDLESS, 3, players=[player("a", {}, ("hand", 2, "hit"))]), "Invalid enum value 'hand'"),
        (changed(CLASSIC, 3, seats=[], behind=[]), "round 1: the table refuses close_bets: nobody has bet on a seat"),
        (changed(CLASSIC, 3, behind=[{"id": "B", "balance": 9, "bets": CLASSIC[2]["behind"][0]["bets"] * 2}]),
         "line 3: round 1: B bets behind one seat twice"),
        ([*BACCARAT, BOUNDLESS[1]], "line 3: a round is expected here in a file of baccarat, not 'shoe'"),
        (changed([BOUNDLESS[0], BOUNDLESS[1] | {"cut": 0}, BOUNDLESS[2]], 1, readings={"burn": "additional"}),
         "line 2: shoe 1: the table is held: M-21"),
    ],
)  # fmt: skip
def test_wrong_input_is_named_and_nothing_is_printed(vectors: Any, rows: list[Any], complaint: str) -> None:
    status, lines, errors = vectors(*rows)
    assert complaint in errors
    assert (status, lines) == (2, [])


def test_files_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "latin").write_bytes(b'{"a":"\xe9"}')
    (tmp_path / "good").write_text("\n".join(map(json.dumps, BACCARAT)))
    for args, complaint in (
        ([str(tmp_path / "none")], "cannot be read: No such file or directory"),
        ([str(tmp_path / "latin")], "not UTF-8 text"),
        ([str(tmp_path / "good"), "--out", str(tmp_path)], "cannot be written: Is a directory"),
    ):
        assert main(["vectors", *args]) == 2
        assert complaint in capsys.readouterr().err


def test_output_goes_to_a_file_and_input_comes_from_a_pipe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(map(json.dumps, BACCARAT))))
    assert main(["vectors", "-", "--out", str(tmp_path / "answer.jsonl")]) == 0
    assert capsys.readouterr().out == ""
    assert len((tmp_path / "answer.jsonl").read_text().splitlines()) == 2


def test_slow_files_show_progress(vectors: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.cli.vectors._QUIET_S", 0.0)
    assert "vectors: 1 of 2 lines played" in vectors(*BOUNDLESS)[2]


def test_a_table_that_contradicts_itself_is_a_failed_check(vectors: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(TableState, "__eq__", lambda one, other: False)  # noqa: ARG005
        status, lines, errors = vectors(*BACCARAT)
    assert (status, lines) == (1, [])
    assert "check failed: the fold of the facts differs" in errors

    def broken(book: Book) -> None:
        raise BookFault(f"a cent is missing in {book.round}")

    monkeypatch.setattr(Book, "check", broken)
    status, lines, errors = vectors(*BACCARAT)
    assert (status, lines) == (1, [])
    assert "a cent is missing" in errors
