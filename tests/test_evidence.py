"""What the pages for laboratories and auditors name must exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
CODE = re.compile(r"`((?:controller|drivers|calibration|vision|docs)/[\w/]+\.(?:py|md))`")


@pytest.mark.parametrize("page", ["compliance.md", "security.md"])
def test_every_test_and_file_on_the_page_exists(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()
    tests = TEST.findall(text)
    assert len(tests) > 20
    for path, name in tests:
        source = (ROOT / path).read_text()
        assert not name or re.search(rf"^(def|class) {name}\b|^{name} = ", source, re.MULTILINE), f"{path}::{name}"
    for path in CODE.findall(text):
        assert (ROOT / path).is_file(), path


def test_every_requirement_has_its_line() -> None:
    text = (ROOT / "docs" / "compliance.md").read_text()
    lines = re.findall(r"^\| (REG-\d\d) \|.*$", text, re.MULTILINE)
    assert lines == [f"REG-{number:02d}" for number in range(1, 38)]
    for line in text.splitlines():
        if line.startswith("| REG-"):
            assert line.count(" | ") == 4, line[:60]
