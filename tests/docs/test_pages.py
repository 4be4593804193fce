"""What the pages tell people to type works: whole pages are run, every `dealerd …` line anywhere is at least parsed.

A block of ``sh`` is run in the page's folder, in order; a block of ``text`` after it names what must be in its
output, line by line. Comments in the page, which nobody sees, say more: ``<!-- background -->`` before a block that
goes on running, ``<!-- until: COMMAND -->`` what to wait for, ``<!-- by hand: REASON -->`` that a block is not for a
test, ``<!-- table: GAME -->`` that from here on a table with a simulated shoe runs in the folder.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import pytest

from controller.cli import COMMANDS as SUBCOMMANDS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: Pages that are run from their first block to their last.
RUN = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PATIENCE_S = 40.0

PEOPLE = ("supervisor anna", "supervisor olga", "dealer ben", "game_server platform", "observer display")
TABLE = """\
[table]
id = "first-1"
journal = "first-1.journal"
feed = "ipc://feed.sock"
commands = "ipc://commands.sock"
[game]
game = "{game}"
betting_s = 600.0
decision_s = 600.0
insurance_s = 600.0
auto_void_after_s = 0.0
[shoe]
protocol = "line"
port = "shoe"
repeat_window_s = 0.0
[metrics]
listen = "127.0.0.1:0"
"""

_BLOCK = re.compile(
    r"^( *)```([a-z]*)\n(.*?)^ *```$|<!-- ((?:background|until|by hand|table)(?:: .*?)?) -->", re.M | re.S
)


@dataclass
class Step:
    """One block of a page, or one thing to wait for."""

    kind: str
    script: str
    expected: list[str] = field(default_factory=list)


def steps_of(text: str) -> list[Step]:
    found: list[Step] = []
    mark = ""
    for match in _BLOCK.finditer(text):
        indent, language, body, comment = match[1], match[2], match[3], match[4]
        if comment is not None:
            kind, _, rest = comment.partition(": ")
            if kind in ("until", "table"):
                found.append(Step(kind, rest))
            else:
                mark = kind
        elif language == "sh":
            script = "".join(line.removeprefix(indent) for line in body.splitlines(keepends=True))
            found.append(Step(mark or "run", script))
            mark = ""
        elif language == "text" and found:
            found[-1].expected += [line.strip() for line in body.splitlines() if line.strip()]
    return found


def with_free_ports(text: str) -> str:
    """The page with ports that nobody has now in place of its own: other things may run on this machine."""
    named = sorted(set(re.findall(r"(?:127\.0\.0\.1:|--http )(\d{4,5})\b", text)))
    with contextlib.ExitStack() as stack:
        free = [stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in named]
    for port, instead in zip(named, free, strict=True):
        text = re.sub(rf"\b{port}\b", str(instead), text)
    return text


class Shell:
    """Runs a page's blocks. The folder a block changes to stays for the next ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = self._at = folder
        self._background: list[subprocess.Popen[bytes]] = []
        self._env = os.environ | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder),
            "PYTHONUNBUFFERED": "1",
        }  # fmt: skip

    def run(self, script: str, timeout_s: float = PATIENCE_S) -> subprocess.CompletedProcess[str]:
        where = self.folder / ".at"
        whole = f"trap 'pwd > {shlex.quote(str(where))}' EXIT\n{script}"
        done = subprocess.run(
            ["bash", "-eu", "-o", "pipefail", "-c", whole],
            cwd=self._at, env=self._env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, timeout=timeout_s, check=False,
        )  # fmt: skip
        self._at = Path(where.read_text().strip())
        return done

    def background(self, script: str) -> None:
        log = self.folder / f"background-{len(self._background)}.log"
        with log.open("wb") as out:
            self._background.append(
                subprocess.Popen(
                    ["bash", "-c", script], cwd=self._at, env=self._env, stdin=subprocess.DEVNULL,
                    stdout=out, stderr=out, start_new_session=True,
                )
            )  # fmt: skip

    def table(self, game: str) -> None:
        """The tutorial's table, running, with its shoe."""
        self.folder.joinpath("table.toml").write_text(TABLE.format(game=game))
        for words in ("server keys", *(f"person keys {who}" for who in PEOPLE)):
            assert self.run(f"dealerd keys {words}").returncode == 0
        self.background("dealerd shoe --protocol line --link shoe --control shoe.control --seed 7")
        self.until("test -e shoe -a -S shoe.control")
        self.background("dealerd run table.toml --ready-file ready")
        self.until("test -e ready")
        self.until("dealerd ctl table.toml status | grep -q start_shift")

    def until(self, command: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while (done := self.run(command)).returncode:
            assert time.monotonic() < deadline, f"waited in vain for: {command}\n{done.stdout}\n{self.logs()}"
            time.sleep(0.02)

    def logs(self) -> str:
        return "\n".join(f"{path.name}: {path.read_text()[-1500:]}" for path in self.folder.glob("background-*.log"))

    def close(self) -> None:
        for process in reversed(self._background):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in self._background:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    one = Shell(tmp_path_factory.mktemp("page"))
    yield one
    one.close()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_a_page_can_be_followed(page: Path, shell: Shell) -> None:
    if shutil.which("socat") is None:
        pytest.skip("socat is missing")
    for step in steps_of(with_free_ports(page.read_text())):
        match step.kind:
            case "by hand":
                continue
            case "table":
                shell.table(step.script)
            case "until":
                shell.until(step.script)
            case "background":
                shell.background(step.script)
            case _:
                done = shell.run(step.script)
                assert done.returncode == 0, f"{step.script}\n{done.stdout}\n{shell.logs()}"
                for line in step.expected:
                    parts = [re.escape(part.strip()) for part in line.split("…")]
                    assert re.search(".*".join(parts), done.stdout), f"{line!r} is not in:\n{done.stdout}"


# --- every line with dealerd in it, on every page ------------------------------------------------------------------


def lines_of(page: Path) -> Iterator[str]:
    """Commands in blocks that are not of another language, joined where they go on, without comments."""
    for match in _BLOCK.finditer(page.read_text()):
        if match[4] is None and match[2] in ("", "sh"):
            for line in match[3].replace("\\\n", " ").splitlines():
                found = re.search(r"(?:^|[|(;&] *|\$ )(?:sudo -u \S+ )?(?:\.venv/bin/)?dealerd (.*)", line.strip())
                if found:
                    yield found[1]


COMMANDS = sorted({(page.relative_to(ROOT).as_posix(), line) for page in PAGES for line in lines_of(page)})
_VALUES = {"N": "1", "ROUND": "s1-001", "SEQ": "1", "X": "1"}


def parse(line: str) -> tuple[int, str]:
    """The status of the real parser; nothing is carried out."""
    words = shlex.split(
        line.split(" # ")[0].split(" > ")[0].split(" || ")[0].split(" | ")[0].rstrip(" &)"), comments=True
    )
    words = [_VALUES.get(word, word) for word in words if word not in ("…", "...")]
    parser = argparse.ArgumentParser("dealerd")
    parser.add_argument("--version", action="store_true")
    subparsers = parser.add_subparsers()
    for name in {words[0]} & set(SUBCOMMANDS):
        import_module(SUBCOMMANDS[name]).add_parser(subparsers)
    with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(err):
        try:
            parser.parse_args(words)
        except SystemExit as done:
            return int(done.code or 0), err.getvalue()
    return 0, ""


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 60


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=lambda text: text[:60])
def test_a_command_is_one_that_the_program_knows(page: str, line: str) -> None:
    status, said = parse(line)
    assert status == 0, f"{page}: dealerd {line}\n{said}"


def test_the_parser_finds_a_wrong_command() -> None:
    for line in ("journal shew x", "run", "run table.toml --chek", "rum table.toml", "demo --rounds many"):
        assert parse(line)[0] == 2, line
