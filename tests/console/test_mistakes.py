"""The button that makes an extra card, against a control socket and a feed that the test plays."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from controller.console import mistakes
from controller.console.floor import Place
from controller.console.link import Link
from controller.contact import Contact

Play = Callable[[int], str]


def press(tmp_path: Path, play: Play, step: str = "close_bets") -> tuple[dict[str, Any], int]:
    """Press the button; ``play(n)`` is what the feed says after the nth draw. (answer, draws)."""

    async def pressed() -> tuple[dict[str, Any], int]:
        contact = Contact(table="bb-1", feed="", commands="", server_key=tmp_path, key_file=tmp_path)
        link = Link(Place(id="bb-1", contact=contact))
        link.state = {"step": {"step": step}}
        draws = 0

        async def shoe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal draws
            assert await reader.readline() == b"draw\n"
            draws += 1
            writer.write(json.dumps({"ok": True}).encode() + b"\n")
            await writer.drain()
            for hook in link.frame_hooks:
                hook({"type": play(draws)})
            link.wake()
            writer.close()

        server = await asyncio.start_unix_server(shoe, tmp_path / "control")
        async with server:
            answer = await mistakes._extra_card(link, tmp_path / "control")
        assert link.frame_hooks == []
        return answer, draws

    with ThreadPoolExecutor(1) as thread:  # the browser's own loop may be running in this one
        return thread.submit(lambda: asyncio.run(pressed())).result()


def test_an_extra_card_that_fell_due_on_its_way_is_followed_by_another(tmp_path: Path) -> None:
    answer, draws = press(tmp_path, lambda n: "card_dealt" if n < 3 else "incident_raised")
    assert answer == {"ok": True}
    assert draws == 3


def test_an_extra_card_that_is_an_incident_is_the_only_one(tmp_path: Path) -> None:
    assert press(tmp_path, lambda _: "incident_raised")[1] == 1


def test_where_a_card_is_due_all_the_time_the_button_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mistakes, "PATIENCE_S", 0.05)
    with pytest.raises(Exception, match="a card has been due all the time; press again"):
        press(tmp_path, lambda _: "", step="draw")
