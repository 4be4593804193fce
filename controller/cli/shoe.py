"""``dealerd shoe``: a simulated card shoe on a pseudo-terminal or a serial port."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, BinaryIO, Final

from drivers.errors import SettingsError
from drivers.port import SerialPort
from drivers.recording import parse
from drivers.registry import PROTOCOLS, shoe_class
from drivers.simulated.angel_device import AngelDevice
from drivers.simulated.cards_file import parse_cards
from drivers.simulated.commands import COMMANDS
from drivers.simulated.control import ControlError
from drivers.simulated.device import Device
from drivers.simulated.endpoint import Endpoint, EndpointError, PortEndpoint, PtyEndpoint
from drivers.simulated.faults import FAULTS, FaultPlan, parse_rate
from drivers.simulated.item_log import ItemLog, LogError
from drivers.simulated.line_device import LineDevice
from drivers.simulated.pace import Pace
from drivers.simulated.process import ShoeProcess
from drivers.simulated.recording import Recording, ReplayDevice
from drivers.simulated.shoe import SimulatedShoe
from drivers.simulated.ssi_device import SsiDevice
from drivers.simulated.tag_deck import TagDeck, made_registry
from drivers.simulated.tag_device import GAP_S, FeigDevice, Rr3036Device
from drivers.simulated.wire_faults import WIRE_FAULTS, faults_of
from drivers.tags import load_registry, write_registry

if TYPE_CHECKING:
    _Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_READERS: Final = {"feig": FeigDevice, "rr3036": Rr3036Device}
# Options that only some protocols know.
_ONLY_FOR: Final = {
    "code_set": ("line", "ssi"),
    "mode": ("angel",),
    "bcc": ("angel",),
    "tags": tuple(_READERS),
    "write_tags": tuple(_READERS),
    "gap": tuple(_READERS),
    "replay": ("line", "angel"),
}

_DESCRIPTION: Final = """\
A card shoe without hardware. It opens a pseudo-terminal and speaks on it, byte for byte, what a real shoe sends:
the table cannot tell the difference. It prints one line (port, link, control socket, seed) when it is ready:

  port=/dev/pts/4 link=/tmp/shoe control=/tmp/shoe.ctl seed=7

Point the table's port at the link. The link stays the same when the device is unplugged and comes back.
"""
_COMMANDS = "\n".join(f"  {form:<22}{what}" for form, what in COMMANDS.items())


def _fault_list() -> str:
    lines = ["faults of the line, for every shoe that speaks by itself:"]
    lines += [f"  {name:<13}{what}" for name, what in WIRE_FAULTS.items()]
    for protocol, faults in FAULTS.items():
        lines.append(f"faults, {protocol}:" if protocol != "replay" else "faults, with --replay:")
        lines += [f"  {name:<13}{what}" for name, what in faults.items()]
    return "\n".join(lines)


_EPILOG: Final = f"""\
With --control the shoe does what it is told, and nothing by itself: a line to the socket is a command, the answer
is a line of JSON with "ok" and, if that is false, "error". Answers never tell a face. Without --control it draws
by itself, from the moment somebody opens the line. It stops at quit, Ctrl-C, SIGTERM, or the end of a standard
input that is a pipe, and removes its link and socket.

commands:
{_COMMANDS}

{_fault_list()}

The order of the cards is a function of seed and shoe number alone. Bytes sent while nobody has the line open are
lost, as on a real line; the answer then has "line":"unheard". Neither baud rate nor parity errors nor modem lines
exist on a pseudo-terminal.

examples:
  dealerd shoe --protocol line --link /tmp/shoe --seed 7
  dealerd shoe --protocol angel --link /tmp/shoe --control /tmp/shoe.ctl --speed 0 --log /tmp/shoe.jsonl
  dealerd shoe --protocol line --link /tmp/shoe --fault no_read:0.02 --fault repeat:0.05
  dealerd shoe --protocol feig --link /tmp/shoe --write-tags /tmp/shoe.toml --control /tmp/shoe.ctl
  dealerd shoe --protocol angel --link /tmp/shoe --replay capture.hex --control /tmp/shoe.ctl
  echo draw | nc -U -q 1 /tmp/shoe.ctl
