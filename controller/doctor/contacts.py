"""Who may speak to the table, and where it listens."""

from __future__ import annotations

import errno
import os
import socket
from collections import Counter
from pathlib import Path

from controller.bus import keys
from controller.bus.errors import BusError
from controller.config import Loaded
from controller.doctor.findings import Finding, failure, ok, warning


def people(loaded: Loaded) -> list[Finding]:
    """The table's own key and those of the people, with sound modes."""
    folder = loaded.keys
    make = f"dealerd keys person {folder}"
    try:
        keys.load_server(folder)
        known = keys.load_identities(folder)
    except (BusError, OSError) as error:
        return [
            failure(
                "keys",
                str(error),
                "every connection is encrypted and named by its key; without sound keys the table does not start",
                f"chmod 700 {folder}, chmod 600 for each .key_secret; missing: dealerd keys server {folder}; "
                f"a person's that is damaged: remove it, dealerd keys person {folder} ROLE NAME",
            )
        ]
    count = Counter(identity.role for identity in known.values())
    names = {identity.person for identity in known.values() if identity.role == "supervisor"}
    found = [
        ok("keys", ", ".join(f"{number} {role}" for role, number in sorted(count.items())) or "the table's own only")
    ]
    if not names:
        found.append(
            failure(
                "supervisors", "there is none", "nobody could start a shift or lift a hold", f"{make} supervisor NAME"
            )
        )
    elif len(names) == 1:
        found.append(
            warning(
                "supervisors",
                "there is only one",
                "what needs a second person's approval (a card entered by hand, a correction) cannot be done",
                f"{make} supervisor NAME, for another person",
            )
        )
    for role, why in (
        ("game_server", "nobody could open bets"),
        ("dealer", "no dealer could log on, load a shoe or pause"),
    ):
        if not count[role]:
            level = failure if role == "game_server" else warning
            found.append(level(f"{role} key".replace("_", " "), "there is none", why, f"{make} {role} NAME"))
    return found


def endpoints(loaded: Loaded, pid: int | None) -> list[Finding]:
    """Feed, commands and metrics: free before the start, answered after it."""
    found = []
    places = {which: loaded.endpoint(which) for which in ("feed", "commands")}
    address = loaded.config.metrics.address()
    if address is not None:
        host, port = address
        places["metrics"] = f"tcp://{f'[{host}]' if ':' in host else host}:{port}"
    for which, endpoint in places.items():
        if endpoint.endswith((":*", ":0")):
            found.append(ok(f"{which} address", f"{endpoint}: any free port"))
            continue
        found.append(_endpoint(f"{which} address", endpoint, listens(endpoint), pid))
    return found


def _endpoint(check: str, endpoint: str, taken: bool, pid: int | None) -> Finding:
    if pid is None and (why_not := _refused(endpoint)):
        return failure(
            check,
            f"{endpoint} cannot be listened at: {why_not}",
            "the table could not start",
            "name an address of this machine (ip -br address), * for all, or a socket in a folder that is there",
        )
    if taken and pid is None:
        return failure(
            check,
            f"another program listens at {endpoint}",
            "the table could not start",
            "give every table addresses of its own; `ss -lntxp` names the program",
        )
    if not taken and pid is not None:
        return failure(
            check,
            f"the table runs, but nothing answers at {endpoint}",
            "players and screens see nothing",
            "journalctl -u 'dealerd@*' -n 50; the table may still be starting, or run with another file",
        )
    return ok(check, f"{endpoint}, {'the table listens' if taken else 'free'}")


def _refused(endpoint: str) -> str:
    """Why this machine or user could not listen at ``endpoint``, whoever has it now; empty if one could."""
    kind, _, rest = endpoint.partition("://")
    if kind == "ipc":
        folder = Path(rest).parent
        if not folder.is_dir():
            return f"there is no folder {folder}"
        return "" if os.access(folder, os.W_OK | os.X_OK) else f"this user may not write in {folder}"
    host, port = _host_and_port(rest)
    if host == "*" or host in (name for _, name in socket.if_nameindex()):
        return ""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        return "" if error.errno == errno.EADDRINUSE else error.strerror or str(error)
    return ""


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)


def listens(endpoint: str) -> bool:
    """Whether somebody answers at ``tcp://HOST:PORT`` or ``ipc://PATH``."""
    kind, _, rest = endpoint.partition("://")
    if kind == "ipc":
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(rest)
            except OSError:
                return False
            return True
    host, port = _host_and_port(rest)
    try:
        with socket.create_connection(("127.0.0.1" if host in ("*", "0.0.0.0") else host, port), timeout=1):
            return True
    except OSError:
        return False
