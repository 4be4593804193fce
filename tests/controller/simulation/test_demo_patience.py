"""A demo that somebody looks at waits for them; one that nobody looks at says that nothing happens any more."""

from __future__ import annotations

from typing import Any

import pytest

from controller import public
from controller.simulation import demo
from controller.simulation.studio import StudioError

HELD = {"holds": {"pause": {"hold": "pause", "reason": "coffee", "by": "supervisor:anna"}}}
VOID = {"step": {"step": "reopen"}}


class _Ended(Exception):
    """The visitor has gone."""


class _Studio:
    """A studio whose visitor leaves after ``looks`` silences."""

    class scene:
        speed = 1.0
        rounds = None

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def check(self) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise _Ended


class _Silence:
    """A client of a table that says nothing."""

    seq = 0

    def __init__(self, **state: Any) -> None:
        self.state = public.initial() | state

    def next_event(self, _seconds: float) -> None:
        return None


def _watch(client: _Silence, *, attended: bool) -> None:
    demo.Play(_Studio(5), attended=attended).watch(client, lambda *_: None)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _long_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "STALLED_S", -1.0)


@pytest.mark.parametrize("state", [HELD, VOID], ids=["paused", "void"])
def test_a_held_table_waits_for_those_who_look_on(state: dict[str, Any]) -> None:
    with pytest.raises(_Ended):
        _watch(_Silence(**state), attended=True)


@pytest.mark.parametrize("state", [HELD, VOID], ids=["paused", "void"])
def test_with_nobody_there_a_held_table_is_a_stall(state: dict[str, Any]) -> None:
    with pytest.raises(StudioError, match="nothing happens any more"):
        _watch(_Silence(**state), attended=False)


def test_a_table_that_is_free_and_silent_is_a_stall_for_everybody() -> None:
    with pytest.raises(StudioError, match="nothing happens any more"):
        _watch(_Silence(), attended=True)
