"""The antenna at a shoe's mouth: from "tags in the field" to "a card left the shoe". Pure: no I/O, no clock.

The antenna sits at the exit and reaches the card that is being pulled, not the cards in the shoe nor the felt. So:

* A card is drawn when its tag is first seen. It stays the same card until it was out of the field for ``leave_s``.
* Two tags in the field at once, or one that comes before the one before it has been gone for ``leave_s``, mean cards
  pulled together. Which came first is not known: a tag further away, or covered by another, is seen later. No order
  is guessed (``TagsTogether``).
* An answer that says there is more than it names counts for nothing; if no single tag is named by the time the
  field is empty, a card passed unread (``NoRead``).
* A tag leaves a shoe once until ``new_shoe``.

How far an antenna reaches is the installation's business; that two pulls are never closer than ``LEAVE_S`` is taken
over from card readers of shoes and was not seen on RFID hardware.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from controller.cards import CUT, HIDDEN
from drivers.events import (
    CardDrawn,
    CutCard,
    Event,
    NoRead,
    TagForeign,
    TagRepeated,
    TagsTogether,
    TagUnknown,
)
from drivers.tags import Shoes

# A pull takes longer; a tag at the edge of the field is missed for one or two polls of 50 ms.
LEAVE_S: Final = 0.3

# One unreadable answer is a tag on its way in; two are a card. One that stays is told while it stays.
BLURRED_ANSWERS: Final = 2
BLURRED_S: Final = 1.0


class Sighting(NamedTuple):
    """One answer of the reader: the tags it names, and why it is not the whole truth (``blur``), if it is not."""

    uids: tuple[str, ...]
    blur: str | None = None


class Mouth:
    """What is at the mouth, and which tags have left the shoe.

    ``leave_s`` None (a capture without times) takes a tag as gone when one answer does not name it. The shoe in use
    is the one whose registry has the first tag seen after ``new_shoe``; tags of the others are foreign then.
    """

    def __init__(self, shoes: Shoes, leave_s: float | None = LEAVE_S) -> None:
        self._shoes = shoes
        self._leave_s = leave_s
        self._present: dict[str, float] = {}
        self._gone: set[str] = set()
        self._shoe: str | None = None
        self._hold_present = False
        self._blur: str | None = None
        self._blur_answers = 0
        self._blur_since = 0.0
        self._blur_last = 0.0
        self._blur_told = False

    @property
    def timed(self) -> bool:
        """False for a capture without times."""
        return self._leave_s is not None

    @property
    def present(self) -> frozenset[str]:
        """Tags in the field by the latest answer, and those not yet gone for ``leave_s``."""
        return frozenset(self._present)

    def new_shoe(self, gone: Collection[str] = ()) -> None:
        """Other cards are in the shoe: all tags but ``gone`` may leave it again. Those, or else the next one, tell
        which shoe it is."""
        self._gone = set(gone)
        owners = {owner.shoe for owner in map(self._shoes.find, gone) if owner is not None}
        self._shoe = owners.pop() if len(owners) == 1 else None

    def interrupted(self) -> None:
        """Nothing was heard for a while: what lies at the mouth when answers come again may have lain there."""
        self._hold_present = True

    def see(self, sighting: Sighting, now: float) -> list[Event]:
        """What the answer means that came at ``now`` (monotonic seconds)."""
        self._forget(sighting, now)
        if sighting.blur is not None:
            return self._blurred(sighting.blur, now)
        fresh = sorted(uid for uid in set(sighting.uids) if uid not in self._present)
        beside = sorted(self._present)
        for uid in sighting.uids:
            self._present[uid] = now
        if not fresh:
            return self._unblur(now)
        self._end_blur()
        if len(fresh) + len(beside) == 1:
            return [self._left(fresh[0])]
        return [self._together(fresh, beside)]

    def end(self) -> list[Event]:
        """No more answers come: tells of a card that passed unread up to here."""
        told = self._unread()
        self._end_blur()
        return told

    def _forget(self, sighting: Sighting, now: float) -> None:
        """Forget the tags that have been gone for long enough. While no answer comes, none goes."""
        if self._hold_present:
            self._hold_present = False
            self._present = {uid: now for uid in self._present if uid in sighting.uids}
            return
        if sighting.blur is not None:
            for uid in self._present.keys() & set(sighting.uids):
                self._present[uid] = now
        if self._leave_s is None:
            named = set(sighting.uids) if sighting.blur is None else set(self._present)
            self._present = {uid: at for uid, at in self._present.items() if uid in named}
        else:
            limit = now - self._leave_s
            self._present = {uid: at for uid, at in self._present.items() if at > limit or uid in sighting.uids}

    def _left(self, uid: str) -> Event:
        """A single tag left the shoe."""
        owner = self._shoes.find(uid)
        if owner is None:
            return TagUnknown("tag in no registry", uid)
        if self._shoe is None:
            self._shoe = owner.shoe
        if owner.shoe != self._shoe:
            return TagForeign("tag of another shoe", uid, owner.card, owner.shoe)
        if uid in self._gone:
            return TagRepeated("tag that left before", uid, owner.card)
        self._gone.add(uid)
        return CutCard(uid) if owner.card == CUT else CardDrawn(owner.card, tag=uid)

    def _together(self, fresh: list[str], beside: list[str]) -> Event:
        """Several tags: all of them have left, in no order."""
        owners = {owner.shoe for owner in map(self._shoes.find, fresh) if owner is not None}
        if self._shoe is None and len(owners) == 1:
            self._shoe = owners.pop()
        known = tuple(uid for uid in fresh if self._face(uid) != HIDDEN)
        self._gone.update(known)
        told, there = (tuple(sorted(map(self._face, uids))) for uids in (fresh, beside))
        return TagsTogether("tags together", told, there, known)

    def _face(self, uid: str) -> str:
        """The card of a tag of this shoe."""
        owner = self._shoes.find(uid)
        return owner.card if owner is not None and owner.shoe == self._shoe else HIDDEN

    def _blurred(self, why: str, now: float) -> list[Event]:
        if self._blur is None:
            self._blur_since = now
        self._blur, self._blur_last = why, now
        self._blur_answers += 1
        return self._unread() if now - self._blur_since >= BLURRED_S else []

    def _unblur(self, now: float) -> list[Event]:
        """A clear answer without a new tag: an unread card has left when that was so for long enough."""
        if self._blur is None or now - self._blur_last < (self._leave_s or 0.0):
            return []
        return self.end()

    def _unread(self) -> list[Event]:
        if self._blur is None or self._blur_told or self._blur_answers < BLURRED_ANSWERS:
            return []
        self._blur_told = True
        return [NoRead(self._blur)]

    def _end_blur(self) -> None:
        self._blur, self._blur_answers, self._blur_told = None, 0, False
