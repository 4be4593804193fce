"""``dealerd calibrate``: what must be measured or entered once per table, deck or device."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

#: What is calibrated → module with ``add_parser(subparsers)``.
SUBJECTS: Final = {
    "shoe": "controller.cli.calibrate_shoe",
    "table": "controller.cli.calibrate_table",
    "tags": "controller.cli.calibrate_tags",
    "deck": "controller.cli.calibrate_deck",
}


def add_parser(subparsers: Any) -> None:
    """Register ``calibrate SUBJECT …``."""
    parser = subparsers.add_parser(
        "calibrate",
        help="measure the table, test a shoe, enrol decks and tags",
        description="Measure or enter what a table needs once; each subject has a --help of its own.",
    )
    subjects = parser.add_subparsers(metavar="SUBJECT", required=True)
    for module in SUBJECTS.values():
        import_module(module).add_parser(subjects)
