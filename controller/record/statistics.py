"""Events collated by game, dealer, supervisor, shift, device and error (REG-31), from the facts of a journal.

A fold: give it the facts in order, as many at a time as you like, and ask at any moment. A read interval is the time
between two cards that left the shoe one directly after the other, with no decision, hold or betting between them.
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

from controller.frames import iso_ms
from controller.journal.records import FactRow
from controller.record.told import Json, Told, person_of, tell

By = Literal["game", "dealer", "supervisor", "shift", "device", "error"]

#: Incidents that say a card was not read, or not read right.
MISREADS: Final = frozenset({"M-01", "M-02", "M-03", "hidden"})
#: A dealer nobody is logged on as.
NOBODY: Final = "nobody"

_CARDS: Final = frozenset({"card_dealt", "card_burned", "burn_indicator_drawn"})
#: Longer than this nobody was dealing.
_LONGEST_MS: Final = 60_000


class Intervals:
    """Read intervals in whole milliseconds, counted exactly."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, ms: int) -> None:
        """Count one; negative ones (the clock was set) and long ones are left out."""
        if 0 <= ms <= _LONGEST_MS:
            self._counts[ms] += 1

    def as_json(self) -> Json:
        """``{count, p50, p95, p99}``; the percentiles are null without a count."""
        values = sorted(self._counts)
        upto = list(itertools.accumulate(self._counts[value] for value in values))
        total = upto[-1] if upto else 0

        def at(share: float) -> int | None:
            return values[bisect.bisect_left(upto, share * total)] if total else None

        return {"count": total, "p50": at(0.5), "p95": at(0.95), "p99": at(0.99)}


