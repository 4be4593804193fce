"""The page of rules follows what is enforced: options, paytables, pay, tableau."""

from __future__ import annotations

import itertools
import re
import types
import typing
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from controller.book import baccarat, lines, pay
from controller.book.setting import BookSetting, Limits
from controller.cli.rules import BookTerms, page
from controller.rules import PROCEDURES, blackjack, describe, options, scores, side_bets
from controller.rules.describe_document import FORMATS, Document, Grid, Rule, Section, to_html, to_markdown, to_text
from controller.rules.describe_probe import ranks_in_words
from controller.rules.options import GameOptions


def described(game: str, limits: dict[str, Limits] | None = None, **rules: Any) -> Document:
    """The page of a table with these options."""
    chosen = GameOptions(game=game, **rules)  # type: ignore[arg-type]
    assert chosen.problems() == []
    if chosen.decisions == "platform":
        return describe.describe(chosen, None)
    setting = BookSetting(
        table="t-1", game=chosen.game, limits=limits or {}, seats=chosen.seats, obo=chosen.obo,
        idle_rounds_to_vacate=chosen.idle_rounds_to_vacate,
    )  # fmt: skip
    return describe.describe(chosen, BookTerms(setting))


def prose(game: str, **rules: Any) -> str:
    """What a reader is told, the bare list of settings left out."""
    return to_text(described(game, **rules).without("settings"))


def squeezed(text: str) -> str:
    return " ".join(text.split())


# --- every option ------------------------------------------------------------------------------------------------


def values_of(field: msgspec.structs.FieldInfo) -> list[Any]:
    """All values of a choice, two of a number."""
    found: list[Any] = []
    union = typing.get_origin(field.type) in (types.UnionType, typing.Union)
    kinds = typing.get_args(field.type) if union else (field.type,)
    for kind in kinds:
        if typing.get_origin(kind) is typing.Literal:
            found += typing.get_args(kind)
        elif kind is bool:
            found += [True, False]
        elif kind in (int, float):
            found += [kind(2), kind(3)]
    assert found, field
    return found


FIELDS = [field for field in msgspec.structs.fields(GameOptions) if field.name != "game"]
CASES = [(game, field.name) for game in PROCEDURES for field in FIELDS]


#: Options that are read only beside another one.
NEEDS: dict[str, dict[str, Any]] = {
    "shuffle": {"burn": "none"},
    "confirm_s": {"confirm_result": True},
    "host_loss_void_after_s": {"on_restart": "void_round_and_shoe"},
}


def pages_by_value(game: str, name: str, **rules: Any) -> list[str]:
    field = next(field for field in FIELDS if field.name == name)
    given = NEEDS.get(name, {})
    return [prose(game, **given | rules | {name: value}) for value in values_of(field)]


@pytest.mark.parametrize(("game", "name"), [c for c in CASES if c[1] not in describe.UNUSED[c[0]]])
def test_every_value_of_an_option_gives_another_text(game: str, name: str) -> None:
    found = pages_by_value(game, name)
    assert len(set(found)) == len(found)
    if name != "decisions":
        found = pages_by_value(game, name, decisions="platform")
        assert len(set(found)) == (1 if name in describe.BOOK_ONLY else len(found))


@pytest.mark.parametrize(("game", "name"), [c for c in CASES if c[1] in describe.UNUSED[c[0]]])
def test_an_option_that_a_game_does_not_read_changes_nothing(game: str, name: str) -> None:
    if name in options._FOREIGN[game]:  # the table file is refused then
        chosen = GameOptions(game=game, **{name: _other(game, name)})  # type: ignore[arg-type]
        assert any(name in text for text in chosen.problems())
    else:
        assert len(set(pages_by_value(game, name))) == 1


def _other(game: str, name: str) -> Any:
    mine = getattr(GameOptions(game=game), name)  # type: ignore[arg-type]
    return next(v for f in FIELDS if f.name == name for v in values_of(f) if v != mine)


@pytest.mark.parametrize("game", PROCEDURES)
def test_what_a_table_file_may_not_change_is_not_described(game: str) -> None:
    assert set(options._FOREIGN[game]) <= set(describe.UNUSED[game])


@pytest.mark.parametrize("game", PROCEDURES)
def test_settings_in_force_are_listed(game: str) -> None:
    section = next(s for s in described(game).sections if s.name == "settings")
    (grid,) = section.parts
    assert isinstance(grid, Grid)
    listed = dict(grid.rows)
    assert set(listed) == {f.name for f in msgspec.structs.fields(GameOptions)} - set(describe.UNUSED[game])
    assert listed["reserve"] == str(options.RESERVE[game])


# --- what the pages say ------------------------------------------------------------------------------------------

