"""``dealerd keys``: make and list CURVE keys."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from controller.bus import keys

_DESCRIPTION = """\
Every program and person that speaks to a table has a key pair; the table knows them by the .key files in its key
folder, KEYS/<role>/<person>.key. Whoever holds the .key_secret file beside it is that person to the table: move it
to the machine of its owner and keep it there.
"""


def add_parser(subparsers: Any) -> None:
    """Register ``keys server|person|list``."""
    parser = subparsers.add_parser("keys", help="make and list keys", description=_DESCRIPTION)
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    server = actions.add_parser(
        "server",
        help="make the table's own pair",
        description="Make the key folder if need be, and the table's own pair.",
    )
    server.add_argument("folder", type=Path, metavar="KEYS")
    server.set_defaults(run=_server)
    person = actions.add_parser(
        "person",
        help="make a pair for a person or program",
        description="Make a pair for a person or program. The role says which commands the table takes from it.",
    )
    person.add_argument("folder", type=Path, metavar="KEYS")
    person.add_argument("role", choices=keys.ROLES)
    person.add_argument("person", metavar="NAME", help="a-z 0-9 . _ -; appears in the record of what the person did")
    person.set_defaults(run=_person)
    listing = actions.add_parser(
        "list",
        help="who may speak to the table",
        description="Print role, name and public key of everybody who may speak to the table.",
    )
    listing.add_argument("folder", type=Path, metavar="KEYS")
    listing.set_defaults(run=_list)


def _server(args: argparse.Namespace) -> int:
    print(keys.make_server(args.folder))
    return 0


def _person(args: argparse.Namespace) -> int:
    print(keys.make_person(args.folder, args.role, args.person))
    return 0


def _list(args: argparse.Namespace) -> int:
    for entry in keys.list_keys(args.folder):
        secret = "secret here" if entry.has_secret else ""
        print(f"{entry.role:12} {entry.person:24} {entry.public.decode()} {secret}".rstrip())
    return 0
