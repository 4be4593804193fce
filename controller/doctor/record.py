"""The journal and its disk."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

from controller.config import Loaded
from controller.doctor.findings import Finding, failure, note, ok, warning
from controller.doctor.place import Place
from controller.facts import TableStarted, decode_fact
from controller.journal import schema
from controller.journal.database import MIN_SQLITE, Database, Row
from controller.journal.errors import JournalBusy, JournalDamaged, JournalError, SQLiteTooOld
from controller.journal.files import require_private
from controller.journal.lock import WriterLock
from controller.journal.records import FactRow
from controller.journal.store import Journal

MIB: Final = 1024 * 1024
FREE_FAILURE_MIB: Final = 256
FREE_WARNING_MIB: Final = 2048
COMMITS: Final = 25
#: A dealer notices a prompt that comes this late; a disk this slow is at its end.
SLOW_MS: Final = 20.0
DEAD_MS: Final = 250.0
_WHY: Final = "every card is on disk before anybody sees it; without a journal the table does not start"
NETWORK: Final = ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs")


def running(loaded: Loaded) -> int | None:
    """The process that has the journal open for writing, 0 if it cannot be told; None if nobody has."""
    path = os.path.realpath(loaded.journal)
    if not os.path.exists(path + "-lock"):
        return None
    try:
        WriterLock(path).close()
    except JournalBusy:
        with contextlib.suppress(OSError, ValueError):
            return int(Path(path + "-lock").read_text().strip() or 0)
        return 0
    except JournalError:
        return None
    return None


def journal(loaded: Loaded, pid: int | None) -> list[Finding]:
    """Folder, owner, mode, format and table, and whether the table last ran with this configuration."""
    path = Path(os.path.realpath(loaded.journal))
    if not path.parent.is_dir():
        return [failure("journal", f"there is no folder {path.parent}", _WHY, f"mkdir -m 0700 {path.parent}")]
    if not os.access(path.parent, os.W_OK | os.X_OK):
        return [failure("journal", f"{path.parent} cannot be written by this user", _WHY, _as_owner(path.parent))]
    # Whoever ran a command as root leaves files that are root's.
    for own in (path, Path(f"{path}-lock"), Path(f"{path}-wal"), Path(f"{path}-shm")):
        if own.exists() and not os.access(own, os.R_OK | os.W_OK):
            return [failure("journal", f"{own} cannot be read and written by this user", _WHY, _as_owner(own))]
    if not path.exists():
        return [
            note("journal", f"{path} is not there yet", "the first start makes it", "nothing, if the table is new")
        ]
    if not path.is_file():
        do = "name a file in [table] journal"
        return [failure("journal", f"{path} is a folder or device, not a file", _WHY, do)]
    try:
        require_private(str(path))
    except JournalError as error:
        why = "others on this machine could read hidden cards; the table does not start with such a journal"
        return [failure("journal", str(error), why, f"chmod 600 {path}, and find out who could read it until now")]
    try:
        with contextlib.closing(Database(str(path), writable=False)) as database:
            table = schema.read_meta(database, str(path))["table"]
            last = database.rows("SELECT body FROM facts WHERE type = 'table_started' ORDER BY n DESC LIMIT 1")
            facts = database.rows("SELECT coalesce(max(n), 0) FROM facts")[0][0]
    except SQLiteTooOld:
        return []  # `disk` says so
    except JournalDamaged as error:
        do = f"keep {path}, put it aside with its -wal, and restore a backup: dealerd journal restore"
        return [failure("journal", str(error), _WHY, do)]
    except JournalError as error:
        do = f"dealerd journal upgrade {path}, if an older dealerd wrote it; else install the one that did"
        return [failure("journal", str(error), _WHY, do)]
    if table != loaded.config.table.id:
        found = f"{path} belongs to table {table}, not {loaded.config.table.id}"
        do = "correct [table] id, or give this table a journal of its own in [table] journal"
        return [failure("journal", found, "a record is one table's; with another's the table does not start", do)]
    return _in_use(loaded, path, pid, facts, last)


def _in_use(loaded: Loaded, path: Path, pid: int | None, facts: int, last: list[Row]) -> list[Finding]:
    """What a sound journal tells of itself and of the last start."""
    held = "nobody has it open" if pid is None else f"open in process {pid or 'unknown'}"
    found = [
        ok("journal", f"{path}: {facts} facts, format {schema.SCHEMA}, {path.stat().st_size // MIB} MiB, {held}")
    ]
    started = decode_fact(last[0][0]) if last else None
    if isinstance(started, TableStarted) and started.config_digest != loaded.digest:
        found.append(
            note(
                "configuration",
                f"the digest is {loaded.digest[:12]}…, the last start had {started.config_digest[:12]}…",
                "rules, limits or devices are not those of the last start; each round's record carries its digest",
                "if this is meant, nothing; the change takes effect with the next start",
            )
        )
    else:
        found.append(
            ok("configuration", f"digest {loaded.digest[:12]}…" + (", as at the last start" if started else ""))
        )
    return found


def _as_owner(path: Path) -> str:
    return f"run this as the table's user (sudo -u dealerd …), or give that user the folder: ls -ld {path}"


def disk(loaded: Loaded, place: Place) -> list[Finding]:
    """Free space, kind of file system, and what a durable commit takes there."""
    folder = Path(os.path.realpath(loaded.journal)).parent
    if not folder.is_dir():
        return []
    found = [_space(folder), _kind(folder, place)]
    if os.access(folder, os.W_OK | os.X_OK):
        found += _commits(folder)
    return found


def _space(folder: Path) -> Finding:
    room = os.statvfs(folder)
    mib = room.f_bavail * room.f_frsize // MIB
    why = "a full disk stops the table: nothing is dealt that cannot be recorded; a table writes about 20 MiB a day"
    do = f"free space on the disk of {folder} (df -h {folder}); move old backups away"
    if mib < FREE_FAILURE_MIB:
        return failure("disk space", f"{mib} MiB are free", why, do)
    if mib < FREE_WARNING_MIB:
        return warning("disk space", f"{mib} MiB are free", why, do)
    return ok("disk space", f"{mib // 1024} GiB are free")


def _kind(folder: Path, place: Place) -> Finding:
    best, kind = "", "unknown"
    for line in (place.read(place.proc / "self" / "mounts") or "").splitlines():
        _, point, name, *_ = line.split(" ")
        if f"{folder}/".startswith(point.rstrip("/") + "/") and len(point) >= len(best):
            best, kind = point, name
    if kind in NETWORK:
        return failure(
            "file system",
            f"{folder} lies on {kind}",
            "SQLite's locks and its log do not hold on network file systems: the journal can be damaged",
            "put [table] journal on a local disk",
        )
    if kind in ("tmpfs", "ramfs"):
        return failure(
            "file system",
            f"{folder} lies on {kind}, in memory",
            "after a power cut nothing of the record is left",
            "put [table] journal on a disk",
        )
    return ok("file system", kind)


def _commits(folder: Path) -> list[Finding]:
    """Commits of a trial journal beside the real one."""
    try:
        with tempfile.TemporaryDirectory(prefix=".dealerd-doctor-", dir=folder) as scratch:
            path = Path(scratch) / "trial.journal"
            with Journal.create_or_open(path, table="trial", now_ms=0) as trial:
                took = [_commit(trial, n) for n in range(1, COMMITS + 1)]
            with contextlib.closing(Database(str(path), writable=False)) as database:
                sqlite = str(database.rows("SELECT sqlite_version()")[0][0])
    except SQLiteTooOld as error:
        why = "it can damage a write-ahead log; dealerd opens no journal with it"
        do = "run the venv that make install made: its apsw brings a SQLite of its own (requirements.lock)"
        return [failure("SQLite", str(error), why, do)]
    except (OSError, JournalError) as error:
        do = f"look at space (df -h {folder}), mount (read-only?) and health (dmesg, smartctl) of its disk"
        return [failure("commit time", f"a trial failed: {error}", "the journal cannot be written", do)]
    middle, worst = median(took), max(took)
    text = f"{middle:.1f} ms in the middle, {worst:.1f} ms at worst, of {COMMITS} durable commits"
    why = "every card waits for its commit before it is published"
    do = "use an SSD with power-loss protection; look at what else writes there (iotop), and at its health (smartctl)"
    need = ".".join(map(str, MIN_SQLITE))
    library = ok("SQLite", f"{sqlite} (at least {need}: older ones can damage a journal)")
    if middle > DEAD_MS:
        return [failure("commit time", text, why, do), library]
    if middle > SLOW_MS:
        return [warning("commit time", text, why, do), library]
    return [ok("commit time", text), library]


def _commit(trial: Journal, n: int) -> float:
    began = time.perf_counter()
    trial.append([FactRow(n, 1, 0, "trial", None, None, b"0" * 300)], [])
    return (time.perf_counter() - began) * 1000
