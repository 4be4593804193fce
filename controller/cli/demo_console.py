"""The screens of a simulated table: keys and accounts for people who come to look, and the floor file."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from controller.bus import keys
from controller.console.accounts import Accounts
from controller.simulation.studio import Studio

#: People who log on at the screens. Names other than those of the simulated people, so that they are others.
VISITORS: Final = {"anna": "supervisor", "bruno": "supervisor", "dora": "dealer", "tilo": "technician"}
PASSWORD: Final = "look-around-7"
ADMIN: Final = "admin"
CONSOLE: Final = "console"
#: The port tried first; any other if it is taken.
PORT: Final = 8700


def furnish(
    folder: Path,
    studios: Sequence[Studio],
    *,
    listen: str = "127.0.0.1:0",
    extra: str = "",
) -> Path:
    """Make keys, accounts and the floor file for tables whose key folders exist. Returns the floor file.

    ``extra`` is TOML for the file's ``[console]`` section.
    """
    folder.mkdir(parents=True, exist_ok=True)
    accounts = Accounts(folder / "console")
    if accounts.empty:  # else a demo was played in this folder before, and people have their keys
        pairs = _keys(studios)
        for name, role in VISITORS.items():
            accounts.add(name, role, PASSWORD, pair=pairs[name], must_change=False)
        accounts.add(ADMIN, "administrator", PASSWORD, must_change=False)
    lines = ["[console]", f'listen = "{listen}"', extra, "[demo.controls]"]
    lines += [f'{studio.scene.table} = "{studio.control}"' for studio in studios]
    for name, role in (*VISITORS.items(), (ADMIN, "administrator")):
        lines += ["[[demo.logons]]", f'name = "{name}"', f'role = "{role}"', f'password = "{PASSWORD}"']
    for studio in studios:
        key = studio.folder / "keys" / "observer" / f"{CONSOLE}{keys.SECRET_SUFFIX}"
        lines += [
            "[[tables]]",
            f'file = "{studio.table_file}"',
            f'key = "{key}"',
        ]
    floor = folder / "floor.toml"
    floor.write_text("\n".join(lines) + "\n")
    return floor


def free_address() -> str:
    """``PORT`` on this machine alone, or any port if that is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", PORT))
        except OSError:
            return "127.0.0.1:0"
    return f"127.0.0.1:{PORT}"


def _keys(studios: Sequence[Studio]) -> dict[str, keys.KeyPair]:
    """One pair a person, known to every table."""
    pairs: dict[str, keys.KeyPair] = {}
    for studio in studios:
        folder = studio.folder / "keys"
        keys.make_person(folder, "observer", CONSOLE)
        for name, role in VISITORS.items():
            if name not in pairs:
                made = keys.make_person(folder, role, name).with_suffix(keys.SECRET_SUFFIX)
                pairs[name] = keys.load_secret(made)
                made.unlink()  # from now on only the person's password opens it
                continue
            file = folder / role / (name + keys.PUBLIC_SUFFIX)
            file.parent.mkdir(mode=0o700, exist_ok=True)
            file.write_text(keys.public_text(pairs[name].public))
            file.chmod(0o644)
    return pairs
