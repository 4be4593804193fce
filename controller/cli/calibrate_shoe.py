"""``dealerd calibrate shoe``: a shoe's self-test with all its cards, and the record of it."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import json
import logging
import os
import queue
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import msgspec

from calibration import shoe_lock
from calibration.shoe import ShoeTest
from controller.cards import CUT, SHOE_SIZE, is_card
from controller.cli.errors import UsageError
from controller.config import shoe_settings
from drivers.events import PortLost, PortRestored
from drivers.registry import PROTOCOLS, open_shoe
from drivers.self_test import VERSION, Check, LockProof, SelfTest, SelfTests, load_tests, port_name, write_tests
from drivers.settings import ShoeSettings
from drivers.shoe import Reading, ShoeDriver

#: After the last card: faces that are told after the hand, or a card too many.
GRACE_S: Final = 2.0
_TELL_EVERY: Final = 26
Inbox = queue.SimpleQueue[tuple[int, list[Reading]]]

_HAVE_TAGS: Final = ("feig", "rr3036")

_DESCRIPTION: Final = """\
Test a shoe before it is used: draw all its cards past the reader. Checked are the line, the number of cards, that
each face came eight times, tags (each once, none foreign), unread and misread cards, and that the order is one of
shuffled cards; the times from read to table are measured. An Angel Eye is asked first how it checks commands and
whether its lock obeys: only such a test permits lock = "on" in the table's file. Stop the table first: a port has one
user.

The settings are those of a table's file, or given here:
  dealerd calibrate shoe shoe-0123.json --table table.toml --device "Angel Eye 0123" --by anna
  dealerd calibrate shoe shoe-0123.json --protocol line --port /dev/serial/by-id/... --device "scan table 4"
Each test is added to the record; the newest counts. In the table's file:
  [shoe]
  self_test = "shoe-0123.json"
See the tests so far:
  dealerd calibrate shoe shoe-0123.json --show

The exit status is 0 if the test passed, 1 if it failed (it is recorded all the same), 2 for wrong input.
"""


def add_parser(subparsers: Any) -> None:
    """Register ``calibrate shoe``."""
    parser = subparsers.add_parser(
        "shoe",
        help="test a shoe with all its cards, and prove its lock",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="record of this device's tests, JSON; made by the first one")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--table", type=Path, metavar="TOML", help="take the [shoe] section of this table's file")
    how.add_argument("--protocol", choices=sorted(PROTOCOLS), help="what the shoe speaks; its port is --port")
    how.add_argument("--show", action="store_true", help="print the tests so far")
    add("--port", metavar="DEV", help="with --protocol: the shoe's line, a device or socket://HOST:PORT")
    add("--baudrate", type=int, metavar="N", help="with --protocol: the line's speed, if not the default")
    add("--code-set", choices=("scan_table", "suit_rank"), help="with --protocol line or ssi: its codes")
    add("--tags", nargs="+", metavar="FILE", help="with --protocol feig or rr3036: the shoe's registry")
    add("--device", metavar="NAME", help="the device, by its serial number; needed for its first test")
    add("--by", metavar="NAME", help="who tests (default: the user)")
    add("--set", metavar="NAME", default="", dest="card_set", help="which card set was used, for the record")
    add("--cards", type=int, default=SHOE_SIZE, metavar="N", help=f"cards in the shoe ({SHOE_SIZE})")
    add(
        "--order",
        type=Path,
        metavar="FILE",
        help="the cards in the order they lie, such as 8S AH; finds misread ones",
    )
    add("--idle", type=float, default=60.0, metavar="S", help="give up when no card came for so long (60)")
    add("--no-lock", action="store_true", help="angel: do not test the lock")
    add(
        "--hold",
        type=float,
        default=10.0,
        metavar="S",
        help="angel: how long to try to draw from the locked exit (10)",
    )
    add("--json", action="store_true", help="print the test as one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Test, or show the tests so far."""
    if args.show:
        return _show(load_tests(args.file), as_json=args.json)
    _check_numbers(args)
    settings = _settings(args)
    truth = None if args.order is None else _order(args.order)
    record = _record(args, settings)
    with _quiet():
        made = _test(args, settings, truth, record)
    record = msgspec.structs.replace(record, tests=(*record.tests, made))
    try:
        write_tests(args.file, record)
    except OSError as error:
        raise UsageError(f"{args.file}: cannot be written: {error.strerror or error}") from error
    _print(made, args)
    return 0 if made.passed else 1


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """A driver's warning asks for this very test, at every start."""
    logger = logging.getLogger("drivers.shoe")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _test(args: argparse.Namespace, settings: ShoeSettings, truth: list[str] | None, record: SelfTests) -> SelfTest:
    """The lock, where there is one, then all cards."""
    lock = None
    if settings.protocol == "angel" and not args.no_lock:
        _say("testing the commands of the shoe")
        lock = shoe_lock.prove(settings, _say, _confirmed, hold_s=args.hold)
        if lock.bcc is not None:
            settings = msgspec.structs.replace(settings, bcc=lock.bcc)
    test = ShoeTest(args.cards, tags=settings.protocol in _HAVE_TAGS, truth=truth)
    driver = open_shoe(settings)
    if (doubts := driver.unverified()) is not None:
        _say(doubts)
    checks = [*([_lock_check(lock)] if lock is not None else []), *_draw(driver, test, args)]
    order = test.order()
    checks += _seen_before(order, record)
    return SelfTest(
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        program=f"dealerd {version('dealerd')}",
        by=args.by or getpass.getuser(),
        cards=args.card_set,
        passed=all(check.ok for check in checks),
        checks=tuple(checks),
        figures=test.figures(driver.stats),
        order=order,
        lock=lock,
    )


