"""What can be injected into a soak, by name, and what became of each injection.

A fault has a chance at every one of its opportunities. All chances of one session are drawn from one seed; each kind
has a stream of its own, so that leaving one kind out moves no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal

import msgspec

When = Literal["draw", "turn", "commit", "dealer", "order", "sight"]
PROTOCOLS: Final = ("line", "ssi", "feig", "angel")
_TALKERS: Final = ("line", "ssi", "angel")
_SCANNERS: Final = ("line", "ssi")


@dataclass(frozen=True)
class Kind:
    """One kind of fault. ``chance`` at each opportunity ``when``; ``misdeals`` it stands for (procedures 2.5)."""

    name: str
    when: When
    chance: float
    meaning: str
    misdeals: tuple[str, ...] = ()
    protocols: tuple[str, ...] = PROTOCOLS
    camera: bool = False  # only where a camera looks


def _wire(name: str, meaning: str, chance: float = 0.004, protocols: tuple[str, ...] = _TALKERS) -> Kind:
    return Kind(name, "draw", chance, meaning, (), protocols)


KINDS: Final = (
    # bytes on their way
    _wire("split", "every byte comes in a read of its own", protocols=PROTOCOLS),
    _wire("merge", "all that one card brings comes in one read"),
    _wire("drop", "bytes of a message, or all of a line shoe's, are lost", protocols=PROTOCOLS),
    _wire("corrupt", "one bit of a message flips", protocols=PROTOCOLS),
    _wire("duplicate", "every write comes twice"),
    _wire("reorder", "two neighbouring writes change places"),
    _wire("delay", "half a second passes in the middle of a message"),
    _wire("babble", "400 random bytes before and after a message", 0.003),
    _wire("noise", "the junk of a power-on before a message"),
    _wire("stuck", "the last message is said again for two seconds", 0.002),
    # the device
    Kind("unplug", "draw", 0.003, "the line is pulled out while a card passes", ("M-30", "M-31")),
    Kind("no_read", "draw", 0.006, "the reader cannot read the card", ("M-01",)),
    Kind("misread", "draw", 0.007, "the reader names another card", ("M-03",), _SCANNERS),
    Kind("repeat", "draw", 0.004, "the card is read twice within 50 ms", (), _SCANNERS),
    Kind("two_cards", "draw", 0.003, "two cards leave together", ("M-04",), _SCANNERS),
    Kind("two_tags", "draw", 0.012, "two cards leave together", ("M-04",), ("feig",)),
    Kind("half", "draw", 0.003, "half a message, then the line is pulled", ("M-31",), _SCANNERS),
    Kind("lost", "draw", 0.006, "every copy of the message has a wrong check", (), ("ssi", "angel")),
    Kind("copy_lost", "draw", 0.006, "one copy of the message has a wrong check", (), ("ssi", "angel")),
    Kind("gap", "draw", 0.020, "a telegram is not sent, its number is used", ("M-30",), ("angel",)),
    Kind("power_cycle", "draw", 0.020, "the shoe boots and forgets its hand", ("M-30",), ("angel",)),
    Kind("overdraw", "draw", 0.025, "a card too many at the end of the hand", ("M-17", "M-19"), ("angel",)),
    Kind("no_standby", "draw", 0.020, "the shoe does not close its hand", ("M-24",), ("angel",)),
    Kind("strange_tag", "draw", 0.012, "a card of another deck is in the shoe", ("M-26",), ("feig",)),
    Kind("stuck_tag", "draw", 0.010, "the tag stays at the mouth", ("M-20",), ("feig",)),
    # hands of the dealer
    Kind("draws_early", "dealer", 0.010, "a card is drawn while bets are open", ("M-05", "M-06")),
    Kind("draws_in_window", "dealer", 0.008, "a card is drawn while players decide", ("M-08", "M-09")),
    Kind("draws_after_result", "dealer", 0.015, "a card too many after the last", ("M-08", "M-14", "M-17", "M-19")),
    Kind("burns_too_many", "dealer", 0.200, "one card too many is burned", ("M-22",)),
    Kind("forgets_burn", "dealer", 0.050, "betting is opened before the burn is complete", ("M-22",)),
    Kind("draws_on", "dealer", 0.300, "after a misscan the next card is drawn", ("M-02",)),
    Kind("pushes_back", "dealer", 0.003, "a card is pushed back into the shoe", ("M-20",)),
    Kind("shows_again", "dealer", 0.003, "a card already read passes the reader again", (), ("line", "ssi", "feig")),
    Kind("draws_while_held", "dealer", 0.100, "a card is drawn although the table is held"),
    Kind("draws_when_void", "dealer", 0.150, "dealing goes on after a void", ("M-33",)),
    Kind("clears_early", "dealer", 0.002, "the table is cleared before the result", ("M-23",)),
    Kind("waits", "dealer", 0.004, "the dealer waits until every deadline has passed", ("M-18", "M-24")),
    Kind("reports", "dealer", 0.003, "a misdeal that no device sees is reported", ("M-11", "M-12", "M-13", "M-25")),
    Kind("no_log_on", "dealer", 0.200, "cards are drawn before the dealer is logged on", ("M-34",)),
    Kind("forgets_confirm", "dealer", 0.050, "the result is not confirmed", ("M-24",)),
    Kind("finds_hole", "dealer", 0.900, "the hole card is found to be another than was read", ("M-03", "M-16")),
    Kind("miscounts", "dealer", 0.150, "the cards left in the old shoe are counted wrongly", ("M-28",)),
    Kind("draws_when_down", "dealer", 0.300, "a card is drawn while the table is off", ("M-30",)),
    # the shoe as it was made up
    Kind("ninth_copy", "dealer", 0.150, "the shoe holds a card nine times", ("M-26",), _SCANNERS),
    Kind("card_missing", "dealer", 0.100, "a card is missing from the shoe", ("M-28",)),
    Kind("no_cut_card", "dealer", 0.100, "the cut card is missing", ("M-21", "M-27")),
    Kind("cut_first", "dealer", 0.120, "the cut card lies near the top", ("M-21",)),
    # the camera, where it is the second source
    Kind("seen_wrong", "sight", 0.004, "the camera takes a card for another", ("M-03",), camera=True),
    Kind("seen_alike", "dealer", 0.300, "the camera takes a misread card for the same wrong one", camera=True),
    Kind("unreadable", "sight", 0.004, "the camera cannot read a card, for a while", ("M-03",), camera=True),
    Kind("not_seen", "sight", 0.003, "the camera does not see a card", ("M-03",), camera=True),
    Kind("seen_late", "sight", 0.006, "the camera sees a card late", (), camera=True),
    Kind("covered", "sight", 0.004, "a card is covered for a while", ("M-23",), camera=True),
    Kind("lays_wrong", "dealer", 0.003, "a card is laid at a wrong place", ("M-11",), camera=True),
    Kind("opens_hole", "dealer", 0.015, "the hole card lies face up too early", ("M-15",), camera=True),
    Kind("camera_lost", "turn", 0.002, "the camera cannot be believed, for a while", (), camera=True),
    # process and disk
    Kind("kill", "turn", 0.003, "the process dies between two inputs", ("M-30",)),
    Kind("kill_before_commit", "commit", 0.0015, "the process dies before the commit", ("M-30",)),
    Kind("kill_after_commit", "commit", 0.0015, "the process dies after the commit, no frame sent", ("M-30",)),
    Kind("disk_full", "commit", 0.0010, "the disk is full at a commit"),
    Kind("disk_error", "commit", 0.0010, "the disk fails at a commit"),
    Kind("slow_disk", "commit", 0.0020, "a commit takes seconds"),
    Kind("clock_step", "turn", 0.003, "the wall clock jumps by up to an hour"),
    # people and the game server
    Kind("server_lost", "order", 0.010, "the game server is silent for a window", ("M-35",)),
    Kind("repeated_order", "order", 0.010, "a command is sent twice"),
    Kind("late_order", "order", 0.010, "a command comes when its window is over"),
    Kind("wrong_order", "order", 0.010, "a command with arguments that make no sense"),
    Kind("stale_order", "turn", 0.004, "a supervisor acts on an old screen"),
    Kind("resumes_early", "order", 0.02, "a supervisor resumes although an incident is open"),
    Kind("pause", "turn", 0.006, "a supervisor pauses the table"),
    Kind("void", "turn", 0.002, "a supervisor voids the round", ("M-25",)),
    Kind("void_shoe", "turn", 0.0015, "a supervisor voids round and shoe", ("M-22", "M-29")),
    Kind("reviewed", "order", 0.700, "a wrong result is found later and corrected by two people", ("M-16", "M-32")),
    Kind("unplug_idle", "turn", 0.002, "the line is pulled out while no card passes", ("M-31",)),
)  # fmt: skip
BY_NAME: Final = {kind.name: kind for kind in KINDS}


#: Kinds that can bring a wrong card by themselves where no second source looks.
UNSEEN: Final = frozenset({
    "drop", "corrupt", "reorder", "babble", "misread", "no_read", "two_cards", "lost", "gap", "draws_on",
    "pushes_back", "shows_again", "draws_while_held", "seen_alike",
})  # fmt: skip


class Count(msgspec.Struct):
    """What became of one kind. Every injection ends corrected, voided, harmless or missed.

    ``chances``: opportunities it had. ``detected``: an incident, a hold or a loss followed in its round.
    ``unseen``: wrong cards it brought into results without evidence in any source (shoe-only by construction).
    """

    chances: int = 0
    injected: int = 0
    detected: int = 0
    corrected: int = 0
    voided: int = 0
    harmless: int = 0
    missed: int = 0
    unseen: int = 0

    def add(self, other: Count) -> None:
        """Add another session's."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Case:
    """One injection in the round or break in progress."""

    kind: str
    detected: bool = False


