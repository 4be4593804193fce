"""A draft: the state while one input is decided. Facts are emitted into it; nothing else changes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from controller import facts as f
from controller.book.classic import ClassicBook
from controller.book.setting import BookSetting
from controller.cards import HIDDEN
from controller.rules import PROCEDURES
from controller.rules.blackjack import HOLE
from controller.rules.options import GameOptions
from controller.rules.round import RoundCard
from controller.rules.scores import burn_count
from controller.rules.steps import Step
from controller.table import incidents
from controller.table.commitments import commit, derive_key
from controller.table.fold import Fold
from controller.table.state import DEAL_PHASES, TableState, Traits


@dataclass(frozen=True, slots=True)
class Setting:
    """What does not change while a table runs: its id, rules and the shoe's traits."""

    table: str
    rules: GameOptions
    traits: Traits = field(default_factory=Traits)
    book: BookSetting | None = None
    #: Which sources must agree before a card counts, and for how long they may differ.
    sources: Literal["shoe", "camera", "both"] = "shoe"
    confirm_within_ms: int = 3000
    #: Keys the hashes of earlier shoes' orders.
    salt: str = ""


class Draft:
    """A copy of the table's state that collects facts. ``now`` is monotonic ms. ``known_step``: the next step of
    ``state``, if somebody found it before."""

    def __init__(
        self,
        setting: Setting,
        state: TableState,
        fold: Fold,
        now: int,
        entropy: bytes,
        known_step: Step | None = None,
    ) -> None:
        self.setting = setting
        self.state = state.copy()
        self.records: list[f.Record] = []
        self.now = now
        self.procedure = PROCEDURES[setting.rules.game]
        self._fold = fold
        self._entropy = entropy
        self._keys_used = 0
        self.reply: dict[str, Any] = {}
        self.spent: frozenset[str] = frozenset()  # see ``CommandInput``
        #: What ``next_step`` found, as long as no fact came after it.
        self.known_step = known_step

    def emit(self, fact: f.Fact) -> None:
        """Accept ``fact``: apply it and keep it for the journal."""
        if type(fact) is not f.StepOpened:  # it says what is known
            self.known_step = None
        self.records.append(self._fold.apply(self.state, fact, self.now))

    # --- steps ---------------------------------------------------------------------------------------------

    def next_step(self) -> Step:
        """What the procedure demands, holds aside."""
        if self.known_step is None:
            self.known_step = self._next_step()
        return self.known_step

    def _next_step(self) -> Step:
        state, traits = self.state, self.setting.traits
        match state.phase:
            case "closed":
                return Step("start_shift")
            case "shoe_change":
                return Step("load_shoe")
            case "burning":
                return self._again(self._burn_step())
            case "betting":
                return Step("close_bets")
            case "voided":
                return Step("reopen")
            case "result":
                waits = traits.standby and not state.standby
                return Step("standby") if waits else Step("open_bets")
        assert state.round is not None
        if isinstance(state.betting, ClassicBook) and state.betting.follow is not None:
            return Step("follow", line=state.betting.follow.line, options=("follow", "decline"))
        step = self.due_step()
        if (claims := state.claims) and not self._may_claim(step):
            place = claims[0].position or ""
            return Step("sight", position=place, hidden=self.is_hidden(place))
        turned = self.turned_unseen
        if turned == HOLE:
            return Step("sight", position=HOLE)
        if step.kind == "finish" and traits.results and state.round.shoe_result is None:
            return Step("shoe_result")
        if step.kind == "finish" and turned is not None:
            return Step("sight", position=turned)
        if step.kind == "finish" and self.setting.rules.confirm_result and not state.round.confirmed:
            return Step("confirm")
        return step

    @property
    def turned_unseen(self) -> str | None:
        """Where a turned face is the shoe's word alone: a back to the camera until now."""
        round_ = self.state.round
        return round_.turned[0] if self.setting.sources == "both" and round_ is not None and round_.turned else None

    def own_step(self) -> Step:
        """What the procedure demands of the cards that are dealt, claims aside."""
        assert self.state.round is not None
        step: Step = self.procedure.next_step(self.state.round, self.setting.rules)
        return step

    def due_step(self) -> Step:
        """What is due once every claim is confirmed; outside the cards of a round ``next_step``."""
        state = self.state
        if state.round is None or state.phase not in DEAL_PHASES:
            return self.next_step()
        round_ = state.round
        if state.claims:
            round_ = round_.copy()
            for claim in state.claims:
                place = claim.position or ""
                round_.place(RoundCard(place, claim.card, not self.is_hidden(place)))
        return self._again(self.procedure.next_step(round_, self.setting.rules))

    def _may_claim(self, step: Step) -> bool:
        """A second claim may be open while the first cards are dealt: their places depend on no face."""
        round_ = self.state.round
        if round_ is None or step.kind != "draw" or len(self.state.claims) > 1 or self.state.phase != "dealing":
            return False
        if any(p.origin in ("vouched", "entered") for p in self.state.pending):  # they have their places already
            return False
        place = step.position or ""
        return place in self.procedure.deal_places(round_) or self.is_hidden(place)

    def is_hidden(self, position: str) -> bool:
        """The card at ``position`` lies face down by the procedure."""
        return position == HOLE and self.setting.rules.game == "boundless"

    def _again(self, step: Step) -> Step:
        return msgspec.structs.replace(step, again=True) if self.state.reread and step.kind == "draw" else step

    def _burn_step(self) -> Step:
        shoe, rules = self.state.shoe, self.setting.rules
        assert shoe is not None
        if rules.burn == "by_first_card" and shoe.burn_of is None:
            return Step("draw", position="burn/0")
        due = shoe.burn_of if shoe.burn_of is not None else self.burn_due
        if shoe.burned < due:
            return Step("draw", position=f"burn/{shoe.burned + 1}", hidden=True, left=due - shoe.burned)
        return Step("open_bets")

    @property
    def burn_due(self) -> int:
        """Cards to burn where no exposed card says so (SHOE-12)."""
        return {"none": 0, "one": 1}.get(self.setting.rules.burn, 0)

    # --- cards ---------------------------------------------------------------------------------------------

    def deal(
        self, step: Step, position: str, face: str, *, pending: bool = False, by: tuple[str, ...] = ("shoe",)
    ) -> None:
        """Put a card that passed every check at ``position``; ``by``: who vouches for it."""
        if position.startswith("burn/"):
            self._burn(step, face, pending)
            return
        shown = HIDDEN if step.hidden else face
        key, commitment = self._commit(position, face) if step.hidden else ("", None)
        self.emit(
            f.CardDealt(
                position=position,
                card=shown,
                face=face,
                key=key,
                commitment=commitment,
                validated_by=by,
                from_hold=pending,
            )
        )

    def _burn(self, step: Step, face: str, pending: bool) -> None:
        shoe = self.state.shoe
        assert shoe is not None
        if not step.hidden:
            self.emit(f.BurnIndicatorDrawn(card=face, count=burn_count(face), from_hold=pending))
            return
        of = shoe.burn_of if shoe.burn_of is not None else self.burn_due
        key, commitment = self._commit(step.position or "", face)
        self.emit(
            f.CardBurned(done=shoe.burned + 1, of=of, card=face, key=key, commitment=commitment, from_hold=pending)
        )

    def _commit(self, position: str, face: str) -> tuple[str, str | None]:
        if face == HIDDEN:
            return "", None
        key = derive_key(self._entropy, self._keys_used)
        self._keys_used += 1
        state = self.state
        assert state.shoe is not None
        in_round = state.round is not None and state.phase in DEAL_PHASES
        round_id = state.round.id if in_round and state.round is not None else state.shoe.id
        return key.hex(), commit(key, table=self.setting.table, round_=round_id, position=position, card=face)

    # --- holds and incidents -------------------------------------------------------------------------------

    def incident(
        self,
        code: str,
        *,
        expected: str,
        actual: str,
        cards: tuple[str, ...] = (),
        position: str | None = None,
        secret: bool = False,
        ledger: Literal["new", "waiting", "known"] = "new",
        note: str = "",
        also: tuple[str, ...] = (),
    ) -> None:
        """Raise an incident, which holds the table. ``secret``: the card lies face down, so its public form is the
        same whatever went wrong. ``note``: a person's own words, which stay in the journal."""
        state, rules = self.state, self.setting.rules
        shown = "hidden" if secret else code
        legal = incidents.legal(
            shown,
            has_card=bool(cards),
            round_open=state.round_open,
            has_shoe=state.shoe_can_go,
            policy=rules.position_error_policy,
            reshuffle=rules.on_error == "cancel_and_reshuffle",
            also=also,
        )
        self.emit(
            f.IncidentRaised(
                incident=state.incident_count + 1,
                code=shown,
                title=incidents.TITLES[shown],
                expected=f"a card for {position}" if secret else expected,
                actual="a face-down card" if secret else actual,
                resolutions=legal,
                position=position,
                cause=code if not secret else f"{code}: {actual}",
                cards=cards,
                ledger=ledger,
                note=note,
            )
        )

    def touched(self) -> None:
        """Somebody is at the table: the lock waits anew."""
        seconds = self.setting.rules.lock_after_s
        on = self.state.dealer is not None and seconds > 0 and not self.state.locked
        self.state.idle_due = self.now + round(seconds * 1000) if on else None

    def report(
        self, event: msgspec.Struct | dict[str, Any], use: Literal["record", "defer", "act"] = "record"
    ) -> None:
        """Keep a message of the shoe for the record; ``defer`` or ``act`` on it as the fact says."""
        data = event if isinstance(event, dict) else msgspec.to_builtins(event)
        self.emit(f.DeviceReported(device="shoe", event=data, use=use))
