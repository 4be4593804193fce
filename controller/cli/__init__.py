"""The command line: one module a command, imported only when asked for."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Final

from controller.cli.errors import report

#: Command → module with ``add_parser(subparsers)``, in the order of ``dealerd --help``.
COMMANDS: Final = {
    "demo": "controller.cli.demo",
    "run": "controller.cli.run",
    "shoe": "controller.cli.shoe",
    "camera": "controller.cli.camera",
    "console": "controller.cli.console",
    "watch": "controller.cli.watch",
    "ctl": "controller.cli.ctl",
    "decode": "controller.cli.decode",
    "recognise": "controller.cli.recognise",
    "bets": "controller.cli.bets",
    "rules": "controller.cli.rules",
    "rtp": "controller.cli.rtp",
    "vectors": "controller.cli.vectors",
    "journal": "controller.cli.journal",
    "soak": "controller.cli.soak",
    "bench": "controller.cli.bench",
    "calibrate": "controller.cli.calibrate",
    "doctor": "controller.cli.doctor",
    "keys": "controller.cli.keys",
}

_DESCRIPTION: Final = """\
dealerd runs beside a live-dealer table: it hears the card shoe, knows what the game allows next, and publishes a
table state that is validated, durable and free of hidden cards. Without hardware, start with: dealerd demo
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Exit status 2 for wrong input, 1 for a failed check."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="dealerd", description=_DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"dealerd {version('dealerd')}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    wanted = [words[0]] if words and words[0] in COMMANDS else list(COMMANDS)
    for name in wanted:
        import_module(COMMANDS[name]).add_parser(subparsers)
    args = parser.parse_args(words)
    try:
        status: int = args.run(args)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        sys.stderr.close()
        return 0
    except Exception as error:  # noqa: BLE001 - `report` raises again what it does not know
        return report(error)
    return status