@dataclass
class Injector:
    """Decides what befalls, and counts. ``only``: names of the kinds that may; ``muted`` ones draw but do nothing."""

    seed: str
    only: Iterable[str] = ()
    muted: frozenset[str] = frozenset()
    protocol: str = "line"
    camera: bool = False
    counts: dict[str, Count] = field(default_factory=dict)
    open: list[Case] = field(default_factory=list)

    def __post_init__(self) -> None:
        kinds = [BY_NAME[name] for name in self.only]
        chosen = [kind for kind in kinds if self.protocol in kind.protocols and (self.camera or not kind.camera)]
        self._streams = {kind.name: Random(f"{self.seed}/{kind.name}") for kind in chosen}
        self._kinds: dict[str, list[tuple[str, float, Callable[[], float]]]] = {}
        self._asked: dict[str, int] = {}
        for kind in chosen:
            self.counts[kind.name] = Count()
            drawing = (kind.name, kind.chance, self._streams[kind.name].random)
            self._kinds.setdefault(kind.when, []).append(drawing)

    @property
    def any(self) -> bool:
        """Something may be injected at all."""
        return bool(self._streams)

    def one_of(self, when: When) -> str | None:
        """The kind that befalls an opportunity that many kinds share, if any."""
        found = None
        self._asked[when] = self._asked.get(when, 0) + 1
        for name, chance, draw in self._kinds.get(when, ()):
            if draw() < chance and found is None and name not in self.muted:
                found = name
        if found is not None:
            self._inject(found)
        return found

    def close(self) -> None:
        """Count the opportunities that many kinds shared."""
        for when, count in self._asked.items():
            for name, _, _ in self._kinds.get(when, ()):
                self.counts[name].chances += count
        self._asked.clear()

    def befalls(self, name: str) -> bool:
        """The kind ``name`` befalls this opportunity of its own."""
        stream = self._streams.get(name)
        if stream is None:
            return False
        self.counts[name].chances += 1
        if stream.random() >= BY_NAME[name].chance or name in self.muted:
            return False
        self._inject(name)
        return True

    def _inject(self, name: str) -> None:
        self.counts[name].injected += 1
        self.open.append(Case(name))

    def trace(self) -> None:
        """The table showed that something is wrong: so much for whatever is under way."""
        for case in self.open:
            case.detected = True

    def ended(self, how: Literal["corrected", "voided", "missed"], blamed: frozenset[str] = frozenset()) -> None:
        """The round in progress ended; ``blamed`` kinds brought the wrong cards of a ``missed`` one."""
        for case in self.open:
            count = self.counts[case.kind]
            count.detected += case.detected
            if how == "missed" and case.kind in (blamed & UNSEEN or blamed):
                count.unseen += 1
            elif how == "voided":
                count.voided += 1
            elif case.detected:
                count.corrected += 1
            else:
                count.harmless += 1
        self.open.clear()


def names(text: str) -> tuple[str, ...]:
    """``all``, ``none``, or names with commas. Raises ``ValueError`` naming those that exist."""
    if text in ("none", ""):
        return ()
    if text == "all":
        return tuple(BY_NAME)
    found = tuple(part.strip() for part in text.split(","))
    for name in found:
        if name not in BY_NAME:
            raise ValueError(f"fault {name!r} is not known: give all, none or some of {', '.join(BY_NAME)}")
    return found


def added(totals: Mapping[str, Count], more: Mapping[str, Count]) -> dict[str, Count]:
    """The sums of two sets of counts."""
    found = {name: Count() for name in (*totals, *more)}
    for counts in (totals, more):
        for name, count in counts.items():
            found[name].add(count)
    return found