class Tally:
    """What happened under one dealer, in one shift, or in all."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.incidents: Counter[str] = Counter()
        self.intervals = Intervals()

    def as_json(self) -> Json:
        """For an answer."""
        names = (
            "rounds",
            "results",
            "voids",
            "corrections",
            "cards",
            "misreads",
            "manual_entries",
            "holds",
            "hold_ms",
        )
        return {
            **{name: self.counts[name] for name in names},
            "incidents": dict(sorted(self.incidents.items())),
            "read_interval_ms": self.intervals.as_json(),
        }


class Statistics:
    """Folds facts. ``n`` is the number of the last fact taken, or passed over."""

    def __init__(self) -> None:
        self.n = 0
        self._game: str | None = None
        self._dealer = NOBODY
        self._shift: str | None = None
        self._last_card: int | None = None
        self._tallies: dict[str, dict[str, Tally]] = {"game": {}, "dealer": {}, "shift": {}, "supervisor": {}}
        self._shifts: dict[str, Json] = {}
        self._acts: dict[str, Counter[str]] = {}
        self._devices: dict[str, Counter[str]] = {}
        self._errors: dict[str, Json] = {}
        self._open: dict[int, tuple[int, str]] = {}  # incident -> raised at, code
        self._holds: dict[str, tuple[int, list[Tally]]] = {}
        self._lost: dict[str, int] = {}
        self._in_charge: str | None = None
        self._at_ms: int | None = None
        self._watched_ms = 0

    def take(self, rows: Iterable[FactRow]) -> None:
        """Fold the next facts; types other than ``TYPES`` may be left out."""
        for row in rows:
            self.n = row.n
            self._watch(row)
            if row.type in _CARDS:
                self._card(row.at_ms)
                continue
            handler = _FOLD.get(row.type)
            if handler is None:
                continue
            told = tell(row)
            if row.type not in _DURING_A_DEAL:
                self._last_card = None
            handler(self, told, told.data)
            person = person_of(told.data.get("by"))
            if person is not None:
                self._acts.setdefault(person, Counter())[row.type] += 1

    def as_json(self, by: By) -> list[Json]:
        """One object a group, in the order of their names; shifts in the order they began."""
        if by == "device":
            return [self._device_json(name) for name in sorted(self._devices)]
        if by == "error":
            return [self._errors[code] for code in sorted(self._errors)]
        if by == "supervisor":
            people = sorted(p for p in {*self._acts, *self._tallies[by]} if p.startswith("supervisor:"))
            return [
                {
                    "supervisor": person,
                    "acts": dict(sorted(self._acts.get(person, Counter()).items())),
                    "in_charge": self._tallies[by].get(person, Tally()).as_json(),
                }
                for person in people
            ]
        if by == "shift":
            return [self._shifts[key] | self._tallies[by].get(key, Tally()).as_json() for key in self._shifts]
        found = self._tallies[by]
        return [{by: key, **found[key].as_json()} for key in sorted(found)]

    def _device_json(self, name: str) -> Json:
        names = ("reads", "misreads", "repeated", "out_of_game", "reports", "losses", "lost_ms")
        found: Json = {"device": name, **{key: self._devices[name][key] for key in names}}
        found |= {"heard": name not in self._lost, "watched_ms": self._watched_ms}
        if name == "shoe":
            merged = Intervals()
            for tally in self._tallies["game"].values():
                merged._counts.update(tally.intervals._counts)
            found["read_interval_ms"] = merged.as_json()
        return found

    def _watch(self, row: FactRow) -> None:
        """The time that the table ran, from fact to fact; what lies between two starts is not known."""
        if self._at_ms is not None and row.type != "table_started":
            self._watched_ms += max(0, row.at_ms - self._at_ms)
        self._at_ms = row.at_ms

    # --- where a fact counts -------------------------------------------------------------------------------

    def _now(self) -> list[Tally]:
        """The tallies of this moment."""
        keys = {
            "game": self._game,
            "dealer": self._dealer if self._shift else None,
            "shift": self._shift,
            "supervisor": self._in_charge,
        }
        return [self._tallies[by].setdefault(key, Tally()) for by, key in keys.items() if key is not None]

    def _count(self, name: str, by: int = 1) -> None:
        for tally in self._now():
            tally.counts[name] += by

    def _device(self, name: str, what: str, by: int = 1) -> None:
        self._devices.setdefault(name, Counter())[what] += by

    def _card(self, at_ms: int) -> None:
        self._device("shoe", "reads")
        for tally in self._now():
            tally.counts["cards"] += 1
            if self._last_card is not None:
                tally.intervals.add(at_ms - self._last_card)
        self._last_card = at_ms

    # --- by type -------------------------------------------------------------------------------------------

    def _started(self, told: Told, data: Json) -> None:  # noqa: ARG002 -- all handlers are called alike
        import msgspec

        config: Any = msgspec.json.decode(data["config"] or "{}")
        self._game = config.get("game", {}).get("game") or self._game or "unknown"

    def _shift_started(self, told: Told, data: Json) -> None:
        self._shift = str(told.n)
        self._in_charge = person_of(data["by"])
        self._shifts[self._shift] = {
            "shift": told.n, "from": iso_ms(told.at_ms), "to": None, "started_by": data["by"], "ended_by": None,
        }  # fmt: skip

    def _shift_ended(self, told: Told, data: Json) -> None:
        if self._shift is not None:
            self._shifts[self._shift] |= {"to": iso_ms(told.at_ms), "ended_by": data["by"]}
        self._shift = self._in_charge = None
        self._dealer = NOBODY

    def _logged_on(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self._dealer = data["dealer"]

    def _logged_off(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self._dealer = NOBODY

    def _opened(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self._count("rounds")

    def _result(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self._count("results")

    def _corrected(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self._count("corrections")

    def _voided(self, told: Told, data: Json) -> None:
        self._count("voids")
        for number in list(self._open):
            self._close(number, told.at_ms, "void")
        if person_of(data["by"]) is None:
            self._acts.setdefault(data["by"], Counter())[told.type] += 1

    def _raised(self, told: Told, data: Json) -> None:
        code = data["code"]
        for tally in self._now():
            tally.incidents[code] += 1
        if code in MISREADS:
            self._count("misreads")
            self._device("shoe", "misreads")
        error = self._errors.setdefault(
            code,
            {"error": code, "title": data["title"], "count": 0, "open_ms": 0, "resolutions": {}, "dealers": {}},
        )
        error["count"] += 1
        error["dealers"][self._dealer] = error["dealers"].get(self._dealer, 0) + 1
        self._open[data["incident"]] = (told.at_ms, code)
        self._hold(f"incident:{data['incident']}", told.at_ms)

    def _resolved(self, told: Told, data: Json) -> None:
        if data["resolution"] == "enter_card":
            self._count("manual_entries")
        self._close(data["incident"], told.at_ms, data["resolution"])

    def _close(self, number: int, at_ms: int, how: str) -> None:
        raised, code = self._open.pop(number, (at_ms, None))
        if code is not None:
            error = self._errors[code]
            error["open_ms"] += max(0, at_ms - raised)
            error["resolutions"][how] = error["resolutions"].get(how, 0) + 1
        self._lift(f"incident:{number}", at_ms)

    def _paused(self, told: Told, data: Json) -> None:
        self._hold(data["hold"], told.at_ms)

    def _resumed(self, told: Told, data: Json) -> None:
        self._lift(data["hold"], told.at_ms)

    def _hold(self, name: str, at_ms: int) -> None:
        self._count("holds")
        self._holds.setdefault(name, (at_ms, self._now()))

    def _lift(self, name: str, at_ms: int) -> None:
        since, tallies = self._holds.pop(name, (at_ms, []))
        for tally in tallies:
            tally.counts["hold_ms"] += max(0, at_ms - since)

    def _device_lost(self, told: Told, data: Json) -> None:
        self._device(data["device"], "losses")
        self._lost.setdefault(data["device"], told.at_ms)
        self._hold(f"device:{data['device']}", told.at_ms)

    def _device_restored(self, told: Told, data: Json) -> None:
        since = self._lost.pop(data["device"], told.at_ms)
        self._device(data["device"], "lost_ms", max(0, told.at_ms - since))
        self._lift(f"device:{data['device']}", told.at_ms)

    def _reported(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self._device(data["device"], "reports")

    def _repeated(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self._device("shoe", "repeated")

    def _out_of_game(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self._device("shoe", "out_of_game")

    def _nothing(self, told: Told, data: Json) -> None: ...


_FOLD: Final[dict[str, Callable[[Statistics, Told, Any], None]]] = {
    "table_started": Statistics._started,
    "shift_started": Statistics._shift_started,
    "shift_ended": Statistics._shift_ended,
    "dealer_logged_on": Statistics._logged_on,
    "dealer_logged_off": Statistics._logged_off,
    "shoe_loaded": Statistics._nothing,
    "betting_opened": Statistics._opened,
    "betting_closed": Statistics._nothing,
    "insurance_offered": Statistics._nothing,
    "decision_opened": Statistics._nothing,
    "dealer_peeked": Statistics._nothing,
    "round_result": Statistics._result,
    "result_corrected": Statistics._corrected,
    "round_voided": Statistics._voided,
    "shoe_voided": Statistics._voided,
    "table_reopened": Statistics._nothing,
    "incident_raised": Statistics._raised,
    "incident_resolved": Statistics._resolved,
    "incident_acknowledged": Statistics._nothing,
    "approval_given": Statistics._nothing,
    "approval_refused": Statistics._nothing,
    "manual_mode_changed": Statistics._nothing,
    "paused": Statistics._paused,
    "resumed": Statistics._resumed,
    "device_lost": Statistics._device_lost,
    "device_restored": Statistics._device_restored,
    "device_reported": Statistics._reported,
    "read_repeated": Statistics._repeated,
    "read_out_of_game": Statistics._out_of_game,
}
#: These come between two cards of one deal without delaying the next.
_DURING_A_DEAL: Final = frozenset(
    {"device_reported", "read_repeated", "manual_mode_changed", "incident_acknowledged"}
)
#: The types of facts that count.
TYPES: Final = frozenset(_FOLD) | _CARDS
