"""``dealerd ctl``: every command of the table, its options made from the command's own argument types."""

from __future__ import annotations

import argparse
import json
import types
import typing
from pathlib import Path
from typing import Any

import msgspec

from controller.cli import connect
from controller.commands import COMMANDS, NEEDS_SEEN_SEQ, QUERIES, ROLES

_DESCRIPTION = """\
Send one command to a table and print its answer as JSON. The role and the person are those of the key that signs it.
Commands that decide about a hold, an incident or a round carry the seq of the state you saw; without --seen-seq the
state of this moment is looked up first.
"""
#: Whose key is looked for, in this order.
_SENDERS = ("observer", "game_server", "dealer", "supervisor", "technician")


def add_parser(subparsers: Any) -> None:
    """Register ``ctl TABLE.toml COMMAND [OPTIONS]``."""
    parser = subparsers.add_parser("ctl", help="send a command to a table", description=_DESCRIPTION)
    connect.add_arguments(parser)
    parser.add_argument("--seen-seq", type=int, metavar="SEQ", help="the seq of the state you decided on")
    parser.add_argument("--id", metavar="UUID", help="repeat an unanswered command under its id")
    actions = parser.add_subparsers(metavar="COMMAND", dest="command", required=True)
    for name, args_type in COMMANDS.items():
        senders = ", ".join(role for role, may in ROLES.items() if name in may)
        text = (args_type.__doc__ or "").split("\n\n")[0]
        action = actions.add_parser(name, help=f"{' '.join(text.split())} ({senders})", description=args_type.__doc__)
        for field in msgspec.structs.fields(args_type):
            _add_option(action, field)
    parser.set_defaults(run=run)


def _add_option(parser: argparse.ArgumentParser, field: Any) -> None:
    kinds = [k for k in _kinds(field.type) if k is not type(None)]
    options: dict[str, Any] = {"required": field.required, "dest": f"arg_{field.name}"}
    if typing.get_origin(kinds[0]) is typing.Literal:
        options["choices"] = typing.get_args(kinds[0])
    elif typing.get_origin(kinds[0]) is list:
        options |= {"type": _json_list, "metavar": "JSON", "help": "a JSON list"}
    elif typing.get_origin(kinds[0]) is dict:
        options |= {"type": _json_object, "metavar": "JSON", "help": "a JSON object, or @FILE that holds it"}
    elif kinds[0] is bool:
        options |= {"action": argparse.BooleanOptionalAction}
    else:
        options |= {"type": kinds[0], "metavar": field.name.upper()}
    parser.add_argument("--" + field.name.replace("_", "-"), **options)


def _json_list(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise argparse.ArgumentTypeError(f'not a JSON list, such as [{{"player":"p1", ...}}]: {text[:60]!r}')
    return found


def _json_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(Path(text[1:]).read_text("utf-8") if text.startswith("@") else text)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text[1:]}: cannot be read: {error.strerror}") from error
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError(f"not a JSON object: {text[:60]!r}")
    return found


def _kinds(annotation: Any) -> tuple[Any, ...]:
    # `Literal[...] | None` is a typing.Union on Python 3.11.
    is_union = typing.get_origin(annotation) in (types.UnionType, typing.Union)
    return typing.get_args(annotation) if is_union else (annotation,)


def run(args: argparse.Namespace) -> int:
    """Send, wait, print."""
    name: str = args.command
    fields = msgspec.structs.fields(COMMANDS[name])
    given = {f.name: getattr(args, f"arg_{f.name}") for f in fields}
    sent = {key: value for key, value in given.items() if value is not None}
    senders = tuple(role for role in _SENDERS if name in ROLES[role])
    with connect.contact(args, senders, alone=name not in QUERIES).client() as client:
        seen = args.seen_seq
        if seen is None and name in NEEDS_SEEN_SEQ:
            seen = client.command("status").seq
        reply = client.command(name, sent, seen_seq=seen, id=args.id)
    print(json.dumps({"ok": True, "id": reply.id, "seq": reply.seq, "data": reply.data}, indent=2))
    return 0
