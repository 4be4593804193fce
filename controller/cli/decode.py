"""``dealerd decode``: a captured byte stream to shoe events."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import msgspec

from controller.cli.errors import UsageError
from drivers.decode import decode_capture, decode_recording
from drivers.recording import Entry, parse, timed
from drivers.registry import PROTOCOLS
from drivers.tags import Shoes, load_registry


def add_parser(subparsers: Any) -> None:
    """Register ``decode --protocol P FILE``."""
    parser = subparsers.add_parser(
        "decode",
        help="a captured byte stream to shoe events",
        description="Read FILE, one captured chunk of hex bytes a line, or a recording of a driver with its times, "
        "and print its events, one JSON object a line; the last line is a summary in which every byte is accounted "
        "for.",
    )
    parser.add_argument("--protocol", choices=sorted(PROTOCOLS), required=True)
    parser.add_argument(
        "--tags", type=Path, action="append", default=[], metavar="FILE",
        help="feig, rr3036: a registry that names the cards; more than once for several shoes",
    )  # fmt: skip
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Decode and print."""
    entries = read_entries(args.file)
    tags = Shoes(load_registry(path, finished=False) for path in args.tags)
    if entries and timed(entries):
        events, summary = decode_recording(args.protocol, entries, tags=tags)
    else:
        chunks = [entry.data for entry in entries if entry.kind == "rx"]
        events, summary = decode_capture(args.protocol, chunks, tags=tags)
    for event in events:
        print(msgspec.json.encode(event).decode())
    print(json.dumps({"event": "summary"} | summary))
    return 0


def read_entries(path: Path) -> list[Entry]:
    """What is in a capture or recording. Raises ``UsageError`` naming the line that is neither."""
    try:
        return parse(path.read_text(encoding="utf-8-sig").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as lines of hex: {error}") from error
    except ValueError as error:
        raise UsageError(f"{path}, {error}") from error
