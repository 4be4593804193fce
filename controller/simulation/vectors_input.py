"""Rule vectors as they are given: one JSON object a line, header first (``dealerd vectors``).

Only what a table is given is read; whatever else a line holds, expected figures and comments, is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from controller.book.baccarat import BANKER, RETURNS, TIE
from controller.book.setting import BookSetting
from controller.cards import SHOE_SIZE, composition_faults
from controller.rules.options import Game, GameOptions
from controller.table.draft import Setting

Json = dict[str, Any]
Asked = Literal["hit", "stand", "double", "split", "surrender", "none"]

#: Version of the form that is read and written.
VERSION: Final = 1
TABLE: Final = "vectors"
_FAULTS_SHOWN: Final = 3
_SAME: Final = {"split_order": ("main_first", "split_first"), "split_second": ("both", "as_played")}
#: Reading → configuration key, and value → configured value.
READINGS: Final[dict[str, tuple[str, dict[str | bool, str | bool]]]] = {
    "cut": ("last_round_policy", {"next": "next", "current": "current"}),
    "burn": ("burn", {"additional": "by_first_card", "one": "one", "none": "none"}),
    "dealer": ("dealer_draws", {"needed": "needed", "always": "always"}),
    "das": ("double_after_split", {True: True, False: False}),
    "surrender": ("surrender_against", {"no_AT": "two_to_nine", "no_A": "two_to_ten"}),
    "obo": ("obo", {True: True, False: False}),
    "shuffle": ("shuffle", {"every round": "every_round"}),
    **{word: (word, {value: value for value in values}) for word, values in _SAME.items()},
}
#: What this program pays in baccarat, in the words of the readings: not a choice.
PAYS: Final = {
    "tie": f"{RETURNS[TIE] // 100} for 1",
    "banker": f"floor({RETURNS[BANKER] / 100:g}*stake) cents",
}


class VectorError(Exception):
    """The vectors cannot be used: which line, what is wrong with it."""


class Given(msgspec.Struct, frozen=True):
    """Base of all that is given."""


class LineDecision(Given, frozen=True):
    """What a player asks for the first ``n`` cards of a shared line; None: he is on autoplay already."""

    hand: Literal["main", "split/0", "split/1"]
    n: int
    request: Asked | None


class HandDecision(Given, frozen=True):
    """What a seat asks for its first or, after a split, second hand at ``n`` cards."""

    hand: Literal[0, 1]
    n: int
    request: Asked | None


class Player(Given, frozen=True):
    """A player of the shared hand. ``balance`` is before the bets."""

    id: str
    balance: int
    bets: dict[str, int]
    wants_insurance: bool
    decisions: list[LineDecision]


class Seat(Given, frozen=True):
    """A player at a seat."""

    seat: int
    id: str
    balance: int
    bets: dict[str, int]
    wants_insurance: bool
    decisions: list[HandDecision]


class BehindBet(Given, frozen=True):
    """A bet behind a seat, and whether its bettor would follow."""

    seat: int
    main: int
    follow_split: bool
    follow_double: bool
    pair: int | msgspec.UnsetType = msgspec.UNSET


class Behind(Given, frozen=True):
    """A bettor behind."""

    id: str
    balance: int
    bets: list[BehindBet]


class Shoe(Given, frozen=True):
    """A shuffled shoe; the cut card lies before the card with index ``cut``."""

    shoe: int
    cards: list[str]
    cut: int | None = None


class BoundlessRound(Given, frozen=True):
    """A round of the shared hand."""

    round: int
    shoe: int
    players: list[Player]


class ClassicRound(Given, frozen=True):
    """A round at the seats."""

    round: int
    shoe: int
    seats: list[Seat]
    behind: list[Behind] = []


class Coup(Given, frozen=True):
    """A coup of baccarat from a shoe of its own."""

    round: int
    cards: list[str]
    bets: dict[str, int]
    cut: int | None = None


Row = Shoe | BoundlessRound | ClassicRound | Coup
_ROUNDS: Final[dict[str, type[BoundlessRound] | type[ClassicRound] | type[Coup]]] = {
    "boundless": BoundlessRound,
    "classic": ClassicRound,
    "baccarat": Coup,
}


class Header(Given, frozen=True):
    """The file's first line; ``whole`` is the line as it came."""

    game: Game
    version: int
    readings: Json
    whole: Json = {}


class Line(msgspec.Struct, frozen=True):
    """One given row and the number of its line, from 1."""

    number: int
    row: Row


def read(text: Iterable[str]) -> tuple[Header, list[Line]]:
    """All rows of a file. Raises ``VectorError`` naming the line."""
    lines = ((n, line) for n, line in enumerate(text, 1) if line.strip())
    number, first = next(lines, (1, ""))
    if not first:
        raise VectorError("the file is empty: a header is expected as its first line")
    header = _header(number, _object(number, first))
    return header, list(_rows(header, lines))


