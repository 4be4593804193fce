"""``commands.md``, what may be asked of a table and by whom, and ``command-line.md``, every subcommand's help."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

from controller.cli import COMMANDS as SUBCOMMANDS
from controller.commands import COMMANDS, NEEDS_SEEN_SEQ, QUERIES, ROLES
from controller.reference.fields import fields_of, summary
from controller.refusal import CODES

_COMMANDS_HEAD: Final = """\
# Commands

What a client may ask of a table, over DEALER → ROUTER with CURVE: form and answers are in [the feed's
page](../feed.md). By hand each is `dealerd ctl TABLE.toml NAME --ARGUMENT VALUE`. This page is made from the
program's types: `make reference`.
"""
_LINE_HEAD: Final = """\
# Command line

`dealerd COMMAND --help` prints the same. Exit status: 0 done, 1 a check failed or the table refused, 2 wrong input.
This page is made from the program: `make reference`.
"""


def commands() -> str:
    """Every command with its arguments and who may send it."""
    parts = [_COMMANDS_HEAD]
    for name, args in COMMANDS.items():
        parts.append(f"## `{name}`\n\n{summary(args)}\n")
        senders = ", ".join(f"`{role}`" for role, may in ROLES.items() if name in may) or "nobody"
        more = "A question: it changes nothing. " if name in QUERIES else ""
        more += "Needs `seen_seq`: refused `stale` if something newer happened. " if name in NEEDS_SEEN_SEQ else ""
        parts.append(f"{more}May be sent by {senders}.\n")
        fields = list(fields_of(args))
        if fields:
            rows = [f"| `{one.name}` | {one.kind} | {one.default} | {one.text} |" for one in fields]
            parts.append("\n".join(["| argument | value | default | |", "|---|---|---|---|", *rows]) + "\n")
    codes = "\n".join(f"| `{code}` | {text} |" for code, text in CODES.items())
    return "\n".join([*parts, f"## Refusals\n\n| code | meaning |\n|---|---|\n{codes}\n"])


def command_line() -> str:
    """The help of every subcommand, at a width of 100 characters."""
    parts = [_LINE_HEAD]
    for name, module in SUBCOMMANDS.items():
        parser = argparse.ArgumentParser(prog="dealerd")
        import_module(module).add_parser(parser.add_subparsers())
        for words, one in _parsers(parser, ""):
            if words.startswith(name):
                parts.append(f"{'#' * min(4, 2 + words.count(' '))} `dealerd {words}`\n\n```text\n{_help(one)}```\n")
    return "\n".join(parts)


def _help(parser: argparse.ArgumentParser) -> str:
    kind: Any = parser.formatter_class
    parser.formatter_class = lambda prog: kind(prog, width=100, max_help_position=28)
    return parser.format_help()


def _parsers(parser: argparse.ArgumentParser, words: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, one in action.choices.items():
                here = f"{words} {name}".strip()
                yield here, one
                # The commands of a table have a page of their own.
                if here != "ctl":
                    yield from _parsers(one, here)