def _check_numbers(args: argparse.Namespace) -> None:
    if args.cards < 1:
        raise UsageError(f"--cards {args.cards}: 1 or more")
    for name in ("idle", "hold"):
        if not 0 < getattr(args, name) <= 3600:
            raise UsageError(f"--{name} {getattr(args, name)}: above 0 and at most 3600 seconds")


def _settings(args: argparse.Namespace) -> ShoeSettings:
    """The shoe's settings, its lock left alone, whatever an older test says."""
    given = {name: getattr(args, name) for name in ("port", "baudrate", "code_set", "tags")}
    given = {name: value for name, value in given.items() if value is not None}
    if args.table is not None:
        if given:
            raise UsageError(f"--{next(iter(given)).replace('_', '-')} is not for --table: the file says it")
        return msgspec.structs.replace(shoe_settings(args.table), lock="off", self_test=None)
    if "port" not in given:
        raise UsageError("--protocol needs --port: the line of the shoe")
    given["port"] = port_name(given["port"])
    return ShoeSettings(protocol=args.protocol, **{**given, "tags": tuple(given.get("tags", ()))})


def _order(path: Path) -> list[str]:
    try:
        words = [word for word in path.read_text("utf-8").split() if word != CUT]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--order {path}: cannot be read: {error}") from error
    wrong = next((word for word in words if not is_card(word)), None)
    if wrong is not None:
        raise UsageError(f"--order {path}: {wrong[:20]!r} is not a card such as TD")
    return words


def _record(args: argparse.Namespace, settings: ShoeSettings) -> SelfTests:
    """The tests so far of this very device. Raises ``UsageError``."""
    port = port_name(settings.port)
    folder = args.file.absolute().parent
    if not os.access(folder, os.W_OK | os.X_OK):  # found out before 416 cards are drawn
        raise UsageError(f"{args.file}: no file can be written in {folder}: make the folder, or choose another")
    if not args.file.exists():
        if not args.device:
            raise UsageError("--device is missing: the device's name, best its serial number, for its first test")
        return SelfTests(version=VERSION, device=args.device, protocol=settings.protocol, port=port)
    found = load_tests(args.file)
    if args.device not in (None, found.device):
        raise UsageError(f"{args.file} is of {found.device!r}: another device has a record of its own")
    if (found.protocol, found.port) != (settings.protocol, port):
        raise UsageError(
            f"{args.file} is of {found.device!r}, {found.protocol} at {found.port}, not {settings.protocol} at "
            f"{port}: name a new file"
        )
    return found


