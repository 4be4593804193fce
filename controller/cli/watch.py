"""``dealerd watch``: follow a table's feed, gap-free."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from controller.bus.wire import Reply
from controller.cli import connect
from controller.cli.errors import UsageError


def add_parser(subparsers: Any) -> None:
    """Register ``watch TABLE.toml|ADDRESS [--json]``."""
    parser = subparsers.add_parser(
        "watch",
        help="follow a table's feed, gap-free",
        description="Print what the table publishes, from its present state on, without gaps, until Ctrl-C.",
    )
    connect.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="the frames themselves, one JSON object a line")
    parser.add_argument("--from", dest="start", type=int, metavar="SEQ", help="begin with the frame after SEQ")
    parser.add_argument("--count", type=int, metavar="N", help="stop after N frames")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Follow until Ctrl-C or ``--count``."""
    left = args.count
    if left is not None and left < 0:
        raise UsageError(f"--count {left}: 0 or more")
    with connect.contact(args, ("observer", "supervisor", "dealer", "game_server")).client() as client:
        # A table that does not answer is told of at once, not waited for in silence.
        status = client.command("status")
        if not args.json:
            print(_where(status), file=sys.stderr, flush=True)
        if args.start is not None:
            left = _catch_up(client, args, left)
        for frame in client.events() if left is None or left > 0 else ():
            if args.start is not None and frame["seq"] <= args.start:
                continue
            _show(frame, as_json=args.json)
            left = None if left is None else left - 1
            if left == 0:
                break
    return 0


def _catch_up(client: Any, args: argparse.Namespace, left: int | None) -> int | None:
    more = True
    while more and (left is None or left > 0):
        frames, more = client.since(args.start)
        for frame in frames if left is None else frames[:left]:
            _show(frame, as_json=args.json)
            args.start = frame["seq"]
            left = None if left is None else left - 1
    return left


def _where(status: Reply) -> str:
    """What the table waits for, so that nobody takes a silence for a fault."""
    data: dict[str, Any] = status.data
    held = "".join(f", held: {hold['reason']}" for hold in data["holds"].values())
    step = (data["step"] or {}).get("step", "none yet")
    return f"frame {status.seq} was the last, step {step}{held}; what comes next is told here, Ctrl-C ends it"


def _show(frame: dict[str, Any], *, as_json: bool) -> None:
    print(json.dumps(frame, separators=(",", ":")) if as_json else line(frame), flush=True)


def line(frame: dict[str, Any]) -> str:
    """One frame for a person."""
    parts = [f"{key}={_value(value)}" for key, value in frame["data"].items() if value not in (None, "", [], ())]
    round_ = frame["round"] or frame["shoe"] or "-"
    return f"{frame['time'][11:23]} {frame['seq']:>6} {round_:<20} {frame['type']:<20} {' '.join(parts)}".rstrip()


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
