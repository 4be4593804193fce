"""The service as systemd and a monitoring system see it: a real process, its notify socket, its HTTP
endpoint, its log."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PATIENCE_S = 15.0


@pytest.fixture
def supervisor(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """systemd's end of the notify socket; every process started meanwhile finds it in its environment."""
    path = tmp_path_factory.mktemp("sd") / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.bind(str(path))
        one.settimeout(PATIENCE_S)
        monkeypatch.setenv("NOTIFY_SOCKET", str(path))
        monkeypatch.setenv("WATCHDOG_USEC", "400000")
        monkeypatch.delenv("WATCHDOG_PID", raising=False)
        yield one


def hear(supervisor: socket.socket, until: str) -> list[str]:
    """Messages up to one that begins with ``until``."""
    found = [supervisor.recv(4096).decode()]
    while not found[-1].startswith(until):
        found.append(supervisor.recv(4096).decode())
    return found


def url(table: Any) -> str:
    found = re.search(r"metrics and health at (http://\S+)", table.log)
    assert found is not None, table.log
    return found[1]


def get(address: str, accept: str = "text/plain") -> tuple[int, str, str]:
    """(status, content type, body)."""
    request = urllib.request.Request(address, headers={"Accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read().decode()


def samples(text: str) -> dict[str, float]:
    """Every sample of an exposition, by name and labels."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            found[re.sub(r',?table="t-1"', "", name).replace("{,", "{").replace("{}", "")] = float(value)
    return found


def test_systemd_hears_ready_status_watchdog_and_stopping(rig: Callable[..., Any], supervisor: socket.socket) -> None:
    table = rig()
    before = hear(supervisor, "READY=1")
    assert not any(text.startswith(("STOPPING", "WATCHDOG")) for text in before)
    hear(supervisor, "WATCHDOG=1")
    hear(supervisor, "WATCHDOG=1")
    table.to_dealing()
    hear(supervisor, "STATUS=dealing; step draw player/0")
    table.order("pause", reason="coffee")
    hear(supervisor, "STATUS=dealing; step wait; held: pause")
    assert table.stop() == 0
    hear(supervisor, "STOPPING=1")


def test_a_stopped_process_feeds_no_watchdog(rig: Callable[..., Any], supervisor: socket.socket) -> None:
    table = rig()
    hear(supervisor, "WATCHDOG=1")
    pid = table._process.pid
    os.kill(pid, 19)
    try:
        _until_stopped(pid)
        supervisor.setblocking(False)
        while True:
            try:
                supervisor.recv(4096)
            except BlockingIOError:
                break
        supervisor.settimeout(1.0)
        with pytest.raises(TimeoutError):
            supervisor.recv(4096)
    finally:
        os.kill(pid, 18)
    supervisor.settimeout(PATIENCE_S)
    hear(supervisor, "WATCHDOG=1")


def _until_stopped(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
        assert time.monotonic() < deadline


# --- metrics and health --------------------------------------------------------------------------------------------


@pytest.fixture
def watched(rig: Callable[..., Any]) -> Any:
    """A table with its endpoint, a quick round played and the next one paused while it waits for a card."""
    table = rig(metrics={"listen": "127.0.0.1:0"})
    table.to_dealing()
    table.line.cards("AH 9C KH 8D")
    table.last("round_result")
    table.step("open_bets")
    table.order("open_bets")
    table.order("close_bets")
    table.step("draw player/0")
    table.order("pause", reason="coffee")
    table.refused("open_bets")
    return table


def test_metrics_tell_what_happened(watched: Any) -> None:
    def held() -> bool:
        return samples(get(url(watched) + "/metrics")[2])['dealerd_hold{hold="pause"}'] == 1

    watched.until(held, "the hold in the metrics")
    status, kind, text = get(url(watched) + "/metrics")
    assert status == 200
    assert kind.startswith("text/plain")
    found = samples(text)
    # Indicator, one burned card, four of the round.
    assert found['dealerd_frames_total{type="card_dealt"}'] == 4
    assert found["dealerd_card_latency_seconds_count"] == 6
    assert 0 < found['dealerd_card_latency_recent_seconds{quantile="0.5"}'] < 60
    quantiles = [found[f'dealerd_card_latency_recent_seconds{{quantile="{q}"}}'] for q in ("0.5", "0.95", "0.99")]
    assert quantiles == sorted(quantiles)
    assert found['dealerd_phase{phase="dealing"}'] == 1
    assert sum(value for name, value in found.items() if name.startswith("dealerd_phase")) == 1
    assert found["dealerd_devices_lost"] == 0
    assert found['dealerd_commands_total{answer="ok",command="pause"}'] == 1
    assert found['dealerd_commands_total{answer="held",command="open_bets"}'] == 1
    assert found["dealerd_last_seq"] == watched.feed()[-1]["seq"]
    assert found["dealerd_disk_free_bytes"] % (16 * 1024 * 1024) == 0


def test_no_metric_names_a_card_a_round_or_a_person(watched: Any) -> None:
    _, _, text = get(url(watched) + "/metrics")
    words = set(re.findall(r'="([^"]*)"', text))
    frames = watched.feed()
    secret = {str(f["data"].get("card")) for f in frames} | {str(f["round"]) for f in frames} | {"sam", "dana", "gs"}
    assert not words & secret
    shoe = frames[-1]["shoe"]
    assert shoe not in text


def test_promtool_accepts_the_exposition(watched: Any) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is missing (Debian package prometheus)")
    _, _, text = get(url(watched) + "/metrics")
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.strip() == "", done.stderr


def test_open_metrics_are_served_to_who_asks(watched: Any) -> None:
    _, kind, text = get(url(watched) + "/metrics", "application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text")
    assert text.endswith("# EOF\n")


def test_health_of_a_held_table_is_good(watched: Any) -> None:
    def shown() -> Any:
        return json.loads(get(url(watched) + "/health")[2])

    watched.until(lambda: shown()["holds"] == ["pause"], "the hold")
    status, kind, text = get(url(watched) + "/health")
    assert (status, kind) == (200, "application/json")
    found = json.loads(text)
    assert found["ok"] is True
    assert found["phase"] == "dealing"
    assert found["devices_lost"] == []
    watched.line.unplug()
    watched.until(lambda: shown()["devices_lost"] == ["shoe"], "the loss")
    assert get(url(watched) + "/health")[0] == 200
    watched.line.plug()


def test_other_paths_and_methods_are_refused(watched: Any) -> None:
    assert get(url(watched) + "/")[0] == 404
    request = urllib.request.Request(url(watched) + "/metrics", method="POST", data=b"x")
    with pytest.raises(urllib.error.HTTPError) as caught, urllib.request.urlopen(request, timeout=PATIENCE_S):
        pass
    with caught.value as error:
        assert error.code == 501


def test_a_client_that_says_nothing_stops_neither_table_nor_others(watched: Any) -> None:
    host, port = url(watched).removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))):
        watched.order("resume", reason="back")
        assert get(url(watched) + "/health")[0] == 200
        assert watched.stop() == 0


def test_a_taken_port_is_a_clear_error(watched: Any, tmp_path: Path) -> None:
    port = url(watched).rsplit(":", 1)[1]
    text = watched.file.read_text().replace('listen = "127.0.0.1:0"', f'listen = "127.0.0.1:{port}"')
    text = text.replace('"t.journal"', f'"{tmp_path}/t.journal"').replace("ipc://", f"ipc://{tmp_path}/")
    other = watched.folder / "other.toml"
    other.write_text(text)
    words = [sys.executable, "-m", "controller.cli", "run", str(other)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 1
    assert f"[metrics] listen 127.0.0.1:{port}: Address already in use; give every table its own port" in done.stderr


# --- the log -------------------------------------------------------------------------------------------------------


def test_json_lines_carry_the_table(rig: Callable[..., Any]) -> None:
    table = rig(log={"format": "json"})
    table.order("start_shift")
    assert table.stop() == 0
    lines = [json.loads(line) for line in table.log.splitlines()]
    (order,) = [line for line in lines if line["message"] == "start_shift by supervisor:sam"]
    assert order["level"] == "info"
    assert order["logger"] == "dealerd.table"
    assert order["table"] == "t-1"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", order["time"])


def test_a_log_nobody_reads_stops_neither_dealing_nor_the_end(rig: Callable[..., Any]) -> None:
    table = rig(game={"game": "baccarat", "decisions": "book", "burn": "none"})
    assert table.stop() == 0
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writer, True)
    ready = table.folder / "ready"
    ready.unlink()
    words = [sys.executable, "-m", "controller.cli", "run", str(table.file), "--ready-file", str(ready), "--verbose"]
    while table._clients:
        table._clients.popitem()[1].close()
    table._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=writer, stderr=writer)
    os.close(writer)
    try:
        table.until(ready.exists, "the table to come up")
        table.until(lambda: "shoe" not in table.status()["devices_lost"], "the shoe")
        table.order("start_shift")
        table.order("load_shoe")
        table.order("open_bets", role="game_server")
        table.order("close_bets", role="game_server")
        table.line.cards("2H 3H 6C 6D")
        table.last("round_result")
        assert table.stop() == 0
    finally:
        os.close(reader)