FACTS = {
    "boundless": [
        "8 decks of 52 cards without jokers, 416 cards. [SHOE-01]",
        "one more round is played on the shoe",
        "at least 40 cards are left",
        "player's card 1; dealer's card 1; player's card 2; dealer's card 2 (face down). [BJS-04",
        "Insurance is offered when the dealer's up-card is: ace. [BJS-22]",
        "It pays 2:1 if the dealer has Blackjack",
        "when the up-card is: ace, 10, J, Q, K.",
        "against up-cards 2 to 9.",
        "two cards of a split hand hit, stand, double",
        "hit on 11 or less, stand above",
        "draws on 16 or less and stands on 17 or more; with an ace counted 11 he stands on 17",
        "bj 3:2 250 12",
        "surrender 50 2",
        "Perfect pair: same rank and suit 30:1",
        "or any Bust Bonus bet.",
        "the first 40 of a shoe",
        "player's card 3; decisions on the hand; split hand 1, card 2; split hand 2, card 2; decisions on split",
        "Split aces get one card each and no decision.",
        "lasts 300 s voids the round. [ERR-03]",
        "gives every stake back, side bets and insurance included",
    ],
    "classic": [
        "at least 60 cards are left",
        "seat 1, hand 1, card 1; seat 2, hand 1, card 1; seat 3, hand 1, card 1; dealer's card 1; seat 1, hand 1,",
        "Seats are numbered 1 to 7.",
        "no Blackjack, before all hands are complete. [BJ7-40]",
        "two cards of a split hand hit, stand ",
        "that the balance does not cover is refused",
        "5 s to follow a split or double",
        "He plays his hand out whether or not a bet depends on it.",
        "all stakes are lost: of 100 doubled to 200, 0 come back. [BJ7-44",
        "Pair: same rank 11:1",
        "After one round in which a player could have decided",
    ],
    "baccarat": [
        "PLAYER's card 1; BANKER's card 1; PLAYER's card 2; BANKER's card 2. [BAC-03]",
        "counts 8 or 9 with two cards, nobody draws. [BAC-07]",
        "PLAYER draws on 0 to 5 and stands on 6 or 7. [BAC-08]",
        "3 draws draws draws draws draws draws draws draws stands draws draws",
        "6 stands stands stands stands stands stands draws draws stands stands stands",
        "BANKER 1.95 for 1 0 195 100",
        "TIE 9 for 1 0 0 900",
        "commission on a BANKER win is 5 %",
        "10 returns 19; 20 returns 39; 30 returns 58. [BAC-13",
        "9 + 9 + 9 counts 7",
    ],
}


@pytest.mark.parametrize("game", FACTS)
def test_the_default_page_has_the_games_facts(game: str) -> None:
    text = squeezed(to_text(page(game)))
    assert [fact for fact in FACTS[game] if fact not in text] == []


def test_limits_are_shown() -> None:
    text = squeezed(to_text(described("boundless", {"main": Limits(min=500, max=20_000)})))
    assert "main Main bet 500 20,000 every round" in text
    assert "pairs Pair 1 1,000,000,000,000 the first 40 of a shoe" in text


def test_choices_are_worded_as_they_are_played() -> None:
    assert "against up-cards 2 to 9, 10, J, Q, K." in squeezed(prose("boundless", surrender_against="two_to_ten"))
    assert "two cards of a split hand hit, stand " in squeezed(prose("boundless", double_after_split=False))
    assert "only the first stake is lost: of 100 doubled to 200, 100 come back" in squeezed(
        prose("classic", obo=True)
    )
    first = squeezed(prose("boundless", split_order="split_first"))
    assert "decisions on split hand 2; player's card 3; decisions on the hand." in first
    each = squeezed(prose("boundless", split_second="as_played"))
    assert "split hand 1, card 2; decisions on split hand 1; split hand 2, card 2; decisions on split hand 2" in each
    shuffled = prose("baccarat", shuffle="every_round", burn="none")
    assert "shuffles all 416 cards before each round" in shuffled
    assert "one more round" not in shuffled
    assert "seat 2" not in prose("classic", seats=1)
    assert "No round is voided by the passing of time." in prose("baccarat", auto_void_after_s=0.0)


@pytest.mark.parametrize("game", PROCEDURES)
def test_a_platforms_table_promises_neither_bets_nor_payouts(game: str) -> None:
    shown = described(game, decisions="platform")
    text = to_text(shown)
    assert "A platform keeps the bets" in text
    assert not {"side-bets", "payouts"} & {section.name for section in shown.sections}
    assert not re.search(r"3:2|11:1|1\.95|1,000,000,000,000|to follow|are lost", text)


# --- what is enforced changes the page ---------------------------------------------------------------------------


