"""``dealerd decode``: a captured byte stream to shoe events."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import msgspec

from controller.cli.errors import UsageError
from drivers.decode import decode_capture
from drivers.registry import PROTOCOLS


def add_parser(subparsers: Any) -> None:
    """Register ``decode --protocol P FILE``."""
    parser = subparsers.add_parser(
        "decode",
        help="a captured byte stream to shoe events",
        description="Read FILE, one captured chunk of hex bytes a line, and print its events, one JSON object a "
        "line; the last line is a summary in which every byte is accounted for.",
    )
    parser.add_argument("--protocol", choices=sorted(PROTOCOLS), required=True)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Decode and print."""
    events, summary = decode_capture(args.protocol, read_chunks(args.file))
    for event in events:
        print(msgspec.json.encode(event).decode())
    print(json.dumps({"event": "summary"} | summary))
    return 0


def read_chunks(path: Path) -> list[bytes]:
    """The chunks of a capture file. Raises ``UsageError`` naming the line that is not hex."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as lines of hex: {error}") from error
    chunks = []
    for number, text in enumerate(lines, 1):
        try:
            chunks.append(bytes.fromhex(text))
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: not hex bytes: {text[:60]!r}") from error
    return chunks
