"""``dealerd run``: the table service."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import Any

from controller.bus.errors import BusError
from controller.bus.keys import load_identities, load_server
from controller.cli.errors import UsageError
from controller.config import Loaded, load
from vision.settings import CameraSettings


def add_parser(subparsers: Any) -> None:
    """Register ``run TABLE.toml [--check]``."""
    parser = subparsers.add_parser(
        "run",
        help="run a table: what systemd starts",
        description="Run the table of TABLE.toml until SIGTERM: hear its shoe, check every card, publish the feed.",
    )
    parser.add_argument("table", type=Path, metavar="TABLE.toml")
    parser.add_argument(
        "--check", action="store_true", help="only check the file; exit status 2 if it cannot be used"
    )
    parser.add_argument("--verbose", action="store_true", help="log every fact's type")
    parser.add_argument("--ready-file", type=Path, metavar="FILE", help="make FILE once commands are answered")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check, or serve until stopped."""
    loaded = load(args.table)
    if args.check:
        config = loaded.config
        for note in _not_ready(loaded):
            print(f"{args.table}: note: {note}", file=sys.stderr)
        print(f"{args.table}: good; table {config.table.id}, {config.game.game}, shoe {config.shoe.protocol}")
        print(f"configuration digest {loaded.digest}")
        return 0
    from controller.service.logs import Logs
    from controller.service.run import serve

    if args.ready_file is not None and not args.ready_file.absolute().parent.is_dir():
        raise UsageError(f"--ready-file {args.ready_file}: there is no folder {args.ready_file.absolute().parent}")
    logging.getLogger("zmq.auth").setLevel(logging.WARNING)  # it tells every client's key
    with Logs(loaded.config.log.format, logging.DEBUG if args.verbose else logging.INFO) as logs:
        serve(loaded, ready=args.ready_file, logs=logs)
    return 0


def _not_ready(loaded: Loaded) -> list[str]:
    """What a good file needs beside itself and does not find now."""
    found = []
    try:
        load_server(loaded.keys)
        load_identities(loaded.keys)
    except (BusError, OSError) as error:
        found.append(f"the table will not start: {error}")
    folder = loaded.journal.parent
    if not folder.is_dir():
        found.append(f"the table will not start: there is no folder {folder} for [table] journal")
    if loaded.camera is not None:
        found += _camera_not_ready(loaded.camera)
    elif (sources := loaded.config.validation.sources) != "shoe":
        found.append(f'[validation] sources = "{sources}" and no [camera]: every card will wait for one')
    port = loaded.shoe.port
    if "://" not in port and not Path(port).exists():
        found.append(f"nothing is at [shoe] port {port}; the table waits for it")
    return found


def _camera_not_ready(settings: CameraSettings) -> list[str]:
    from vision.layout import LayoutError, load  # numpy: only where there is a camera
    from vision.profiles import ProfileError, load_profile

    found = []
    try:
        load(settings.layout)
    except LayoutError as error:
        found.append(f"[camera] layout: the camera will not start: {error}")
    for name in settings.profiles:
        try:
            load_profile(name)
        except ProfileError as error:
            found.append(f"[camera] profiles: the camera will not start: {error}")
    return found
