"""A shoe's self-test: all its cards past the reader, and what that says of reader and cards. Pure: no port, no file.

What a card was in truth nobody tells, unless the order was written down before (``truth``). So misread cards show by
the composition: eight of each face left the shoe, and one of too many stands for one of too few.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from controller.cards import DECKS, FACES, HIDDEN, SHOE_SIZE
from drivers.decoder import DecoderStats
from drivers.events import (
    CardDrawn,
    CardReused,
    CardRevealed,
    CutCard,
    ErrorRaised,
    Event,
    Gap,
    NoRead,
    OutOfGame,
    OverdrawnDiscarded,
    PortLost,
    Repeated,
    TagForeign,
    TagRepeated,
    TagsTogether,
    TagUnknown,
    UnknownCode,
)
from drivers.self_test import Check

#: Angel Eye errors that mean a card was not read.
UNREAD_ERRORS: Final = frozenset({1, 6})
#: Fewer cards say nothing about how they were shuffled.
ORDER_CARDS: Final = 52
#: A count this many standard deviations above what a shuffle brings is none: about one test in a million.
ORDER_SIGMAS: Final = 6.0

_RANK: Final = {face: n for n, face in enumerate(FACES)}


class ShoeTest:
    """Takes what a driver tells and judges it. ``expected`` cards are in the shoe; ``tags`` is of RFID readers."""

    def __init__(self, expected: int, *, tags: bool = False, truth: Sequence[str] | None = None) -> None:
        self._expected = expected
        self._tags = tags
        self._truth = truth
        self._faces: list[str] = []
        self._open: dict[tuple[str, int], int] = {}  # places of this hand whose face is still to be told
        self._overdrawn: int | None = None
        self._counts: Counter[str] = Counter()
        self._told_ms: list[float] = []
        self._apart_ms: list[float] = []
        self._last_ns: int | None = None
        self._lost: list[str] = []

    @property
    def cards(self) -> int:
        """Cards that left the shoe, read or not."""
        return len(self._faces)

    @property
    def waits(self) -> bool:
        """Faces are still to be told."""
        return bool(self._open) or self._overdrawn is not None

    @property
    def complete(self) -> bool:
        """As many cards left as are in the shoe."""
        return self.cards >= self._expected

    def take(self, event: Event, received_ns: int, told_ns: int) -> None:
        """Take in what the driver told at ``told_ns`` of bytes it read at ``received_ns`` (both monotonic)."""
        before = self.cards
        self._event(event)
        if self.cards > before:
            self._told_ms.append((told_ns - received_ns) / 1e6)
            if self._last_ns is not None:
                self._apart_ms.append((received_ns - self._last_ns) / 1e6)
            self._last_ns = received_ns

    def _event(self, event: Event) -> None:
        match event:
            case CardDrawn(card, target, index):
                self._drawn(card, target, index)
            case CardReused(card, target, index):
                self._reused(card, target, index)
            case CardRevealed(card, target, index):
                at = self._open.pop((target, index), None)
                if at is not None:
                    self._faces[at] = card
            case OutOfGame(card):
                self._faces.append(card)
                self._counts["over-drawn"] += 1
                self._overdrawn = self.cards - 1 if card == HIDDEN else None
            case OverdrawnDiscarded(card):
                if self._overdrawn is None:
                    self._faces.append(card)
                else:
                    self._faces[self._overdrawn], self._overdrawn = card, None
            case _:
                self._other(event)

    def _drawn(self, card: str, target: str | None, index: int | None) -> None:
        if (target, index) == ("player", 1):
            self._open.clear()  # another hand: what was not shown of the last one stays unknown
        self._faces.append(card)
        if card == HIDDEN and target is not None and index is not None:
            self._open[target, index] = self.cards - 1

    def _reused(self, card: str, target: str, index: int) -> None:
        """The over-drawn card, counted when it left, is the first of this hand."""
        self._open.clear()
        at, self._overdrawn = self._overdrawn, None
        if at is None:
            self._faces.append(HIDDEN)
            at = self.cards - 1
        self._faces[at] = card
        if card == HIDDEN:
            self._open[target, index] = at

    def _other(self, event: Event) -> None:
        counts = self._counts
        match event:
            case TagsTogether(cards=cards):
                counts["tags together"] += 1
                self._faces += cards
            case TagUnknown() | TagForeign():
                counts["foreign tags"] += 1
                self._faces.append(HIDDEN)
            case TagRepeated():
                counts["tags twice"] += 1
            case NoRead() | UnknownCode():
                counts["unread"] += 1
                self._faces.append(HIDDEN)
            case ErrorRaised(code):
                # The card is still in the shoe, and is drawn again.
                counts["unread again" if code in UNREAD_ERRORS else "shoe errors"] += 1
            case Repeated():
                counts["repeats"] += 1
            case Gap():
                counts["gaps"] += 1
            case CutCard():
                counts["cut cards"] += 1
            case PortLost(reason=reason):
                self._lost.append(reason)

    def checks(self, stats: DecoderStats) -> tuple[Check, ...]:
        """The verdicts, each in words for the technician; ``stats`` are the decoder's counters at the end."""
        checks = [self._line(stats), self._count(), self._unread(), self._composition()]
        if self._truth is not None:
            checks.append(self._misread(self._truth))
        if self._tags:
            checks.append(self._unique())
        if len(self._known()) >= ORDER_CARDS:
            checks.append(self._order())
        return tuple(checks)

    def figures(self, stats: DecoderStats) -> dict[str, float]:
        """Counts, and times in milliseconds."""
        found: dict[str, float] = {"cards": self.cards, "hidden": self._faces.count(HIDDEN)}
        found |= {name.replace(" ", "_"): count for name, count in sorted(self._counts.items())}
        found |= {"bad_checksum": stats.bad_checksum, "junk_bytes": stats.junk_bytes, "duplicates": stats.duplicates}
        for name, values in (("told_ms", self._told_ms), ("apart_ms", self._apart_ms)):
            if values:
                ordered = sorted(values)
                for label, share in (("median", 0.5), ("p95", 0.95), ("p99", 0.99), ("worst", 1.0)):
                    found[f"{name}_{label}"] = round(ordered[max(0, math.ceil(share * len(ordered)) - 1)], 3)
        return found

    def order(self) -> str:
        """A digest of the cards in their order; empty if one is not known or they are few."""
        if self.cards < ORDER_CARDS or HIDDEN in self._faces:
            return ""
        return hashlib.sha256(" ".join(self._faces).encode()).hexdigest()

    def _known(self) -> list[str]:
        return [face for face in self._faces if face != HIDDEN]

    def _line(self, stats: DecoderStats) -> Check:
        parts = [f"the line was lost: {reason}" for reason in self._lost]
        if self._counts["gaps"]:
            parts.append(f"{self._counts['gaps']} times messages are missing")
        if stats.bad_checksum:
            parts.append(f"{stats.bad_checksum} messages came damaged: cable, speed, parity, interference")
        return Check("line", not parts, "; ".join(parts) or f"{stats.accepted} messages, none damaged or missing")

    def _count(self) -> Check:
        text = f"{self.cards} of {self._expected} cards left the shoe"
        if self.cards < self._expected and self._counts["repeats"]:
            text += f"; {self._counts['repeats']} readings were taken for repeats: draw no faster than two a second"
        return Check("count", self.cards == self._expected, text)

    def _unread(self) -> Check:
        unread = self._counts["unread"]
        again = self._counts["unread again"]
        text = f"{unread} cards left unread" + (f", {again} were read at the second try" if again else "")
        return Check("unread", unread + again == 0, text)

    def _composition(self) -> Check:
        counts = Counter(self._known())
        over = {face: n for face, n in counts.items() if n > DECKS}
        parts = [f"{n} of {face}" for face, n in sorted(over.items())]
        hidden = self._faces.count(HIDDEN)
        if self._expected < SHOE_SIZE:
            text = f"too many: {', '.join(parts)}" if parts else f"no face more than {DECKS} times"
            return Check("composition", not parts, _with_hidden(text, hidden))
        short = {face: counts[face] for face in FACES if counts[face] < DECKS}
        if not over and not short:
            return Check("composition", True, f"{DECKS} of each face")
        if not over and sum(DECKS - n for n in short.values()) == hidden:
            return Check(
                "composition", True, _with_hidden(f"{DECKS} of each face, as far as faces were told", hidden)
            )
        parts += [f"{n} of {face}" for face, n in short.items()]
        more = f" and {len(parts) - 8} more" if len(parts) > 8 else ""
        return Check("composition", False, _with_hidden(f"not {DECKS}: {', '.join(parts[:8])}{more}", hidden))

    def _misread(self, truth: Sequence[str]) -> Check:
        pairs = enumerate(zip(self._faces, truth, strict=False), 1)
        wrong = [f"card {n}: {told} for {true}" for n, (told, true) in pairs if told not in (true, HIDDEN)]
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        return Check("misread", not wrong, f"{len(wrong)} misread: {', '.join(wrong[:5])}{more}" if wrong else "none")

    def _unique(self) -> Check:
        names = ("tags twice", "foreign tags", "tags together")
        parts = [f"{self._counts[name]} {name}" for name in names if self._counts[name]]
        return Check("tags", not parts, ", ".join(parts) or "each tag of this shoe, once and alone")

    def _order(self) -> Check:
        """A shuffle leaves few neighbours in the order of a new deck, few pairs, and no deck like the one before."""
        faces = self._faces
        steps = sum((_RANK[b] - _RANK[a]) % 52 in (1, 51) for a, b in pairwise(faces) if HIDDEN not in (a, b))
        same = sum(a == b != HIDDEN for a, b in pairwise(faces))
        period = sum(a == b != HIDDEN for a, b in zip(faces, faces[52:], strict=False))
        twin = (DECKS - 1) / (SHOE_SIZE - 1)
        neighbour = 2 * DECKS / (SHOE_SIZE - 1)
        found = [
            f"{count} {what}, where a shuffle brings about {share * pairs:.0f}"
            for count, share, pairs, what in (
                (steps, neighbour, len(faces) - 1, "neighbours lie as in a new deck"),
                (same, twin, len(faces) - 1, "neighbours are equal"),
                (period, twin, max(0, len(faces) - 52), "cards equal the one 52 before"),
            )
            if count > share * pairs + ORDER_SIGMAS * math.sqrt(max(1.0, share * pairs))
        ]
        return Check("order", not found, "; ".join(found) or "as of shuffled cards")


def _with_hidden(text: str, hidden: int) -> str:
    return f"{text}; {hidden} faces were never told" if hidden else text
