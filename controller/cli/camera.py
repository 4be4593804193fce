"""``dealerd camera``: the camera service of a table, or a simulated table camera."""

from __future__ import annotations

import argparse
import dataclasses
import logging
import os
import sys
from pathlib import Path
from random import Random
from typing import Any, Final

from controller.cli.errors import UsageError
from vision.simulated.faults import FAULTS
from vision.simulated.process import COMMANDS
from vision.simulated.scene import SCENES

_DESCRIPTION: Final = """\
With TABLE.toml: the camera service. It reads the pictures of the table's [camera], names the cards that lie at the
layout's positions, tells the table by command, and serves its newest annotated picture over HTTP.

With --simulate SCENE: a table camera without hardware. It draws a table with the cards that it is told to lay on it
and serves the pictures as a network camera does (MJPEG). It prints one line when it is ready:

  url=http://127.0.0.1:8081/mjpeg control=/tmp/camera.ctl seed=7
"""
_EPILOG: Final = """\
With --control a line to the socket is a command, the answer is a line of JSON with "ok" and, if that is false,
"error". The camera stops at quit, Ctrl-C, SIGTERM, or the end of a standard input that is a pipe.

commands:
{commands}

faults:
{faults}

examples:
  dealerd camera --simulate baccarat --http 8081 --control /tmp/camera.ctl
  echo "place 7H player/0" | nc -U -q 1 /tmp/camera.ctl
  dealerd camera table.toml
""".format(
    commands="\n".join(f"  {form:<30}{what}" for form, what in COMMANDS.items()),
    faults="\n".join(f"  {name:<10}{what}" for name, what in FAULTS.items()),
)


def add_parser(subparsers: Any) -> None:
    """Register ``camera``."""
    parser = subparsers.add_parser(
        "camera",
        help="the camera service, or a simulated table camera",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("table", nargs="?", metavar="TABLE.toml", help="the table whose camera this serves")
    add("--simulate", metavar="SCENE", help=f"be a simulated camera: {', '.join(SCENES)}")
    add("--http", type=int, default=0, metavar="PORT", help="with --simulate: serve here (0: any free port)")
    add("--control", type=Path, metavar="SOCKET", help="with --simulate: take commands on this unix socket")
    add("--size", default="1280x720", metavar="WxH", help="with --simulate: picture size (default 1280x720)")
    add("--fps", type=float, default=15.0, metavar="N", help="with --simulate: pictures a second (default 15)")
    add("--deck", choices=("live", "standard"), help="with --simulate: the cards' layout (default the scene's)")
    add("--speed", type=float, default=1.0, metavar="X", help="with --simulate: hands X times as fast; 0: no hands")
    add("--seed", type=int, metavar="N", help="with --simulate: how cards lie, and the noise; random if left out")
    add("--ready-file", type=Path, metavar="FILE", help="create FILE once frames arrive and the table is known")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve or simulate until told to stop; the exit status."""
    if (args.table is None) == (args.simulate is None):
        raise UsageError("give TABLE.toml for the camera service, or --simulate SCENE for a simulated camera")
    return _simulate(args) if args.simulate is not None else _serve(args)


def _serve(args: argparse.Namespace) -> int:
    from controller.config import load
    from controller.service.camera import serve
    from controller.service.logs import Logs
    from vision.layout import Layout, LayoutError
    from vision.picture_server import ServerError
    from vision.profiles import ProfileError, load_profile
    from vision.recognise import Recogniser

    if args.ready_file is not None and not args.ready_file.absolute().parent.is_dir():
        raise UsageError(f"--ready-file {args.ready_file}: there is no folder {args.ready_file.absolute().parent}")
    loaded = load(Path(args.table))

    def recogniser(layout: Layout) -> Recogniser:
        assert loaded.camera is not None
        return Recogniser([load_profile(name) for name in loaded.camera.profiles], layout.geometry())

    try:
        with Logs(loaded.config.log.format, logging.INFO):
            serve(loaded, recogniser, ready=args.ready_file)
    except (LayoutError, ProfileError, ServerError) as error:
        raise UsageError(str(error)) from error
    return 0


def _simulate(args: argparse.Namespace) -> int:
    from drivers.simulated.control import ControlError
    from vision.picture_server import ServerError
    from vision.simulated.felt import Felt
    from vision.simulated.process import CameraProcess, CameraServer
    from vision.simulated.render import Renderer
    from vision.simulated.scene import SceneError, scene

    size = _size(args.size)
    if not 0 <= args.speed < float("inf"):
        raise UsageError(f"--speed {args.speed:g}: 0 (no hands) or more")
    if not 0 < args.fps <= 60:
        raise UsageError(f"--fps {args.fps:g}: more than 0, at most 60")
    if not 0 <= args.http <= 65535:
        raise UsageError(f"--http {args.http}: a port, 0 to 65535")
    try:
        shown = scene(args.simulate)
    except SceneError as error:
        raise UsageError(f"--simulate {error}") from error
    if args.deck is not None:
        shown = dataclasses.replace(shown, style=args.deck)
    seed = int.from_bytes(os.urandom(4)) if args.seed is None else args.seed
    try:
        server = CameraServer("127.0.0.1", args.http)
    except ServerError as error:
        raise UsageError(str(error)) from error
    try:
        felt = Felt(shown, Random(f"{seed}/felt"), args.speed)
        process = CameraProcess(felt, Renderer(shown, size, seed), server, args.fps)
        if args.control is not None:
            process.listen(args.control)
        words = {"url": server.url, "control": args.control, "seed": seed}
        process.run(lambda: _say(" ".join(f"{name}={value}" for name, value in words.items() if value is not None)))
    except ControlError as error:
        raise UsageError(str(error)) from error
    finally:
        server.close()
    return 0


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and 160 <= int(width) <= 4096 and 90 <= int(height) <= 4096):
        raise UsageError(f"--size {text}: WIDTHxHEIGHT, 160x90 to 4096x4096")
    return int(width), int(height)


def _say(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Nobody reads; the camera works all the same, and must not fail at its end when Python flushes again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
