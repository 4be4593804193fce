"""``python -m controller.reference [FOLDER]`` writes the pages, by default to ``docs/reference``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from controller.reference import commands, config, feed

PAGES: Final[dict[str, Callable[[], str]]] = {
    "config.md": config.page,
    "feed.schema.json": feed.text,
    "commands.md": commands.commands,
    "command-line.md": commands.command_line,
}


def main() -> int:
    """Write every page."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/reference")
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (folder / name).write_text(make(), encoding="utf-8")
        print(folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
