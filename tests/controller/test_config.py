"""A wrong table file: each error names file, place, what is wrong, and what is allowed."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from controller import config
from controller.book.setting import BookSetting
from controller.cli import main
from controller.config import ConfigError, load
from controller.rules.options import GameOptions
from drivers.settings import ShoeSettings

GOOD: dict[str, dict[str, Any]] = {
    "table": {"id": "t-1", "journal": "t.journal", "feed": "ipc://f.sock", "commands": "ipc://c.sock"},
    "game": {"game": "boundless"},
    "shoe": {"protocol": "line", "port": "/dev/x"},
}
CLASSIC, BACCARAT = {"game": "classic"}, {"game": "baccarat"}
ANGEL = {"game": BACCARAT, "shoe": {"protocol": "angel"}}


def toml(sections: dict[str, dict[str, Any]]) -> str:
    def value(one: Any) -> str:
        if isinstance(one, dict):
            return "{ " + ", ".join(f"{k} = {value(v)}" for k, v in one.items()) + " }"
        return str(one) if isinstance(one, float) else json.dumps(one)

    lines = []
    for name, keys in sections.items():
        lines += [f"[{name}]", *(f"{key} = {value(one)}" for key, one in keys.items() if one is not None)]
    return "\n".join(lines) + "\n"


def changed(edit: dict[str, dict[str, Any]]) -> str:
    """The good file with some keys set, or taken away where None."""
    names = [*GOOD, *(name for name in edit if name not in GOOD)]
    return toml({name: GOOD.get(name, {}) | edit.get(name, {}) for name in names})


#: Edit → what is said, after the file's name; several lines where several things are wrong.
WRONG: list[tuple[dict[str, dict[str, Any]], str]] = [
    # unknown, missing, of a wrong type
    (
        {"tabel": {}},
        "top level: unknown section `tabel`, perhaps `table`; known: table, game, shoe, validation, wallet",
    ),
    (
        {"table": {"jurnal": "x"}},
        "[table]: unknown key `jurnal`, perhaps `journal`; known: id, journal, keys, feed, ",
    ),
    ({"game": {"sats": 7}}, "[game]: unknown key `sats`, perhaps `seats`; known: game, last_round_policy, burn, "),
    ({"shoe": {"speed": 9600}}, "[shoe]: unknown key `speed`; known: protocol, port, baudrate, "),
    ({"wallet": {"king": 1}}, "[wallet]: unknown key `king`, perhaps `kind`; known: kind"),
    ({"metrics": {"port": 1}}, "[metrics]: unknown key `port`; known: listen"),
    ({"table": {"id": None}}, "[table]: `id` is missing"),
    ({"game": {"game": None}}, "[game]: `game` is missing"),
    ({"shoe": {"port": None}}, "[shoe]: `port` is missing"),
    ({"table": {"id": 7}}, "[table] id: text in quotes is needed, not a whole number"),
    ({"game": {"seats": "seven"}}, "[game] seats: a whole number is needed, not text in quotes"),
    ({"game": {"game": "poker"}}, "[game] game: 'poker' is not possible; allowed: boundless, classic, baccarat"),
    ({"game": {"burn": "two"}}, "[game] burn: 'two' is not possible; allowed: by_first_card, one, none"),
    ({"game": {"dealer_draws": "x"}}, "[game] dealer_draws: 'x' is not possible; allowed: needed, always"),
    ({"validation": {"sources": "ouija"}}, "[validation] sources: 'ouija' is not possible"),
    ({"wallet": {"kind": "purse"}}, "[wallet] kind: 'purse' is not possible; allowed: platform, embedded"),
    ({"log": {"format": "xml"}}, "[log] format: 'xml' is not possible; allowed: text, json"),
    ({"shoe": {"parity": "X"}}, "[shoe] parity: 'X' is not possible; allowed: N, E, O, M, S"),
    ({"shoe": {"stopbits": 3}}, "[shoe] stopbits: 3 is not possible; allowed: 1, 2"),
    ({"limits": {"main": {"least": 1}}}, "[limits]: unknown key `least`; known: min, max"),
    ({"limits": {"main": 5}}, "[limits]: a section is needed, not a whole number"),
    # [table]
    (
        {"table": {"id": "Table 1"}},
        "[table] id 'Table 1': 1 to 32 of a-z, 0-9 and -, beginning with a letter or digit",
    ),
    ({"table": {"feed": "5701"}}, "[table] feed '5701': tcp://HOST:PORT or ipc://PATH"),
    ({"table": {"commands": "udp://x:1"}}, "[table] commands 'udp://x:1': tcp://HOST:PORT or ipc://PATH"),
    ({"table": {"feed": "ipc://c.sock"}}, "[table] feed and commands are both 'ipc://c.sock': each needs its own"),
    ({"table": {"feed": "tcp://*:99999"}}, "[table] feed 'tcp://*:99999': the port must be 1 to 65535, or * for any"),
    ({"table": {"feed": f"ipc://{'f' * 108}"}}, "is longer than 107 bytes: choose a shorter one"),
    ({"table": {"journal": "a\0b"}}, "[table] journal: text may not hold the character NUL"),
    ({"game": CLASSIC | {"double_after_split": "no"}}, "true or false is needed, not text in quotes"),
    ({"table": {"min_free_mb": -1}}, "[table] min_free_mb must be at least 0, not -1"),
    # [game]
    ({"game": {"auto_void_after_s": -1}}, "[game] auto_void_after_s must be at least 0, not -1"),
    ({"game": {"betting_s": 0}}, "[game] betting_s must be at least 0.001, not 0"),
    ({"game": {"insurance_s": 0}}, "[game] insurance_s must be at least 0.001, not 0"),
    ({"game": {"decision_s": 0}}, "[game] decision_s must be at least 0.001, not 0"),
    ({"game": {"follow_s": 0}}, "[game] follow_s must be at least 0.001, not 0"),
    ({"game": {"peek_delay_s": -0.5}}, "[game] peek_delay_s must be at least 0, not -0.5"),
    ({"game": {"standby_s": 0}}, "[game] standby_s must be at least 0.001, not 0"),
    ({"game": {"betting_s": 1e9}}, "[game] betting_s must be at most 86400 seconds, not 1e+09"),
    ({"game": {"betting_s": float("nan")}}, "[game] betting_s must be at most 86400 seconds, not nan"),
    ({"game": {"reserve": 500}}, "[game] reserve must be 0 to 416 cards, not 500"),
    ({"game": CLASSIC | {"seats": 8}}, "[game] seats must be 1 to 7, not 8"),
    (
        ANGEL | {"game": BACCARAT | {"shuffle": "every_round"}},
        '[game] shuffle = "every_round" has no burn: set burn = "none"',
    ),
    ({"game": {"seats": 5}}, "[game] seats means nothing for boundless: remove it"),
    ({"game": CLASSIC | {"split_order": "split_first"}}, "[game] split_order means nothing for classic: remove it"),
    ({"game": CLASSIC | {"idle_rounds_to_vacate": 0}}, "[game] idle_rounds_to_vacate must be at least 1, not 0"),
    ({"game": {"confirm_s": 0}}, "[game] confirm_s must be at least 0.001, not 0"),
    ({"game": {"approval_s": 0}}, "[game] approval_s must be at least 0.001, not 0"),
    ({"game": {"lock_after_s": -1}}, "[game] lock_after_s must be at least 0, not -1"),
    ({"game": {"host_loss_void_after_s": -1}}, "[game] host_loss_void_after_s must be at least 0, not -1"),
    ({"game": {"cut_card_left": 0}}, "[game] cut_card_left must be 1 to 415 cards, not 0"),
    (
        ANGEL | {"game": BACCARAT | {"shuffle": "every_round", "burn": "none", "reconcile": "count"}},
        '[game] shuffle = "every_round" has no cut card and no last card: remove cut_card_left, reconcile',
    ),
    *(
        (
            {"game": BACCARAT | {"shuffle": "every_round", "burn": "none", name: value}},
            f'[game] shuffle = "every_round" has no last round and never runs short: remove {name}',
        )
        for name, value in (("last_round_policy", "current"), ("reserve", 10))
    ),
    *(
        (
            {"game": CLASSIC | {"decisions": "platform", name: value}},
            f'[game] {name} means nothing with decisions = "platform": remove it',
        )
        for name, value in (("obo", True), ("idle_rounds_to_vacate", 2), ("follow_s", 6.0))
    ),
    (
        {"game": {"decisions": "platform"}, "wallet": {"kind": "embedded"}},
        '[wallet] kind = "embedded" holds accounts for the table\'s own bets: set decisions = "book"',
    ),
    (
        {"game": {"decisions": "platform"}, "limits": {"main": {"max": 5}}},
        '[limits] with decisions = "platform" the platform keeps bets and limits: remove the section',
    ),
    # [validation]
    ({"validation": {"confirm_within_ms": 5}}, "[validation] confirm_within_ms must be 100 to 60000, not 5"),
    ({"validation": {"sources": "camera"}}, '[validation] sources = "camera" cannot serve boundless: its hole card'),
    ({"game": CLASSIC, "validation": {"sources": "camera"}}, 'does not see burned cards: set burn = "none"'),
    (
        ANGEL | {"validation": {"sources": "both"}},
        'sources = "both" needs a shoe that names each card as it is drawn',
    ),
    # [limits]
    ({"limits": {"tie": {"min": 1}}}, "[limits] limits: boundless has no bet 'tie'; its bets are main, "),
    ({"limits": {"main": {"min": 0}}}, "[limits] limits.main.min must be 1 to 1000000000000, not 0"),
    (
        {"limits": {"main": {"max": 10**13}}},
        "[limits] limits.main.max must be 1 to 1000000000000, not 10000000000000",
    ),
    ({"limits": {"main": {"min": 5, "max": 4}}}, "[limits] limits.main: min 5 is above max 4"),
    # [metrics]
    (
        {"metrics": {"listen": "0.0.0.0:9701"}},
        "[metrics] listen '0.0.0.0:9701': a loopback address and port, such as ",
    ),
    ({"metrics": {"listen": "9701"}}, "[metrics] listen '9701': a loopback address and port, such as 127.0.0.1:9701"),
    ({"metrics": {"listen": "127.0.0.1:99999"}}, "[metrics] listen '127.0.0.1:99999': a loopback address and port"),
    ({"metrics": {"listen": "localhost:1"}}, "[metrics] listen 'localhost:1': a loopback address and port"),
    # [shoe]
    (
        {"shoe": {"protocol": "lion"}},
        "[shoe] protocol 'lion' is not known: choose one of angel, feig, line, rr3036, ssi",
    ),
    ({"shoe": {"port": ""}}, "[shoe]: port is empty: give a device path or socket://host:port"),
    ({"shoe": {"port": "rfc2217://x:1"}}, "[shoe] port 'rfc2217://x:1': only device paths and socket://host:port"),
    ({"shoe": {"baudrate": 0}}, "[shoe]: baudrate is 0: it must be above 0"),
    ({"shoe": {"lock": "on"}}, "[shoe]: lock has no effect with protocol 'line': leave it out"),
    ({"shoe": {"trigger": "ssi"}}, "[shoe]: trigger 'ssi' is not for protocol 'line'"),
    ({"shoe": {"protocol": "feig", "address": 300}}, "[shoe]: address is 300: it must be 0 to 255"),
    ({"shoe": {"protocol": "feig", "poll_s": 9.0}}, "[shoe]: poll_s is 9.0: it must be 0.02 to 0.2 seconds"),
    ({"shoe": {"repeat_window_s": -1.0}}, "[shoe]: repeat_window_s is -1.0: it must be 0 or more seconds"),
    ({"shoe": {"protocol": "feig"}}, "[shoe] tags is missing: feig reads tags, so name the registry of each shoe"),
    ({"shoe": {"protocol": "feig", "tags": ["no.toml"]}}, "no.toml: cannot be read"),
    ({"shoe": {"cut_codes": ["A01"]}}, "[shoe] cut code 'A01' already means something else in code set 'scan_table'"),
    ({"shoe": {"cut_codes": [""]}}, "[shoe] cut code '' must be 1 to "),
    (ANGEL | {"shoe": {"protocol": "angel", "repeat_window_s": 0.0}}, "[shoe] repeat_window_s is 0.0: angel needs "),
    (
        {"shoe": {"protocol": "angel"}},
        "[shoe] protocol 'angel' does not name every card as it is drawn, as blackjack needs",
    ),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "table.toml"


def said(file: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load(file)
    return str(caught.value)


def test_the_good_file_is_good(file: Path) -> None:
    file.write_text(toml(GOOD))
    assert load(file).config.table.id == "t-1"


@pytest.mark.parametrize(("edit", "expected"), WRONG, ids=[text[:60] for _, text in WRONG])
def test_a_wrong_key_is_named(file: Path, edit: dict[str, dict[str, Any]], expected: str) -> None:
    file.write_text(changed(edit))
    lines = said(file).splitlines()
    assert all(line.startswith(f"{file}: ") for line in lines)
    assert any(expected in line for line in lines), lines


def test_everything_wrong_is_told_at_once(file: Path) -> None:
    file.write_text(
        changed({"table": {"id": "X"}, "game": {"betting_s": 0, "reserve": 999}, "shoe": {"protocol": "x"}})
    )
    assert [line.partition(": ")[2].split(" ")[0] for line in said(file).splitlines()] == [
        "[game]", "[game]", "[table]", "[shoe]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[table\n", "not TOML: "),
        (b"[game]\n\xff\xfe", "not TOML: line 2 is not UTF-8; save the file as UTF-8"),
        (b"", "top level: section [table] is missing"),
    ],
)
def test_what_is_no_table_file_is_told(file: Path, content: bytes, expected: str) -> None:
    file.write_bytes(content)
    assert said(file).startswith(f"{file}: {expected}")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert said(tmp_path / "no.toml") == f"{tmp_path}/no.toml: cannot be read: No such file or directory"
    assert said(tmp_path) == f"{tmp_path}: cannot be read: Is a directory"


def test_the_command_exits_2(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(changed({"game": {"game": "poker"}}))
    for words in (["run", str(file)], ["run", str(file), "--check"], ["doctor", str(file)]):
        assert main(words) == 2
        assert f"{file}: [game] game: 'poker' is not possible" in capsys.readouterr().err


def test_paths_are_seen_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from controller.cards import DECKS, FACES
    from drivers.tags import TagRegistry, write_registry

    (tmp_path / "a").mkdir()
    cards = {f"E004{n:012X}": face for n, face in enumerate(FACES * DECKS)}
    write_registry(tmp_path / "a/red.toml", TagRegistry("red", cards))
    (tmp_path / "a/table.toml").write_text(changed({"shoe": {"protocol": "feig", "tags": ["red.toml"], "port": "x"}}))
    monkeypatch.chdir(tmp_path)
    loaded = load(Path("a/table.toml"))
    assert loaded.shoe.tags == (f"{tmp_path}/a/red.toml",)
    assert loaded.shoe.port == f"{tmp_path}/a/x"


#: Functions whose every line that makes a message must be reached by some wrong file above.
CHECKS: tuple[Callable[..., Any], ...] = (
    config.problems, config._contradictions, config._sources_problems, GameOptions.problems, BookSetting.problems,
    ShoeSettings.__post_init__,
)  # fmt: skip


def test_every_message_is_tested(file: Path) -> None:
    codes = {check.__code__: check for check in CHECKS}
    reached: dict[Any, set[int]] = {code: set() for code in codes}

    def trace(frame: FrameType, event: str, _arg: Any) -> Any:
        if frame.f_code not in codes:
            return None
        if event == "line":
            reached[frame.f_code].add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for edit, _ in WRONG:
            file.write_text(changed(edit))
            with pytest.raises(ConfigError):
                load(file)
    finally:
        sys.settrace(before)
    for code, check in codes.items():
        lines, first = inspect.getsourcelines(check)
        telling = {
            first + n
            for n, line in enumerate(lines)
            if line.strip().startswith(("found.append(", "raise SettingsError("))
        }
        missed = {number: lines[number - first].strip() for number in telling - reached[code]}
        assert missed == {}, check.__qualname__
