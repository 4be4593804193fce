"""``dealerd calibrate tags``: which tag is in which card of a shoe."""

from __future__ import annotations

import argparse
import json
import queue
import sys
from pathlib import Path
from typing import Any, Final

from calibration.tags import Count, Enrolment, count, parse_deck
from controller.cli.errors import UsageError
from drivers.registry import shoe_class
from drivers.settings import ShoeSettings
from drivers.shoe import Reading
from drivers.tag_shoe import TagShoe
from drivers.tags import RegistryError, Shoes, TagRegistry, check_shoe_name, load_registry, write_registry

_READERS: Final = ("feig", "rr3036")

_DESCRIPTION: Final = """\
Write or check a tag registry: the file that tells an RFID shoe which card a tag is in, one file a shoe of 416 cards.

From a list (uid,card a line), as the maker of the cards sends it:
  dealerd calibrate tags red.toml --shoe red --from red.csv
Card by card at a reader; it may be stopped with Ctrl-C and goes on where it was. A card shown wrongly: stop, take
its line out of the file, start again:
  dealerd calibrate tags red.toml --shoe red --reader feig --port /dev/serial/by-id/...
Check all registries of a table together (exit status 1 if anything is wrong):
  dealerd calibrate tags --check red.toml blue.toml
"""


def add_parser(subparsers: Any) -> None:
    """Register ``calibrate tags``."""
    parser = subparsers.add_parser(
        "tags",
        help="which tag is in which card of a shoe",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("files", type=Path, nargs="+", metavar="FILE", help="registry; several with --check only")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--from", type=Path, dest="source", metavar="CSV", help="enrol the tags of this list")
    how.add_argument("--reader", choices=_READERS, help="enrol at this reader, card by card")
    how.add_argument("--check", action="store_true", help="8 tags of each face, and no tag in two files?")
    add("--shoe", metavar="NAME", help="name of the shoe, such as red-1; once written, it is the file's")
    add("--port", metavar="DEV", help="the reader's line: a device, or socket://HOST:PORT")
    add("--baudrate", type=int, metavar="N", help="the line's speed, if not the reader's default")
    add("--parity", choices=("N", "E", "O"), help="the line's parity, if not the reader's default")
    add("--frames", choices=("advanced", "standard"), default="advanced", help="feig: form of its frames")
    add("--cut-tags", type=int, default=0, metavar="N", help="so many tags are in the cut card, asked for at the end")
    add("--json", action="store_true", help="with --check: one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Enrol or check."""
    if args.check:
        return _check(args.files, as_json=args.json)
    if len(args.files) != 1:
        raise UsageError(f"{len(args.files)} files: one registry is written at a time")
    path: Path = args.files[0]
    return _from_list(args, path) if args.source is not None else _at_reader(args, path)


def _from_list(args: argparse.Namespace, path: Path) -> int:
    try:
        cards = parse_deck(args.source.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{args.source}: cannot be read: {error}") from error
    except ValueError as error:
        raise UsageError(f"{args.source}: {error}") from error
    registry = TagRegistry(_shoe_name(args.shoe), cards)
    if path.exists():
        raise UsageError(f"{path} exists: name a new file, or remove it first")
    _write(path, registry)
    return _report([(path, registry)], [])


def _at_reader(args: argparse.Namespace, path: Path) -> int:
    if args.port is None:
        raise UsageError("--reader needs --port: the line of the reader")
    registry = load_registry(path, finished=False) if path.exists() else TagRegistry(_shoe_name(args.shoe), {})
    if args.shoe is not None and args.shoe != registry.shoe:
        raise UsageError(f"{path} is of shoe {registry.shoe!r}, not {args.shoe!r}")
    settings = ShoeSettings(
        protocol=args.reader, port=args.port, baudrate=args.baudrate, parity=args.parity, frames=args.frames
    )
    kind = shoe_class(args.reader)
    assert issubclass(kind, TagShoe)
    enrolment = Enrolment(registry, args.cut_tags)
    _enrol(kind(settings, Shoes()), enrolment, path)
    return _report([(path, enrolment.registry)], [])


def _enrol(driver: TagShoe, enrolment: Enrolment, path: Path) -> None:
    """Ask and take until all is there or the person stops; the file is written after every card."""
    inbox: queue.SimpleQueue[list[Reading]] = queue.SimpleQueue()
    driver.start(inbox.put)
    try:
        print(enrolment.prompt(), flush=True)
        while enrolment.due is not None:
            for reading in inbox.get():
                told = enrolment.take(reading.event)
                if told is None:
                    continue
                print(f"  {told.text}", flush=True)
                if told.result == "enrolled":
                    _write(path, enrolment.registry)
                    print(enrolment.prompt(), flush=True)
    except KeyboardInterrupt:
        print(f"\nstopped: {path} has what was enrolled, the same command goes on", file=sys.stderr)
    finally:
        driver.stop()


def _check(paths: list[Path], *, as_json: bool) -> int:
    registries = [(path, load_registry(path, finished=False)) for path in paths]
    faults = []
    try:
        Shoes(registry for _, registry in registries)
    except RegistryError as error:
        faults.append(str(error))
    if not as_json:
        return _report(registries, faults)
    counts = [(path, registry.shoe, count(registry)) for path, registry in registries]
    good = not faults and all(counted.whole for _, _, counted in counts)
    files = [{"file": str(path), "shoe": shoe, **counted._asdict()} for path, shoe, counted in counts]
    print(json.dumps({"ok": good, "files": files, "faults": faults}))
    return 0 if good else 1


def _report(registries: list[tuple[Path, TagRegistry]], faults: list[str]) -> int:
    """Say how the registries stand; the exit status."""
    good = not faults
    for path, registry in registries:
        counted = count(registry)
        good = good and counted.whole
        print(f"{path}: shoe {registry.shoe}, {counted.tags} tags: {_words(counted)}")
    for fault in faults:
        print(fault)
    return 0 if good else 1


def _words(counted: Count) -> str:
    if counted.whole:
        return "whole"
    parts = [f"{n} of {face} missing" for face, n in counted.missing.items()]
    parts += [f"{n} of {face} too many" for face, n in counted.surplus.items()]
    return ", ".join(parts)


def _shoe_name(name: str | None) -> str:
    if name is None:
        raise UsageError("--shoe is missing: the name of the shoe whose tags these are")
    try:
        return check_shoe_name(name)
    except ValueError as error:
        raise UsageError(f"--shoe: {error}") from error


def _write(path: Path, registry: TagRegistry) -> None:
    try:
        write_registry(path, registry)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error
