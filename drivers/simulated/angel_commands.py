"""How the simulated Angel Eye takes a host's commands: whole frames in, answers and what was ordered out.

Not simulated: the time a real shoe needs to answer, and what it answers to "game process confirmation" (here an
acknowledgement): nothing public says either.
"""

from __future__ import annotations

from typing import NamedTuple

from drivers.angel.commands import Answer, Command, CommandReader, encode_answer, parse_command
from drivers.settings import BccReading
from drivers.simulated.steps import Send


class Heard(NamedTuple):
    """An answer to give, and the order behind it, if it was taken."""

    answer: Send
    command: Command | None


class CommandPort:
    """``reading`` is how this shoe checks commands. A test makes it ``deaf`` (it answers nothing) or ``busy`` for
    the next so many commands."""

    def __init__(self, reading: BccReading = "with_stx") -> None:
        self.reading = reading
        self.deaf = False
        self.busy = 0
        self._reader = CommandReader()

    def hear(self, data: bytes) -> list[Heard]:
        """What comes of ``data``, in order."""
        return [] if self.deaf else [self._judge(frame) for frame in self._reader.feed(data)]

    def _judge(self, frame: bytes) -> Heard:
        if self.busy:
            self.busy -= 1
            return self._answer(Answer("nak", 0x21), None)
        found = parse_command(frame, self.reading)
        if isinstance(found, Answer):
            return self._answer(found, None)
        return self._answer(Answer("ack"), found)

    def _answer(self, answer: Answer, command: Command | None) -> Heard:
        return Heard(Send(encode_answer(answer, self.reading)), command)
