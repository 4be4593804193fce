"""``dealerd demo``: a whole simulated studio table."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller.cli.errors import UsageError
from controller.cli.watch import line

if TYPE_CHECKING:
    from controller.simulation.studio import Studio

_DESCRIPTION = """\
A simulated card shoe on a real pseudo-terminal, the table service, and a virtual game server, dealer and supervisor,
each a process of its own, play in front of you until Ctrl-C. Nothing needs to be installed or configured. The screens
open in a browser at the address that is printed: pause the table, make a mistake with one press, resolve it.
"""
#: With screens somebody may be looking: trouble is left to them this long before the virtual supervisor steps in.
PATIENCE_S = 90.0


def add_parser(subparsers: Any) -> None:
    """Register ``demo``."""
    parser = subparsers.add_parser("demo", help="a whole simulated studio table", description=_DESCRIPTION)
    parser.add_argument("--game", choices=("boundless", "classic", "baccarat"), default="boundless")
    parser.add_argument("--seed", default="1", help="same seed, same cards and decisions (default 1)")
    parser.add_argument(
        "--decisions",
        choices=("book", "platform"),
        default="book",
        help="who keeps the bets and derives the draws (default: the table's book)",
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="end after N results")
    parser.add_argument(
        "--speed", type=float, default=1.0, metavar="X", help="X times human pace; 0: as fast as it goes"
    )
    parser.add_argument("--no-console", action="store_true", help="no screens in a browser")
    parser.add_argument(
        "--camera", action="store_true", help="a simulated camera, too: shoe and camera must agree on every card"
    )
    parser.add_argument("--json", action="store_true", help="no view; a JSON summary is the last line")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="keep keys, journal and logs in DIR")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play, then check."""
    from controller.simulation.demo import Play, check_journal, good
    from controller.simulation.studio import Scene, Studio, StudioError

    if args.rounds is not None and args.rounds < 1:
        raise UsageError(f"--rounds {args.rounds}: at least 1")
    if not 0 <= args.speed < float("inf"):
        raise UsageError(f"--speed {args.speed:g}: 0 or more")
    if args.json and args.rounds is None:
        raise UsageError("--json needs --rounds N: without a view only a demo that ends is of use")
    # Shoe and camera can agree only if the shoe names each card as it is drawn.
    protocol = "angel" if args.game == "baccarat" and not args.camera else "line"
    scene = Scene(game=args.game, protocol=protocol, seed=args.seed, speed=args.speed, rounds=args.rounds)
    scene.decisions = args.decisions
    scene.camera = args.camera
    if protocol == "angel":
        scene.shoe_args = ("--mode", "open")
    screens = not (args.json or args.no_console)
    if screens:
        scene.patience = PATIENCE_S * max(args.speed, 1.0)
    with _sigterm_as_ctrl_c(), tempfile.TemporaryDirectory(prefix="dealerd-demo-") as scratch:
        folder = args.folder.absolute() if args.folder is not None else Path(scratch)
        if (folder / "table.journal").exists():
            raise UsageError(f"{folder}: holds the journal of an earlier demo; give another folder or remove it")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--folder {folder} cannot be made: {error.strerror}") from error
        studio = Studio(folder, scene)
        play = Play(studio, attended=not args.json)
        try:
            floor = _furnish(studio) if screens else None
            with (
                studio,
                studio.client() as client,
                _view(args.json, studio, studio.start_console(floor) if floor else None) as show,
            ):
                summary = play.watch(client, show)
        except KeyboardInterrupt:
            kept = f"; journal and logs are in {folder}" if args.folder is not None else ""
            print(f"stopped after {play.rounds} round(s){kept}")
            return 0
        except StudioError as error:
            print(f"demo: {error}", file=sys.stderr)
            return 1
        check_journal(studio, summary)
    print(json.dumps(summary))
    return 0 if good(summary) else 1


@contextlib.contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """SIGTERM ends the demo as Ctrl-C does, and with it the processes of the studio."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _furnish(studio: Any) -> Path:
    """Keys, accounts and the floor file of the screens."""
    from controller.cli.demo_console import free_address, furnish

    studio.prepare()
    floor: Path = furnish(studio.folder, [studio], listen=free_address())
    return floor


def _nothing(frame: dict[str, Any], state: Any) -> None:
    """No view."""


def _print(frame: dict[str, Any], state: Any) -> None:  # noqa: ARG001 - the form of a view
    print(line(frame), flush=True)


def _view(quiet: bool, studio: Studio, address: str | None) -> Any:
    if quiet:
        return contextlib.nullcontext(_nothing)
    seen = [f"screens: {address}  (the log-on page names who you can be)"] if address else []
    if studio.scene.camera:
        seen.append(f"what the camera sees: http://127.0.0.1:{studio.pictures_port}/")
    if not sys.stdout.isatty():
        if seen:
            print("\n".join(seen), flush=True)
        return contextlib.nullcontext(_print)
    from controller.cli.view import View

    ctl = f"{Path(sys.executable).with_name('dealerd')} ctl {studio.table_file} --as supervisor/sam"
    hint = f"from another terminal:\n  {ctl} pause --reason coffee\n  {ctl} resume --reason back"
    return View("\n".join([*seen, hint]))
