"""The pages of docs/reference are what the types say, and the schema fits what is really published."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.reference import feed
from controller.reference.__main__ import PAGES

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_types_say(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name](), (
        f"docs/reference/{name}: run `make reference`"
    )


def test_nothing_else_lies_there() -> None:
    assert sorted(path.name for path in REFERENCE.iterdir()) == sorted(PAGES)


def test_no_secret_field_is_in_the_schema() -> None:
    definitions = feed.schema()["$defs"]
    for name, kind in feed.public_facts().items():
        shown = definitions[name]["properties"]["data"]["properties"]
        assert not set(shown) & set(kind.SECRET), name
    assert set(definitions["card_held"]["properties"]["data"]["properties"]) == {"position"}