"""


class UsageError(Exception):
    """Wrong input; the message says what is wrong and what would be right."""


def add_parser(subparsers: _Subparsers) -> None:
    """Register ``shoe``."""
    parser = subparsers.add_parser(
        "shoe",
        help="a simulated card shoe on a pseudo-terminal",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_arguments(parser)


def main(argv: list[str] | None = None) -> None:
    """``shoe`` as a program of its own."""
    parser = argparse.ArgumentParser(
        "dealerd shoe", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _add_arguments(parser)
    args = parser.parse_args(argv)
    raise SystemExit(run(args))


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--protocol",
        required=True,
        choices=sorted(PROTOCOLS),
        help="line: an ASCII code a card; angel: Angel Eye telegrams; ssi: Zebra packets; feig, rr3036: tag readers",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--link", type=_path, metavar="PATH", help="symbolic link to the pseudo-terminal")
    where.add_argument("--port", metavar="DEV", help="send on this real serial port instead of a pseudo-terminal")
    add("--seed", type=int, metavar="N", help="shuffles, hands and chances; random and printed if left out")
    order = parser.add_mutually_exclusive_group()
    order.add_argument(
        "--cards", type=_path, metavar="FILE", help="stacked shoe: cards such as TD, and CUT, in order"
    )
    order.add_argument(
        "--replay",
        type=_path,
        metavar="FILE",
        help="play a driver's recording with its times, or a chunk in hex on each line",
    )
    add("--speed", type=float, default=1.0, metavar="X", help="1: a human's pace; 10: ten times it; 0: no waiting")
    add("--control", type=_path, metavar="SOCKET", help="take commands on this unix socket, draw nothing by itself")
    add("--log", type=_path, metavar="FILE", help="what left the shoe, JSON Lines, written before the bytes are sent")
    add("--cut", type=int, metavar="N", help="the cut card lies behind N cards; else 60 to 120 before the end")
    add(
        "--fault",
        action="append",
        default=[],
        metavar="NAME[:P]",
        help="at every draw with probability P (1)",
    )
    add("--code-set", choices=("scan_table", "suit_rank"), help="line, ssi: the codes (default scan_table)")
    add("--mode", choices=("open", "hidden"), help="angel: faces at the draw, or after the hand (default hidden)")
    add(
        "--bcc",
        choices=("with_stx", "without_stx", "silent"),
        help="angel: how it checks commands, or that it answers none (default with_stx)",
    )
    registry = parser.add_mutually_exclusive_group()
    registry.add_argument(
        "--tags", type=_path, metavar="FILE", help="feig, rr3036: the cards have this registry's tags"
    )
    registry.add_argument(
        "--write-tags", type=_path, metavar="FILE", help="feig, rr3036: make a registry, and write it"
    )
    add("--gap", type=float, metavar="S", help=f"feig, rr3036: least seconds from card to card (default {GAP_S})")
    parser.set_defaults(run=run)


def _path(text: str) -> Path:
    path = Path(text)
    if not path.name:
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a file")
    return path


def run(args: argparse.Namespace) -> int:
    """Be a shoe until told to stop. Returns the exit status."""
    try:
        with contextlib.ExitStack() as stack:
            _run(args, stack)
    except (UsageError, EndpointError, ControlError, SettingsError) as error:
        print(f"dealerd shoe: {error}", file=sys.stderr)
        return 2
    except LogError as error:
        print(f"dealerd shoe: {error}", file=sys.stderr)
        return 1
    return 0


def _run(args: argparse.Namespace, stack: contextlib.ExitStack) -> None:
    _check_options(args)
    seed = int.from_bytes(os.urandom(4)) if args.seed is None else args.seed
    device = _device(args, seed)
    try:
        rates = [parse_rate(text, faults_of(device.protocol)) for text in args.fault]
    except ValueError as error:
        raise UsageError(str(error)) from None
    plan = FaultPlan(rates, Random(f"{seed}/faults"))
    log = ItemLog(stack.enter_context(_open_log(args.log))) if args.log is not None else None
    endpoint = _endpoint(args)
    stack.callback(endpoint.close)
    process = ShoeProcess(device, endpoint, plan, Pace(seed, args.speed), log, auto=args.control is None)
    if args.control is not None:
        process.listen(args.control)

    def ready() -> None:
        words = {"port": endpoint.path, "link": args.link, "control": args.control, "seed": seed}
        try:
            print(*(f"{name}={value}" for name, value in words.items() if value is not None), flush=True)
        except BrokenPipeError:
            # Nobody reads; the shoe works all the same, and must not fail at its end when Python flushes again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    process.run(ready)


def _check_options(args: argparse.Namespace) -> None:
    """Raises ``UsageError`` for options that do not go together."""
    if not 0 <= args.speed < float("inf"):
        raise UsageError(f"--speed {args.speed}: give 0 (no waiting) or more")
    for name, protocols in _ONLY_FOR.items():
        if getattr(args, name) is not None and args.protocol not in protocols:
            raise UsageError(f"--{name.replace('_', '-')} is for --protocol {' or '.join(protocols)}")
    if args.gap is not None and not 0 <= args.gap < float("inf"):
        raise UsageError(f"--gap {args.gap}: give 0 or more seconds")
    if args.replay is not None:
        for name in ("cut", "code_set", "mode", "bcc"):
            if getattr(args, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} has no effect on a recording: leave it or --replay out")


def _device(args: argparse.Namespace, seed: int) -> Device:
    """The device that ``args`` ask for. Raises ``UsageError``."""
    if args.replay is not None:
        text = _read(args.replay)
        try:
            return ReplayDevice(Recording.of(args.protocol, parse(text.splitlines())))
        except ValueError as error:
            raise UsageError(f"{args.replay}: {error}") from None
    try:
        cards = parse_cards(_read(args.cards)) if args.cards is not None else None
    except ValueError as error:
        raise UsageError(f"{args.cards}: {error}") from None
    try:
        shoe = SimulatedShoe(seed, cards=cards, cut=args.cut)
    except ValueError as error:
        raise UsageError(f"--cut: {error}") from None
    if args.protocol == "angel":
        device = AngelDevice(shoe, args.mode or "hidden")
        device.commands.deaf = args.bcc == "silent"
        if args.bcc == "without_stx":
            device.commands.reading = "without_stx"
        return device
    rng = Random(f"{seed}/device")
    if args.protocol in _READERS:
        return _READERS[args.protocol](shoe, _deck(args, seed), rng, GAP_S if args.gap is None else args.gap)
    kind = SsiDevice if args.protocol == "ssi" else LineDevice
    return kind(shoe, args.code_set or "scan_table", rng)


def _deck(args: argparse.Namespace, seed: int) -> TagDeck:
    """The tags in the cards. Raises ``UsageError`` and ``SettingsError``."""
    if args.tags is not None:
        return TagDeck(load_registry(args.tags), seed)
    registry = made_registry(seed)
    if args.write_tags is not None:
        try:
            write_registry(args.write_tags, registry)
        except OSError as error:
            raise UsageError(f"no registry {args.write_tags}: {error.strerror}") from None
    return TagDeck(registry, seed)


def _endpoint(args: argparse.Namespace) -> Endpoint:
    if args.port is not None:
        return PortEndpoint(SerialPort(args.port, shoe_class(args.protocol).default_line))
    return PtyEndpoint(args.link)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _open_log(path: Path) -> BinaryIO:
    try:
        return open(path, "ab", buffering=0)
    except OSError as error:
        raise UsageError(f"no log {path}: {error.strerror}") from None
