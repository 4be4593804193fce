"""kill -9 of the table at random moments of one simulated evening (design page 9.2, 9.3)."""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from controller import facts as f
from controller.config import load
from controller.journal.reader import open_read_only
from controller.journal.verify import verify
from controller.simulation.studio import Scene, Studio
from controller.table.draft import Setting
from controller.table.state import Traits
from controller.table.table import Table

#: ``make kills`` asks for 30.
KILLS = int(os.environ.get("DEALERD_KILLS", "6"))
SEED = 20261129


def _stalled(studio: Studio, number: int, state: Any) -> str:
    said = {name: studio.tail(name) for name in ("supervisor", "dealer", "game_server", "table", "shoe")}
    return f"stalled after kill {number}: {state}; {said}"


@pytest.mark.timeout(240)
def test_kills_lose_no_card_and_publish_no_seq_twice(tmp_path_factory: pytest.TempPathFactory) -> None:
    rng = Random(SEED)
    print(f"seed {SEED}")
    folder = tmp_path_factory.mktemp("kill")
    studio = Studio(folder, Scene(seed=str(SEED), speed=0.0))
    seen: dict[int, dict[str, Any]] = {}
    rounds = 0
    with studio, studio.client() as client:
        for number in range(KILLS + 1):
            wanted = rng.randrange(5, 60)
            deadline = time.monotonic() + 60
            while wanted > 0 or (number == KILLS and not _at_rest(client)):
                assert time.monotonic() < deadline, _stalled(studio, number, client.state)
                frame = client.next_event(0.5)
                if frame is None:
                    studio.check()
                    continue
                assert frame["seq"] not in seen or seen[frame["seq"]] == frame
                seen[frame["seq"]] = frame
                rounds += frame["type"] == "round_result"
                wanted -= frame["type"] in ("card_dealt", "card_burned", "step_opened", "decision_closed")
            if number < KILLS:
                time.sleep(rng.random() * 0.01)  # not always right after a frame, while the table is idle
                studio.kill_table()
                studio.start_table()
        assert rounds > 0
    journal = folder / "table.journal"
    report = verify(journal)
    assert report.ok, report.fault
    _seen_is_what_was_journaled(journal, seen)
    _money_adds_up(studio)
    accounted = _accounted(journal)
    for shoe, cards in _left_the_shoe(folder / "shoe.jsonl").items():
        _explains(accounted[shoe], cards, shoe)


def _at_rest(client: Any) -> bool:
    """Between two rounds every card that left the shoe must be in the record."""
    return bool(client.state["step"]["step"] == "open_bets")


def _seen_is_what_was_journaled(journal: Path, seen: dict[int, dict[str, Any]]) -> None:
    with open_read_only(journal) as reader:
        kept = {}
        for frame in reader.frames_since(0, 10**9):
            kept[frame.seq] = json.loads(frame.frame)
    assert seen
    for seq, frame in seen.items():
        assert kept[seq] == frame


def _money_adds_up(studio: Studio) -> None:
    """The journal folds to a book in which every stake is settled, refunded or still at risk (design page 9.3)."""
    config = load(studio.table_file).config
    table = Table(Setting(config.table.id, config.game, Traits(), config.book()))
    with open_read_only(studio.folder / "table.journal") as reader:
        table.replay(f.decode_fact(row.body) for row in reader.facts())
    assert table.state.book is not None
    audit = table.state.book.check()
    assert audit.unpaid == 0


def _left_the_shoe(log: Path) -> dict[int, list[str]]:
    """Faces in physical order by the number of the shoe, from the device's own log."""
    found: dict[int, list[str]] = defaultdict(list)
    for text in log.read_text().splitlines():
        item = json.loads(text)
        if item.get("item") == "card":
            found[item["shoe"]].append(item["card"])
    return found


def _explains(accounted: list[tuple[str, bool]], cards: list[str], shoe: int) -> None:
    """Every card in physical order. A card in an incident may be one read again, so it need not be a further one."""
    rest = iter(accounted)
    for number, card in enumerate(cards, 1):
        for named, certain in rest:
            if named == card:
                break
            assert not certain, f"shoe {shoe}: card {number} that left it is {card}, the journal says {named}"
        else:
            pytest.fail(f"shoe {shoe}: card {number}, {card}, is not in the journal")


def _accounted(journal: Path) -> dict[int, list[tuple[str, bool]]]:
    """(face, dealt for certain) by the number of the shoe, in the order in which the journal first names them."""
    found: dict[int, list[tuple[str, bool]]] = defaultdict(list)
    shoe = 0
    with open_read_only(journal) as reader:
        for row in reader.facts():
            fact = f.decode_fact(row.body)
            match fact:
                case f.ShoeLoaded():
                    shoe += 1
                case f.BurnIndicatorDrawn(from_hold=False) | f.CardBurned(from_hold=False) | f.CardHeld():
                    found[shoe].append((fact.card, True))
                case f.CardDealt(from_hold=False):
                    found[shoe].append((fact.face, True))
                case f.CardRescanned(extra=True) | f.ReadOutOfGame():
                    found[shoe].append((fact.card, True))
                case f.IncidentRaised(counted=False):
                    found[shoe] += [(card, False) for card in fact.cards]
    return found