def _rows(header: Header, lines: Iterator[tuple[int, str]]) -> Iterator[Line]:
    shoe: int | None = None
    for number, text in lines:
        raw = _object(number, text)
        row = _row(header.game, number, raw)
        if isinstance(row, Shoe):
            shoe = row.shoe
        elif not isinstance(row, Coup) and row.shoe != shoe:
            before = "no shoe came before it" if shoe is None else f"the shoe before it is {shoe}"
            raise VectorError(f"line {number}: round {row.round} is dealt from shoe {row.shoe}, but {before}")
        yield Line(number, row)


def _object(number: int, text: str) -> Json:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise VectorError(f"line {number}: not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise VectorError(f"line {number}: a JSON object is expected, not {text.strip()[:40]}")
    return raw


def _header(number: int, raw: Json) -> Header:
    if raw.get("type") != "header":
        raise VectorError(f'line {number}: the first line must be the header, {{"type":"header","game":…}}')
    header: Header = _convert(number, "header", raw, Header)
    if header.version != VERSION:
        raise VectorError(f"line {number}: version {header.version} of the form is not known; known is {VERSION}")
    return msgspec.structs.replace(header, whole=raw)


def _row(game: str, number: int, raw: Json) -> Row:
    kind = raw.get("type")
    if kind == "shoe" and game != "baccarat":
        row: Row = _convert(number, "shoe", raw, Shoe)
    elif kind == "round":
        row = _convert(number, f"round {raw.get('round')}", raw, _ROUNDS[game])
    else:
        known = "a round" if game == "baccarat" else "a shoe or a round"
        raise VectorError(f"line {number}: {known} is expected here in a file of {game}, not {kind!r}")
    if isinstance(row, Shoe | Coup):
        _check_cards(number, row)
    else:
        _check_people(number, row)
    return row


def _convert(number: int, what: str, raw: Json, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        text, _, where = str(error).partition(" - at `$")
        place = where.rstrip("`").lstrip(".")
        raise VectorError(f"line {number}: {what}: {f'{place}: ' if place else ''}{text}") from error


def _check_cards(number: int, row: Shoe | Coup) -> None:
    faults = composition_faults(row.cards)
    if faults:
        more = f"; and {len(faults) - _FAULTS_SHOWN} more faults" if len(faults) > _FAULTS_SHOWN else ""
        raise VectorError(f"line {number}: cards are not eight decks: {'; '.join(faults[:_FAULTS_SHOWN])}{more}")
    if row.cut is not None and not 0 <= row.cut < SHOE_SIZE:
        raise VectorError(f"line {number}: cut must be 0 to {SHOE_SIZE - 1}, not {row.cut}")


def _check_people(number: int, row: BoundlessRound | ClassicRound) -> None:
    if isinstance(row, BoundlessRound):
        names = [player.id for player in row.players]
    else:
        names = [seat.id for seat in row.seats] + [bettor.id for bettor in row.behind]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise VectorError(f"line {number}: round {row.round}: {', '.join(twice)} is there more than once")
    if isinstance(row, ClassicRound):
        for bettor in row.behind:
            seats = [bet.seat for bet in bettor.bets]
            if len(set(seats)) < len(seats):
                raise VectorError(f"line {number}: round {row.round}: {bettor.id} bets behind one seat twice")


def setting(header: Header) -> Setting:
    """The table that the header describes: limits off, no reserve. Raises ``VectorError`` for unknown readings."""
    game = header.game
    options: Json = {}
    for word, value in header.readings.items():
        if game == "baccarat" and word in PAYS:
            if value != PAYS[word]:
                raise VectorError(f"header: reading {word} = {_text(value)}; this program pays {_text(PAYS[word])}")
            continue
        options |= _option(word, value)
    if game == "baccarat":
        if "shuffle" not in options:
            raise VectorError('header: each coup of these files has its own shoe: reading shuffle = "every round"')
        options = {"burn": "none"} | options
    rules = GameOptions(game=game, reserve=0, **options)
    problems = rules.problems()
    if problems:
        raise VectorError(f"header: {'; '.join(problems)}")
    book = BookSetting(
        table=TABLE,
        game=game,
        wallet="embedded",
        seats=rules.seats,
        obo=rules.obo,
        idle_rounds_to_vacate=rules.idle_rounds_to_vacate,
    )
    return Setting(TABLE, rules, book=book)


def _option(word: str, value: object) -> Json:
    if word not in READINGS:
        raise VectorError(f"header: unknown reading {word!r}; known are {', '.join([*READINGS, *PAYS])}")
    key, values = READINGS[word]
    if not isinstance(value, str | bool) or value not in values:
        allowed = ", ".join(map(_text, values))
        raise VectorError(f"header: reading {word} = {_text(value)}; allowed: {allowed}")
    return {key: values[value]}


def _text(value: object) -> str:
    return json.dumps(value)[:60]
