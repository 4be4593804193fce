"""The pages name every type, command and code there is."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from controller import facts
from controller.commands import COMMANDS
from controller.config import load
from controller.refusal import CODES
from controller.table.incidents import TITLES

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def feed() -> str:
    return (DOCS / "feed.md").read_text()


def test_every_public_fact_is_described(feed: str) -> None:
    kinds = [k for k in vars(facts).values() if isinstance(k, type) and issubclass(k, facts.Fact)]
    public = [k for k in kinds if k.PUBLIC and k is not facts.Fact]
    assert len(public) > 20
    for kind in public:
        assert f"`{kind.__struct_config__.tag}`" in feed
        shown = {field.name for field in msgspec.structs.fields(kind)} - set(kind.SECRET)
        for name in shown:
            assert f"`{name}`" in feed, f"{kind.__struct_config__.tag} has {name}"


def test_every_public_fact_has_been_announced() -> None:
    told = (DOCS / "feed-changes.md").read_text()
    kinds = [k for k in vars(facts).values() if isinstance(k, type) and issubclass(k, facts.Fact)]
    tags = {k.__struct_config__.tag for k in kinds if k.PUBLIC and k is not facts.Fact}
    assert {tag for tag in tags if f"`{tag}`" not in told} == set()


def test_every_command_and_code_is_described(feed: str) -> None:
    for word in (*COMMANDS, *CODES):
        assert f"`{word}`" in feed
    for args in COMMANDS.values():
        for field in msgspec.structs.fields(args):
            assert f"`{field.name}`" in feed


def test_the_table_file_of_the_page_is_good(tmp_path: Path) -> None:
    text = (DOCS / "operations.md").read_text()
    (found,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "table.toml").write_text(found)
    assert load(tmp_path / "table.toml").config.table.id == "bb-1"


def test_codes_that_can_be_raised_are_explained_to_the_floor() -> None:
    text = (DOCS / "operations.md").read_text()
    for code in ("M-01", "M-05", "M-08", "M-21", "M-26", "M-30", "hidden"):
        assert code in TITLES
        assert code in text


def test_every_misdeal_has_a_row_and_a_test_that_exists() -> None:
    text = (DOCS / "misdeals.md").read_text()
    rows = re.findall(r"^\| (M-\d\d) \| ([^|]+) \|.*`([\w/]+\.py)::(test_\w+)` \|$", text, re.MULTILINE)
    assert [(code, title) for code, title, _, _ in rows] == [
        (code, title) for code, title in sorted(TITLES.items()) if code.startswith("M-")
    ]
    for code, _, file, name in rows:
        assert f"def {name}(" in (Path(__file__).parent / file).read_text(), f"{code}: {file}::{name}"
