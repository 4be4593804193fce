"""Where a table is and with which key one speaks to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from controller import public
from controller.bus import keys
from controller.bus.client import TableClient
from controller.config import Loaded


@dataclass(frozen=True)
class Contact:
    """Addresses and keys of one table for one person. ``table`` None: whatever table the feed carries."""

    table: str | None
    feed: str
    commands: str
    server_key: Path
    key_file: Path

    @classmethod
    def of(cls, loaded: Loaded, key_file: Path) -> Contact:
        """The table of a table file, spoken to with ``key_file``."""
        return cls(
            loaded.config.table.id,
            loaded.endpoint("feed"),
            loaded.endpoint("commands"),
            loaded.keys / (keys.SERVER + keys.PUBLIC_SUFFIX),
            key_file,
        )

    def client(self) -> TableClient:
        """A connected client that folds the public state."""
        return TableClient(
            self.feed, self.commands, self.server_key, self.key_file, fold=public.fold, table=self.table
        )


def secret_of(folder: Path, role: str, person: str) -> Path:
    """The file of a person's secret key in a key folder."""
    return folder / role / (person + keys.SECRET_SUFFIX)
