"""Incidents: the misdeals M-01…M-35 by name, and which resolutions are legal for one at a moment."""

from __future__ import annotations

from typing import Final

import msgspec

TITLES: Final = {
    "M-01": "card drawn but not read",
    "M-02": "unread card noticed after the next was drawn",
    "M-03": "two sources disagree",
    "M-04": "two cards left the shoe together",
    "M-05": "card drawn before bets closed",
    "M-06": "card exposed before bets closed",
    "M-07": "burn card dealt into the round",
    "M-08": "extra card drawn",
    "M-09": "extra card drawn and exposed",
    "M-10": "card face up in the shoe",
    "M-11": "card at the wrong place",
    "M-12": "dealer skipped the own card",
    "M-13": "seat skipped or empty seat served",
    "M-14": "dealer drew on 17 or more",
    "M-15": "hole card exposed too early",
    "M-16": "dealer Blackjack missed",
    "M-17": "third card dealt to PLAYER when none is due",
    "M-18": "third card due but not dealt",
    "M-19": "third card dealt to BANKER when none is due",
    "M-20": "card pushed back into the shoe",
    "M-21": "cut card out of turn",
    "M-22": "wrong number of burned cards",
    "M-23": "table cleared before the result was confirmed",
    "M-24": "confirmation missing",
    "M-25": "card on the floor",
    "M-26": "more copies of a card than a shoe holds",
    "M-27": "shoe ran out of cards",
    "M-28": "cards missing at the end of the shoe",
    "M-29": "order of an old or unshuffled shoe",
    "M-30": "order of cards not proven",
    "M-31": "reader dead",
    "M-32": "wrong result found after settlement",
    "M-33": "dealing went on after a void",
    "M-34": "dealer not authorised",
    "M-35": "game server or stream lost",
    # A failed check of a face-down card: saying which check would tell something about its face.
    "hidden": "face-down card not accepted",
}

VOIDS: Final = ("void_round", "void_round_and_shoe")

#: What a person may report because no shoe can see it (procedures page 2.5).
REPORTABLE: Final = frozenset(
    {"M-03", "M-04", "M-06", "M-07", "M-09", "M-10", "M-11", "M-12", "M-13", "M-15", "M-20", "M-23", "M-25", "M-29"}
)
#: A report may say more about an open incident: its card was exposed, or lay face up in the shoe.
BECOMES: Final = {"M-06": ("M-05",), "M-09": ("M-08",), "M-10": ("M-01", "M-05", "M-08")}
#: Misdeals of place: policy decides.
MISPLACED: Final = frozenset({"M-11", "M-12", "M-13"})
#: Reports about the card that was dealt last.
ABOUT_THE_LAST: Final = frozenset({"M-03", *MISPLACED})
#: What should have been, in words.
EXPECTED: Final = {
    "M-03": "the card on the felt as recorded",
    "M-04": "one card at a time",
    "M-06": "no card face up before bets are closed",
    "M-07": "a burn before the first card of a round",
    "M-09": "no card face up beyond those due",
    "M-10": "cards face down in the shoe",
    "M-11": "each card at its place",
    "M-12": "the dealer's own card in its turn",
    "M-13": "a card for each occupied seat and for no other",
    "M-15": "the hole card face down until its reveal",
    "M-20": "cards leave the shoe",
    "M-23": "cards on the felt until the result is confirmed",
    "M-25": "every card in the shoe, on the felt or in the discard holder",
    "M-29": "a shuffled shoe",
}

#: Resolutions by code, before the moment is taken into account. Not listed: only the voids.
_BY_CODE: Final = {
    "M-01": ("rescan", "enter_card"),
    "M-02": ("use_as_next",),  # it is the unread card itself, read after all
    "M-04": ("resume",),  # a person saw the order; a reader that holds two cards cannot tell it
    "M-05": ("burn_card", "use_as_next"),
    "M-06": ("burn_card", "resume"),
    "M-07": ("resume",),
    "M-08": ("burn_card", "use_as_next"),
    "M-09": ("burn_card", "use_as_next"),
    "M-10": ("burn_card", "resume"),
    "M-17": ("burn_card",),
    "M-19": ("burn_card", "use_as_next"),
    "M-14": ("burn_card",),
    "M-15": ("resume",),
    "M-18": ("resume",),
    "M-20": ("resume",),
    "M-21": ("resume",),
    "M-22": ("burn_card",),
    "M-23": ("rescan", "resume"),
    "M-24": ("resume",),
    "M-25": ("resume",),
    "M-28": ("resume",),
    "M-29": ("resume",),
    "M-30": ("resume", "rescan"),
    "M-34": ("resume",),
    "hidden": ("rescan", "enter_card"),
}
#: A wrong place, by ``position_error_policy``.
_BY_POLICY: Final = {"leave_and_compensate": ("reassign", "resume"), "reassign": ("resume",), "void": ()}


class Incident(msgspec.Struct, frozen=True):
    """An open incident as the table keeps it. ``code`` is public, ``cause`` the true one, ``cards`` secret."""

    id: int
    code: str
    cause: str
    cards: tuple[str, ...]
    position: str | None
    resolutions: tuple[str, ...]

    @property
    def unread(self) -> bool:
        """The card lies at its place but was not accepted; reading it again may settle it."""
        return self.cause.startswith("M-01") or self.code == "hidden"


def legal(
    code: str,
    *,
    has_card: bool,
    round_open: bool,
    has_shoe: bool,
    policy: str = "leave_and_compensate",
    reshuffle: bool = False,
    also: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """The resolutions a supervisor may choose from.

    ``has_card``: there is a card in hand to burn or to keep. ``round_open``: a round is in progress and can be
    voided. ``has_shoe``: there is a shoe to void. ``policy``: what becomes of a card at the wrong place.
    ``reshuffle``: a void takes the shoe out as well (ERR-04, ERR-10). ``also``: what this moment allows besides.
    """
    known = _BY_POLICY[policy] if code in MISPLACED else _BY_CODE.get(code, ())
    found = [r for r in known if has_card or r not in ("burn_card", "use_as_next", "enter_card")] + list(also)
    if code in ("M-04", "M-06", "M-10") and has_card and "resume" in found:  # a card in hand must go somewhere
        found.remove("resume")
    if code == "M-30" and has_card:  # a card at a place that is not due is no card of the record
        found.remove("rescan")
    if code == "M-28":  # the shoe is over: a person answers for it, or counts again
        return ("resume",)
    if code == "M-26":  # the composition of the shoe is broken: nothing from it may be played
        return ("void_round_and_shoe",)
    if round_open and not reshuffle:
        found.append("void_round")
    if has_shoe:
        found.append("void_round_and_shoe")
    return tuple(found) or ("resume",)  # between rounds, without a card in hand, nothing else is left to do
