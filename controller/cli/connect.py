"""How a command finds its table and the key of the person who sends it."""

from __future__ import annotations

import argparse
from pathlib import Path

from controller.bus import keys
from controller.cli.errors import UsageError
from controller.config import load
from controller.contact import Contact


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``TABLE`` and the options that replace its file."""
    parser.add_argument(
        "table", metavar="TABLE.toml", help="the table file, or the feed's address (tcp://… or ipc://…)"
    )
    parser.add_argument("--as", dest="who", metavar="ROLE/PERSON", help="whose key to use, if several would do")
    parser.add_argument("--key", type=Path, metavar="FILE", help="the .key_secret file itself")
    parser.add_argument("--commands", metavar="ADDRESS", help="with a feed address: where commands are answered")
    parser.add_argument("--server-key", type=Path, metavar="FILE", help="with a feed address: the table's server.key")


def contact(args: argparse.Namespace, roles: tuple[str, ...], *, alone: bool = False) -> Contact:
    """The table ``args`` name, and the secret key of a person in the first of ``roles`` that has one. ``alone``: what
    is done goes on record under the person's name, so nobody is chosen where several could be meant."""
    if "://" in args.table:
        if not (args.commands and args.server_key and args.key):
            raise UsageError("with a feed address give --commands ADDRESS, --server-key FILE and --key FILE, too")
        return Contact(None, args.table, args.commands, args.server_key, args.key)
    loaded = load(Path(args.table))
    return Contact.of(loaded, args.key or _find(loaded.keys, args.who, roles, alone))


def _find(folder: Path, who: str | None, roles: tuple[str, ...], alone: bool) -> Path:
    entries = [e for e in keys.list_keys(folder) if e.has_secret and e.role in keys.ROLES]
    if who is not None:
        for entry in entries:
            if f"{entry.role}/{entry.person}" == who:
                return entry.public_file.with_suffix(keys.SECRET_SUFFIX)
        known = ", ".join(f"{e.role}/{e.person}" for e in entries) or "none"
        raise UsageError(f"{folder}: no secret key for {who}; there is: {known}")
    able = [f"{e.role}/{e.person}" for e in entries if e.role in roles]
    if alone and len(able) > 1:
        raise UsageError(f"{folder}: several people could do this: choose with --as, one of {', '.join(able)}")
    for role in roles:
        mine = [e for e in entries if e.role == role]
        if len(mine) > 1:
            names = ", ".join(f"{e.role}/{e.person}" for e in mine)
            raise UsageError(f"{folder}: several people are {role}: choose with --as, one of {names}")
        if mine:
            return mine[0].public_file.with_suffix(keys.SECRET_SUFFIX)
    make = f"dealerd keys person {folder} {roles[0]} NAME"
    raise UsageError(f"{folder}: no secret key of a {' or '.join(roles)}; make one with: {make}")
