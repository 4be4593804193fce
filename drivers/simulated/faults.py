"""Faults by name: asked for one by one, or left to a seeded chance at every draw."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from random import Random
from typing import Final, NamedTuple

from drivers.tags import is_uid

DEFAULT_UNPLUG_S: Final = 2.0

_TAG_FAULTS: Final = {
    "no_read": "the tag is dead: the reader sees nothing, the card is on the felt",
    "two_tags": "two cards leave at once",
    "strange_tag": "[UID] the card has a tag of another deck; one that nobody knows if left out",
    "stuck": "the tag stays in the field until collect",
    "drop": "the reader's answers are lost while the card passes",
    "corrupt": "the first answer that names the tag has a wrong check",
    "split": "every byte is a write of its own",
    "unplug": "[SECONDS] the line is pulled; the card leaves unheard",
}

FAULTS: Final[Mapping[str, Mapping[str, str]]] = {
    "line": {
        "no_read": "the reader says NR; the card is on the felt",
        "corrupt": "one bit of the code flips, so that it is no code",
        "misread": "the code of another face is sent",
        "repeat": "the card is read twice within 50 ms",
        "two_cards": "two cards leave at once",
        "split": "every byte is a write of its own",
        "drop": "the card leaves and nothing is sent",
        "noise": "junk and a line end, then the card",
        "unplug": "[SECONDS] the line is pulled; the card leaves unheard",
        "half_line": "[SECONDS] half the code, then the line is pulled",
    },
    "angel": {
        "no_read": "error 1 (cannot read) until rescan_last",
        "bad_bcc": "all three copies of the card's telegram have a wrong check",
        "one_bad_bcc": "the first copy has a wrong check, the others are good",
        "gap": "the card's telegram is not sent, its number is used up",
        "power_cycle": "junk, S six times, and the hand so far is forgotten",
        "overdraw": "[discard|keep|ask] one card too many at the end of this hand; ask: the host decides",
        "no_standby": "no P after this hand",
        "split": "every byte is a write of its own",
        "noise": "junk, then the card",
        "unplug": "[SECONDS] the line is pulled; the card leaves unheard",
    },
    "ssi": {
        "no_read": "the scanner says NR; the card is on the felt",
        "corrupt": "the first copy has a wrong check; it comes again when the host refuses it",
        "lost": "all copies have a wrong check",
        "duplicate": "the scanner misses the host's answer and sends the packet again",
        "misread": "the code of another face is sent",
        "repeat": "the card is read twice within 50 ms",
        "two_cards": "two cards leave at once",
        "split": "every byte is a write of its own",
        "drop": "the card leaves and nothing is sent",
        "noise": "junk, then the card",
        "unplug": "[SECONDS] the line is pulled; the card leaves unheard",
        "half_packet": "[SECONDS] half the packet, then the line is pulled; it comes again afterwards",
    },
    "feig": _TAG_FAULTS,
    "rr3036": {
        **_TAG_FAULTS,
        "incomplete": "the reader cannot resolve what is in its field (0A)",
    },
    "replay": {
        "split": "every byte is a write of its own",
        "unplug": "[SECONDS] the line is pulled; what is played meanwhile goes unheard",
    },
}


class Fault(NamedTuple):
    """One fault at one draw."""

    name: str
    argument: str = ""

    @property
    def seconds(self) -> float:
        """How long the line stays away, for the faults that pull it."""
        return float(self.argument) if self.argument else DEFAULT_UNPLUG_S


class Rate(NamedTuple):
    """A fault that befalls a draw with this probability."""

    name: str
    probability: float


def parse_seconds(text: str) -> float:
    """Raises ``ValueError`` for what is no length of time."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{text!r} is no time in seconds, such as 2.5")
    return seconds


def _parse_choice(text: str) -> None:
    if text not in ("discard", "keep", "ask"):
        raise ValueError(f"{text!r}: give discard or keep, or ask for the host to decide")


def _parse_uid(text: str) -> None:
    if not is_uid(text):
        raise ValueError(f"{text!r} is no tag: give 16 upper-case hexadecimal digits that begin with E0")


_ARGUMENTS: Final[Mapping[str, Callable[[str], object]]] = {
    "unplug": parse_seconds,
    "half_line": parse_seconds,
    "half_packet": parse_seconds,
    "strange_tag": _parse_uid,
    "overdraw": _parse_choice,
}


def parse_fault(words: list[str], known: Collection[str]) -> Fault:
    """``NAME [ARGUMENT]``. Raises ``ValueError`` naming the known faults or what is wrong with the argument."""
    if not words:
        raise ValueError(f"give a fault: {', '.join(sorted(known))}")
    name, *arguments = words
    _check_name(name, known)
    if len(arguments) > (name in _ARGUMENTS):
        raise ValueError(f"fault {name} takes {'one argument' if name in _ARGUMENTS else 'no argument'}")
    for argument in arguments:
        _ARGUMENTS[name](argument)
    return Fault(name, *arguments)


def parse_rate(text: str, known: Collection[str]) -> Rate:
    """``NAME[:P]``, P from 0 to 1, 1 if left out. Raises ``ValueError`` naming the known faults."""
    name, colon, number = text.partition(":")
    _check_name(name, known)
    try:
        probability = float(number) if colon else 1.0
    except ValueError:
        probability = math.nan
    if not 0 <= probability <= 1:
        raise ValueError(f"fault {text!r}: the probability must be 0 to 1, such as {name}:0.05")
    return Rate(name, probability)


def _check_name(name: str, known: Collection[str]) -> None:
    if name not in known:
        raise ValueError(f"fault {name!r} is not known here: choose one of {', '.join(sorted(known))}")


class FaultPlan:
    """Which fault befalls the next draw. Asked-for ones come first, in order, one a draw."""

    def __init__(self, rates: Iterable[Rate], rng: Random) -> None:
        self._pending: deque[Fault] = deque()
        self._rates = tuple(rates)
        self._rng = rng
        # What damaged bytes look like must not change which draws are hit.
        self.wire = Random(hash(rng.getstate()))

    @property
    def pending(self) -> list[str]:
        """Names of those asked for and not yet befallen."""
        return [fault.name for fault in self._pending]

    def add(self, fault: Fault) -> None:
        """Let ``fault`` befall a draw."""
        self._pending.append(fault)

    def next(self) -> Fault | None:
        """The fault of the draw that happens now, if any."""
        # Every rate rolls at every draw, so that one rate's luck does not depend on the others.
        hits = [rate.name for rate in self._rates if self._rng.random() < rate.probability]
        if self._pending:
            return self._pending.popleft()
        return Fault(hits[0]) if hits else None