def _draw(driver: ShoeDriver, test: ShoeTest, args: argparse.Namespace) -> tuple[Check, ...]:
    """Take the cards until all are there, none comes any more, or the person stops. Raises ``LineAbsent``."""
    inbox: Inbox = queue.SimpleQueue()
    driver.start(lambda readings: inbox.put((time.monotonic_ns(), readings)))
    try:
        _await_line(inbox, args)
        _say(f"Draw all {args.cards} cards now, one after the other, about one a second. Ctrl-C ends the test.")
        _take_all(inbox, test, args)
    except KeyboardInterrupt:
        _say("stopped")
    finally:
        driver.stop()
    return test.checks(driver.stats)


def _await_line(inbox: Inbox, args: argparse.Namespace) -> None:
    reason = "it does not open"
    until = time.monotonic() + shoe_lock.OPEN_S
    while (left := until - time.monotonic()) > 0:
        with contextlib.suppress(queue.Empty):
            for reading in inbox.get(timeout=left)[1]:
                if isinstance(reading.event, PortRestored):
                    return
                if isinstance(reading.event, PortLost):
                    reason = reading.event.reason
    raise shoe_lock.LineAbsent(f"nothing was tested or recorded in {args.file}: {reason}")


def _take_all(inbox: Inbox, test: ShoeTest, args: argparse.Namespace) -> None:
    told, until = 0, time.monotonic() + args.idle
    while (left := until - time.monotonic()) > 0:
        try:
            at, readings = inbox.get(timeout=left)
        except queue.Empty:
            return
        before = test.cards
        for reading in readings:
            test.take(reading.event, reading.received_ns, at)
        if test.cards > before or test.complete:
            until = time.monotonic() + (GRACE_S if test.complete else args.idle)
        if test.cards // _TELL_EVERY > told // _TELL_EVERY:
            told = test.cards
            _say(f"{told} of {args.cards} cards")


def _lock_check(lock: LockProof) -> Check:
    answers = f"a command checked with STX: {lock.with_stx}, without: {lock.without_stx}"
    if lock.bcc is None:
        return Check("lock", True, f"not to be used: no command was acknowledged ({answers})")
    if lock.proven:
        return Check("lock", True, f'proven, bcc = "{lock.bcc}" ({answers})')
    why = "a card came out, or nobody tried" if lock.opened else "it does not unlock"
    return Check(
        "lock",
        False,
        f"it takes commands ({answers}), but its lock is not proven: {why}; repeat it, or test with --no-lock",
    )


def _seen_before(order: str, record: SelfTests) -> list[Check]:
    twin = next((test for test in record.tests if order and test.order == order), None)
    if twin is None:
        return []
    return [Check("repeat", False, f"the very order of the test of {twin.at}: the cards were not shuffled since")]


def _confirmed(question: str) -> bool:
    print(f">>> {question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _say(text: str) -> None:
    print(f">>> {text}", file=sys.stderr, flush=True)


def _print(test: SelfTest, args: argparse.Namespace) -> None:
    if args.json:
        print(json.dumps(msgspec.to_builtins(test)))
        return
    _print_test(test)
    print(f'recorded in {args.file}; in the table\'s file:\n  [shoe]\n  self_test = "{args.file.name}"')
    if test.lock is not None and test.lock.proven:
        print(f'  bcc = "{test.lock.bcc}"\n  lock = "on"          # permitted by this test')


def _print_test(test: SelfTest) -> None:
    print(f"{test.at} by {test.by}: {'passed' if test.passed else 'FAILED'}")
    for check in test.checks:
        print(f"  {'ok ' if check.ok else 'NOT'} {check.name:<12} {check.text}")
    words = {"told_ms": "read to table", "apart_ms": "card to card"}
    for name, what in words.items():
        if f"{name}_median" in test.figures:
            found = (f"{label} {test.figures[f'{name}_{label}']:g}" for label in ("median", "p95", "p99", "worst"))
            print(f"      {what:<12} ms: {', '.join(found)}")


def _show(record: SelfTests, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(msgspec.to_builtins(record)))
        return 0
    print(f"{record.device}, {record.protocol} at {record.port}: {len(record.tests)} tests")
    for test in record.tests:
        _print_test(test)
    return 0
