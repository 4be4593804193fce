"""The record's answers, by a process of its own: ``python -m controller.service.answers JOURNAL [SHELF]``.

A line in is a question, ``[command id, command, arguments, seq, who]``; a line out is the body of its answer. Only
its own processor time goes into an answer, so a card never waits for one. ``SHELF``, as JSON, is where the versions
of the table's calibration lie: the only thing that is ever written here. Statistics of everything before are collated
when there is nothing to answer, and kept; asked before that, it says so and how far it is.
"""

from __future__ import annotations

import os
import select
import sys
import time
from typing import Any, Final

import msgspec

from controller import commands
from controller.bus import wire
from controller.journal.errors import JournalError
from controller.journal.reader import open_read_only
from controller.record.queries import answer, files_from
from controller.record.settlements import Pages
from controller.record.statistics import TYPES, Statistics
from controller.refusal import Refusal
from controller.service.shelf import Shelf

#: Facts collated between two looks at what is asked.
SLICE: Final = 4_000
#: Collating that a question waits for.
PATIENCE_S: Final = 2.0


class Answers:
    """Answers for one journal; keeps its statistics."""

    def __init__(self, path: str, shelf: Shelf | None = None) -> None:
        self._path = path
        self._shelf = shelf
        self._statistics = Statistics()
        self._pages = Pages()
        self._looked = 0

    def collate(self) -> bool:
        """Take a slice of facts into the statistics; true if there are more."""
        with open_read_only(self._path) as journal:
            for one in files_from(journal, self._looked + 1):
                to = min(self._looked + SLICE, one.last_n)
                self._statistics.take(one.facts(self._looked + 1, to_n=to, types=TYPES))
                self._looked = max(self._looked, to)
                return self._looked < journal.last_n
        return False

    def body(self, question: bytes) -> bytes:
        """The answer's body."""
        command_id, name, given, seq, who = msgspec.json.decode(question)
        try:
            args = msgspec.convert(given, commands.COMMANDS[name])
            match args:
                case commands.Statistics():
                    found = self._statistics_of(args)
                case commands.CalibrationGet():
                    found = self._versions().get(args)
                case commands.CalibrationPut():
                    found = self._versions().put(args, who, time.time_ns() // 1_000_000)
                case _:
                    found = self._look_up(args)
            body = wire.encode_reply(command_id, seq, found)
        except Refusal as refusal:
            return wire.encode_refusal(command_id, refusal.code, refusal.message, refusal.expected)
        except JournalError as error:
            print(f"record: {name} cannot be answered: {error}", file=sys.stderr, flush=True)
            return wire.encode_refusal(command_id, "internal", "the journal could not be read")
        except Exception as error:  # noqa: BLE001 -- whatever is wrong with one answer, the next may be right
            # Only the kind: the text may quote a fact, and a fact may hide a card.
            print(f"record: {name} cannot be answered: {type(error).__name__}", file=sys.stderr, flush=True)
            return wire.encode_refusal(command_id, "internal", "the table failed to answer; nothing was changed")
        if len(body) > wire.MAX_BODY:
            return wire.encode_refusal(command_id, "too_large", "the answer is too large: ask for less at a time")
        return body

    def _versions(self) -> Shelf:
        if self._shelf is None:
            raise Refusal("not_found", "this table has no [camera], so it has no calibration")
        return self._shelf

    def _look_up(self, args: commands.Args) -> Any:
        # Open, read, close: an open reader keeps the writer's log from being emptied.
        with open_read_only(self._path) as journal:
            return answer(journal, args, self._statistics, self._pages)

    def _statistics_of(self, args: commands.Statistics) -> Any:
        until = time.monotonic() + PATIENCE_S
        while self.collate():
            if time.monotonic() > until:
                with open_read_only(self._path) as journal:
                    share = 100 * self._looked // max(1, journal.last_n)
                raise Refusal("busy", f"the facts so far are still being collated, {share} %: ask again in a while")
        return {"by": args.by, "upto_n": self._looked, "groups": self._statistics.as_json(args.by)}


def main() -> int:
    """Answer until the input ends."""
    shelf = msgspec.json.decode(sys.argv[2], type=Shelf) if len(sys.argv) > 2 else None
    answers, more, waiting = Answers(sys.argv[1], shelf), True, b""
    # The table goes first.
    os.nice(5)
    while True:
        if more and not select.select([0], [], [], 0)[0]:
            try:
                more = answers.collate()
            except JournalError:
                more = False
            continue
        received = os.read(0, 1 << 16)
        if not received:
            return 0
        *questions, waiting = (waiting + received).split(b"\n")
        for body in map(answers.body, questions):
            sys.stdout.buffer.write(body + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