def _banker(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(scores.BANKER_DRAWS_ON, 3, frozenset(range(10)))


def _odds(patch: pytest.MonkeyPatch) -> None:
    old = side_bets.PAYTABLES["pairs"]
    rows = (side_bets.Row("perfect", "Perfect pair", 25, old.rows[0].matches), *old.rows[1:])
    new = side_bets.Paytable(old.bet, old.name, old.game, old.rule, old.decided_by, 30, rows)
    patch.setattr(side_bets, "PAYTABLES", {**side_bets.PAYTABLES, "pairs": new})


def _surrender(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(blackjack.SURRENDER_BARRED, "two_to_nine", (1, 9, 10))


CHANGES: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None], str]] = {
    "3:2": ("boundless", lambda p: p.setitem(pay.HAND_RETURNS, "bj", (2, 0)), "bj 1:1 200 10"),
    "surrender": ("boundless", lambda p: p.setitem(pay.HAND_RETURNS, "surrender", (0, 0)), "100 are lost"),
    "insurance": ("classic", lambda p: p.setattr(pay, "INSURANCE_RETURNS", 4), "It pays 3:1"),
    "commission": ("baccarat", lambda p: p.setitem(baccarat.RETURNS, "BANKER", 196), "is 4 %"),
    "tie": ("baccarat", lambda p: p.setitem(baccarat.RETURNS, "TIE", 1000), "TIE 10 for 1 0 0 1000"),
    "tableau": ("baccarat", _banker, "3 draws draws draws draws draws draws draws draws draws draws draws"),
    "odds": ("boundless", _odds, "Perfect pair 25:1"),
    "surrender up-cards": ("boundless", _surrender, "against up-cards 2 to 8."),
    "automatic": ("boundless", lambda p: p.setattr(lines, "AUTO_HIT_MAX", 12), "hit on 12 or less"),
    "short": ("boundless", lambda p: p.setattr(lines, "AUTO_HIT_MAX", 12), "hit on 11 and hit on 12"),
    "dealer": ("classic", lambda p: p.setattr(blackjack, "DEALER_STANDS", 18), "stands on 18 or more"),
    "burn": ("classic", lambda p: p.setitem(scores.BLACKJACK_VALUE, "K", 7), "7, K 7"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_enforced_is_what_is_shown(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game, change, wanted = CHANGES[name]
    before = squeezed(prose(game))
    change(monkeypatch)
    after = squeezed(prose(game))
    assert wanted not in before
    assert wanted in after


def test_every_id_is_a_rule(shared: Path) -> None:
    known = set(re.findall(r"^\| ([A-Z0-9]+-[A-Z]?\d+) \|", (shared / "rules.md").read_text(), re.MULTILINE))
    for game in PROCEDURES:
        for rules in ({}, {"decisions": "platform"}, {"burn": "one"}):
            text = squeezed(prose(game, **rules))
            used = {word for group in re.findall(r"\[([A-Z0-9, -]+)\]", text) for word in group.split(", ")}
            assert len(used) > 10
            assert used - known == set()


# --- forms -------------------------------------------------------------------------------------------------------


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


@pytest.mark.parametrize("game", PROCEDURES)
def test_html_is_one_whole_page_without_scripts(game: str) -> None:
    text = to_html(page(game))
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    root = ElementTree.fromstring(text)
    assert [child.tag for child in root] == ["head", "body"]
    tags = _Tags()
    tags.feed(text)
    names = {tag for tag, _ in tags.seen}
    assert {"title", "h1", "table", "caption", "section"} <= names
    assert not {"script", "link", "img", "iframe"} & names
    ids = [attrs["id"] for _, attrs in tags.seen if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [attrs["href"] for tag, attrs in tags.seen if tag == "a"]
    assert links == [f"#{name}" for name in ids]
    assert not any(name.startswith("on") or name == "src" for _, attrs in tags.seen for name in attrs)


@pytest.mark.parametrize("game", PROCEDURES)
def test_all_forms_have_the_same_words(game: str) -> None:
    shown = page(game)
    forms = {name: form(shown) for name, form in FORMATS.items()}
    assert set(forms) == {"text", "md", "html"}
    plain = "".join(ElementTree.fromstring(forms["html"]).itertext())
    for section in shown.sections:
        for part in section.parts:
            words = [str(part)] if isinstance(part, Rule) else [part.title, *(c for row in part.rows for c in row)]
            for text in words:
                assert text in plain
                assert text in forms["md"]
                assert squeezed(text) in squeezed(forms["text"])


@pytest.mark.parametrize("game", PROCEDURES)
def test_tables_of_markdown_are_even(game: str) -> None:
    lines_ = to_markdown(page(game)).splitlines()
    for above, line in itertools.pairwise(lines_):
        if above.startswith("|") and line.startswith("|"):
            assert above.count("|") == line.count("|")
        elif line.startswith("|"):
            assert above == "", "a table begins after a blank line"


def test_what_is_special_in_a_form_is_escaped() -> None:
    grid = Grid("a < b", ("x", "y"), (("1 | 2", "<script>"),), "BJS-01")
    shown = Document("T & T", ("<i>",), (Section("s", "S", (Rule('"q" & <r>'), grid)),))
    assert "<script>" not in to_html(shown)
    ElementTree.fromstring(to_html(shown))
    assert "| 1 \\| 2 | <script> |" in to_markdown(shown)


def test_ranks_in_words() -> None:
    assert ranks_in_words("A23456789TJQK") == "ace, 2 to 9, 10, J, Q, K"
    assert ranks_in_words("2346T") == "2 to 4, 6, 10"
    assert ranks_in_words("23K") == "2, 3, K"
    assert ranks_in_words("") == "none"
