"""Commands: their arguments, and which role may send them (design page 6)."""

from __future__ import annotations

import unicodedata
from typing import Any, Final, Literal

import msgspec

from controller.book.rows import BalanceRequest, BetRequest, DecisionRequest, FollowRequest, InsuranceRequest
from controller.refusal import Refusal

Role = Literal["observer", "game_server", "dealer", "supervisor", "camera", "technician"]
#: Longest text a person may give; keeps frames and screens bounded.
REASON_MAX: Final = 500


class Args(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all argument lists: unknown names are refused."""


class NoArgs(Args, frozen=True, kw_only=True):
    """The command takes no arguments."""


class Since(Args, frozen=True, kw_only=True):
    """Frames after ``seq``, at most 1,000."""

    seq: int


class LoadShoe(Args, frozen=True, kw_only=True):
    """Put a new shoe into play. Without ``shoe`` the table makes an id from date and number.

    ``left``: how many cards were counted in the old shoe, where the table asks for it.
    """

    shoe: str | None = None
    left: int | None = None


class CloseBets(Args, frozen=True, kw_only=True):
    """No more bets. ``seats``: the occupied ones of a seated game, in dealing order."""

    seats: list[int] = []


class BranchDemand(Args, frozen=True, kw_only=True):
    """Whether anybody whose hand is the first ``prefix_len`` cards of ``line`` needs a card, or splits."""

    round: str
    line: str
    prefix_len: int
    draw: bool
    split: bool = False
    key: str


class CloseDecisions(Args, frozen=True, kw_only=True):
    """Close a window of ``round`` before its time: ``insurance``, or the line whose decisions are open."""

    round: str
    window: str = "insurance"


class PlaceBets(Args, frozen=True, kw_only=True):
    """Bets of many players, at most 2,000; refused ones are listed one by one, the others stand."""

    round: str
    bets: list[BetRequest]


class SetBalances(Args, frozen=True, kw_only=True):
    """Set accounts of the table's own wallet (``kind = "embedded"``), at most 2,000; refused ones are listed one by
    one."""

    accounts: list[BalanceRequest]


class Insure(Args, frozen=True, kw_only=True):
    """Players who take insurance."""

    round: str
    players: list[InsuranceRequest]


class Decide(Args, frozen=True, kw_only=True):
    """Decisions of many players in the open window."""

    round: str
    decisions: list[DecisionRequest]


class FollowBets(Args, frozen=True, kw_only=True):
    """Answers of bettors behind to a split or double."""

    round: str
    answers: list[FollowRequest]


class Settlement(Args, frozen=True, kw_only=True):
    """What the players of a settled or void round are paid under a version of its result, a page after player
    ``after``."""

    round: str
    version: int = 1
    after: str | None = None


class Bets(Args, frozen=True, kw_only=True):
    """The bet record of one player in one round: every amount staked, settled and refunded."""

    round: str
    player: str


class Pause(Args, frozen=True, kw_only=True):
    """Hold the table."""

    reason: str


class Resume(Args, frozen=True, kw_only=True):
    """Lift the holds ``pause`` and ``restart``.

    After a restart ``how`` says what was done to prove the order: ``felt_agrees``, the cards on the felt were
    compared with the record; ``rescan``, all ``cards`` of them go past the reader again.
    """

    reason: str
    how: Literal["felt_agrees", "rescan"] | None = None
    cards: int | None = None


class StartShift(Args, frozen=True, kw_only=True):
    """Open the table. ``dealers``: who is assigned to it; none named: anybody with a dealer's key."""

    dealers: list[str] = []


class Report(Args, frozen=True, kw_only=True):
    """A dealer tells a misdeal that no device can see.

    ``note``: own words, for the record only. ``position``: which card is meant, for M-03; the last one if not named.
    """

    code: str
    note: str = ""
    position: str | None = None


class Resolve(Args, frozen=True, kw_only=True):
    """Choose one of an incident's legal resolutions.

    ``cards``: how many lie on the felt, for ``rescan``. ``position``: where the last card lies, for ``reassign``.
    """

    incident: int
    resolution: str
    reason: str
    cards: int | None = None
    position: str | None = None


class EnterCard(Args, frozen=True, kw_only=True):
    """The unread card of an incident, read by eye; another supervisor must approve."""

    incident: int
    card: str
    reason: str


class Correct(Args, frozen=True, kw_only=True):
    """The last round's result was wrong: ``cards`` are the right ones at their positions; ``void`` returns every
    stake. Another supervisor must approve."""

    round: str
    cards: list[tuple[str, str]] = []
    void: bool = False
    reason: str


class Approve(Args, frozen=True, kw_only=True):
    """The other person's answer to an ``approval_requested``."""

    approval: int
    accept: bool
    reason: str


class Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What lies at ``position``: a face, ``**`` for a back, ``??`` unreadable, null for nothing. ``age_ms``: for how
    long it has."""

    position: str
    card: str | None = None
    age_ms: int = 0
    reason: str = ""


class Sighting(Args, frozen=True, kw_only=True):
    """The camera service's sightings, in the order in which they came to be."""

    seen: list[Seen]


class CameraHealth(Args, frozen=True, kw_only=True):
    """Whether the camera can be believed, and its figures. Sent at least every two seconds."""

    ok: bool
    reason: str = ""
    fps: float = 0.0
    frame_age_ms: int = 0
    sharpness: float = 0.0


class Acknowledge(Args, frozen=True, kw_only=True):
    """The alarm of ``incident`` was seen."""

    incident: int


class Void(Args, frozen=True, kw_only=True):
    """Void the round in progress; with ``shoe`` the shoe as well."""

    reason: str
    shoe: bool = False


class Reopen(Args, frozen=True, kw_only=True):
    """Let a voided table go on."""

    reason: str


class DeviceCommand(Args, frozen=True, kw_only=True):
    """Have a device do something: an Angel Eye ``lock``, ``unlock``, ``clear_error``, ``use_overdrawn`` or
    ``discard_overdrawn``. How it ended is the fact ``device_answered``."""

    action: str
    reason: str
    device: Literal["shoe"] = "shoe"


class History(Args, frozen=True, kw_only=True):
    """Rounds of the record, newest first, at most ``limit`` (200) of those before round ``after``; or one ``round``,
    whole."""

    after: str | None = None
    limit: int = 50
    round: str | None = None


class Statistics(Args, frozen=True, kw_only=True):
    """Rounds, voids, incidents, misreads, manual entries and read intervals, collated."""

    by: Literal["game", "dealer", "supervisor", "shift", "device", "error"]


class ShoeReport(Args, frozen=True, kw_only=True):
    """Burn, cut card, rounds, incidents and read intervals of a shoe; without ``shoe`` of the newest."""

    shoe: str | None = None


class CalibrationGet(Args, frozen=True, kw_only=True):
    """The layout that the table's camera uses, or another ``version`` of it; with ``deck`` that deck's profile, the
    newest. The answer lists every version with its author."""

    deck: str | None = None
    version: int | None = None


class CalibrationPut(Args, frozen=True, kw_only=True):
    """Save a layout, or with ``deck`` a profile of that deck, as a new version; nothing that exists is changed.

    ``document``: the whole of it, as ``calibration_get`` gives it. ``seen_version``: the newest one that was seen, 0
    for a deck without any; if another was saved meanwhile it is refused ``stale``.
    """

    document: dict[str, Any]
    seen_version: int
    reason: str
    deck: str | None = None


COMMANDS: Final[dict[str, type[Args]]] = {
    "snapshot": NoArgs,
    "since": Since,
    "status": NoArgs,
    "open_bets": NoArgs,
    "close_bets": CloseBets,
    "close_decisions": CloseDecisions,
    "branch_demand": BranchDemand,
    "place_bets": PlaceBets,
    "insure": Insure,
    "decide": Decide,
    "follow": FollowBets,
    "settlement": Settlement,
    "bets": Bets,
    "set_balances": SetBalances,
    "load_shoe": LoadShoe,
    "pause": Pause,
    "log_on": NoArgs,
    "log_off": NoArgs,
    "confirm": NoArgs,
    "report": Report,
    "start_shift": StartShift,
    "end_shift": NoArgs,
    "resume": Resume,
    "resolve": Resolve,
    "void": Void,
    "reopen": Reopen,
    "enter_card": EnterCard,
    "correct": Correct,
    "approve": Approve,
    "acknowledge": Acknowledge,
    "sighting": Sighting,
    "camera_health": CameraHealth,
    "device_command": DeviceCommand,
    "history": History,
    "statistics": Statistics,
    "shoe_report": ShoeReport,
    "calibration_get": CalibrationGet,
    "calibration_put": CalibrationPut,
}

_OBSERVER = frozenset({"snapshot", "since", "status"})
_DEALER = _OBSERVER | {"load_shoe", "pause", "log_on", "log_off", "confirm", "report"}
#: Answered from the journal, beside the table.
RECORD: Final = frozenset({"history", "statistics", "shoe_report", "bets"})
_CALIBRATION: Final = frozenset({"calibration_get", "calibration_put"})
#: Answered beside the table, by a process that reads the journal and keeps the versions of the calibration.
DESK: Final = RECORD | _CALIBRATION
ROLES: Final[dict[str, frozenset[str]]] = {
    "observer": _OBSERVER,
    "game_server": _OBSERVER
    | {"open_bets", "close_bets", "close_decisions", "branch_demand", "place_bets", "insure", "decide", "follow"}
    | {"settlement", "bets", "set_balances"},
    "dealer": _DEALER,
    "supervisor": _DEALER
    | {"start_shift", "end_shift", "resume", "resolve", "void", "reopen"}
    | {"enter_card", "correct", "approve", "acknowledge", "calibration_get"}
    | (RECORD - {"bets"}),
    "camera": frozenset({"sighting", "camera_health"}),
    "technician": frozenset({"status", "device_command"}) | _CALIBRATION,
}
#: Answered from what is already published; they never reach the table.
QUERIES: Final = _OBSERVER | {"settlement", "calibration_get"} | RECORD
#: Sent all the time: only what they change is kept, not that they were sent.
UNRECORDED: Final = frozenset({"camera_health"})
#: Refused when a supervision or result fact is newer than ``seen_seq``.
NEEDS_SEEN_SEQ: Final = frozenset({"resume", "resolve", "void", "reopen", "enter_card", "correct", "approve"})


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A request as it comes over the wire."""

    id: str
    command: str
    args: dict[str, Any] = {}
    seen_seq: int | None = None


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A request that is well formed, from a person who may send it."""

    id: str
    name: str
    args: Args
    seen_seq: int | None
    role: str
    person: str

    @property
    def by(self) -> str:
        """Who, for the record."""
        return f"{self.role}:{self.person}"


_envelope = msgspec.json.Decoder(Envelope)


def parse_envelope(body: bytes) -> Envelope:
    """Decode a request. Raises ``Refusal`` (``malformed``) naming what is wrong with it."""
    try:
        envelope = _envelope.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal("malformed", f"the request is not understood: {error}") from error
    if not 8 <= len(envelope.id) <= 64 or not envelope.id.isascii() or not envelope.id.isprintable():
        raise Refusal("malformed", "id must be 8 to 64 printable ASCII characters, such as a UUID")
    return envelope


def _on_one_line(text: str) -> bool:
    """Nothing that could rewrite the terminal of whoever follows the feed; any script's letters and spaces."""
    return all(char.isprintable() or unicodedata.category(char) == "Zs" for char in text)


def authorise(envelope: Envelope, *, role: str, person: str) -> Command:
    """Check name, role and arguments. Raises ``Refusal``: ``unknown_command``, ``forbidden`` or ``bad_args``."""
    name = envelope.command
    args_type = COMMANDS.get(name)
    if args_type is None:
        raise Refusal("unknown_command", f"there is no command {name[:40]!r}", expected=", ".join(sorted(COMMANDS)))
    if name not in ROLES.get(role, frozenset()):
        may = " or ".join(one for one, names in ROLES.items() if name in names)
        raise Refusal("forbidden", f"role {role} may not send {name}", expected=f"a key of role {may}")
    try:
        args = msgspec.convert(envelope.args, args_type)
    except msgspec.ValidationError as error:
        raise Refusal("bad_args", f"{name}: {error}") from error
    reason = getattr(args, "reason", None)
    if reason == "" and isinstance(args, CameraHealth):
        reason = None
    if reason is not None and not (1 <= len(reason.strip()) <= len(reason) <= REASON_MAX and _on_one_line(reason)):
        raise Refusal("bad_args", f"{name}: a reason of 1 to {REASON_MAX} printable characters on one line is needed")
    return Command(id=envelope.id, name=name, args=args, seen_seq=envelope.seen_seq, role=role, person=person)
