"""``dealerd rules``: the rules and paytables that a configuration enforces."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

from controller.book import BOOKS, open_book
from controller.book.baccarat import BaccaratPayer
from controller.book.bets import BetBook
from controller.book.hands import HandBook
from controller.book.lines import NOTHING, automatic
from controller.book.pay import HAND_RETURNS, Insured, hand_return
from controller.book.rows import (
    Balance,
    Bet,
    BetRequest,
    Decision,
    DecisionRequest,
    Entry,
    Insurance,
    InsuranceRequest,
)
from controller.book.seat_pay import SeatHand, SeatPayer, SeatResult
from controller.book.setting import STAKE_MAX, BookSetting
from controller.cli.errors import UsageError
from controller.config import load
from controller.rules import PROCEDURES
from controller.rules.describe import describe
from controller.rules.describe_document import FORMATS, Document
from controller.rules.options import Game, GameOptions

_PLAYER: Final = "player"
_CHOICES: Final = ("hit", "stand", "double", "split")
_EPILOG: Final = """\
Every figure is taken from what the table plays and pays by, so another setting in the table file gives another page.
The marks in brackets are the numbers of the rules.

examples:
  dealerd rules boundless                          the game's own settings
  dealerd rules bb-1.toml                          those of a table
  dealerd rules bb-1.toml --format html >bb-1.html   a page to publish
"""


class BookTerms:
    """``controller.rules.describe_terms.Terms`` of a real book: what it does when it is tried."""

    def __init__(self, setting: BookSetting) -> None:
        self._setting = setting
        self.bets: Sequence[str] = BOOKS[setting.game].BETS
        self.stake_max: int = STAKE_MAX
        self.hand_results: Sequence[str] = tuple(HAND_RETURNS)

    def limits(self, bet: str) -> tuple[int | None, int | None]:
        """See ``Terms``."""
        found = self._setting.limits.get(bet)
        return (None, None) if found is None else (found.min, found.max)

    def hand_return(self, result: str, stake: int) -> int:
        """See ``Terms``."""
        return hand_return(result, stake, stake // 2)

    def first_stake_only(self) -> int:
        """See ``Terms``."""
        hand = SeatHand("seat/1/hand/0", 3, True, "lose")
        cards = {"dealer": ("AS", "KS"), hand.line: ("5S", "6S", "9S")}
        seats = {1: SeatResult(100, (hand,))}
        payer = SeatPayer(cards, seats, {}, {}, NOTHING, obo=self._setting.obo)
        ((paid,), _, _) = payer.pay(_PLAYER, Entry((Bet(_PLAYER, "main", 100, 1),)))
        return paid.returned

    def insurance_stake(self, main: int) -> int:
        """See ``Terms``."""
        book = self._playing(main, main)
        book.open_insurance()
        return book.check_insurance([InsuranceRequest(_PLAYER)]).rows[0].stake

    def insurance_return(self, stake: int) -> int:
        """See ``Terms``."""
        paid = Insured(("AS", "KS"), NOTHING).pay(Entry(insurance=Insurance(_PLAYER, stake)))
        assert paid is not None
        return paid.returned

    def extra(self, request: str, main: int) -> int:
        """See ``Terms``."""
        decision = self._decision(request, ["5S", "5H"], main, main)
        assert decision is not None
        return decision.extra

    def short(self, request: str, cards: Sequence[str]) -> str | None:
        """See ``Terms``."""
        decision = self._decision(request, cards, 100, 0)
        return None if decision is None else decision.effect

    def automatic(self, score: int) -> str:
        """See ``Terms``."""
        return automatic(score)

    def coup_return(self, bet: str, winner: str, stake: int) -> int:
        """See ``Terms``."""
        _, (paid,), _ = BaccaratPayer(winner, {}).pay(_PLAYER, Entry((Bet(_PLAYER, bet, stake),)))
        return paid.returned

    def _decision(self, request: str, cards: Sequence[str], main: int, balance: int) -> Decision | None:
        """A decision on two cards by a player with a main bet and this much left; None if it is refused."""
        book = self._playing(main, balance)
        line = "main" if self._box is None else f"seat/{self._box}/hand/0"
        book.open_window(line, cards, _CHOICES)
        rows = book.check_decisions([DecisionRequest(_PLAYER, line, len(cards), request)]).rows
        return rows[0] if rows else None

    @property
    def _box(self) -> int | None:
        return 1 if self._setting.game == "classic" else None

    def _playing(self, main: int, balance: int) -> HandBook:
        """A book of one main bet, betting closed, ``balance`` left to its player."""
        setting = BookSetting(table="trial", game=self._setting.game, wallet="embedded")
        book: BetBook = open_book(setting)
        book.apply_balances([Balance(_PLAYER, main + balance)])
        book.open_round("trial", 1)
        book.apply_bets(book.check_bets([BetRequest(_PLAYER, "main", main, self._box)]).rows)
        book.close_bets()
        assert isinstance(book, HandBook)
        return book


def add_parser(subparsers: Any) -> None:
    """Register ``rules GAME|TABLE.toml [--format text|md|html]``."""
    parser = subparsers.add_parser(
        "rules",
        help="rules and paytables as enforced",
        description="Print the rules and paytables that a table enforces by its file, or by a game's own settings.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", metavar="GAME|TABLE.toml", help=f"{', '.join(PROCEDURES)}, or a table file")
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help="default: text, for a terminal")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the page."""
    print(FORMATS[args.format](page(args.what)), end="")
    return 0


def page(what: str) -> Document:
    """The rules of a game's own settings or of a table file. Raises ``UsageError``, ``ConfigError``."""
    if what in PROCEDURES:
        options = GameOptions(game=cast(Game, what))
        return describe(options, BookTerms(BookSetting(table="any", game=options.game)))
    if not Path(what).exists():
        raise UsageError(f"{what}: neither a game nor a table file; the games are {', '.join(PROCEDURES)}")
    loaded = load(Path(what))
    setting = loaded.config.book()
    terms = None if setting is None else BookTerms(setting)
    return describe(loaded.config.game, terms, of=loaded.config.table.id, digest=loaded.digest)
