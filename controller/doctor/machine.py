"""The machine: clock, memory, programs that get in the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from controller.doctor.findings import Finding, note, ok, warning
from controller.doctor.place import Place, kernel_clock

#: A record's times are compared with video and platform.
CLOCK_ERROR_S: Final = 1.0
MEMORY_MIB: Final = 256
#: Programs that open serial ports on their own.
INTRUDERS: Final = {"ModemManager": "modemmanager", "brltty": "brltty"}


def clock(ask: Callable[[], tuple[bool, float]] = kernel_clock) -> Finding:
    """Something keeps the clock."""
    why = "every fact carries the time of day; records, video and the platform are compared by it"
    do = "apt-get install chrony (or systemd-timesyncd), give it a time server, look at `chronyc tracking`"
    try:
        kept, error_s = ask()
    except OSError as error:
        return note("clock", f"the kernel does not say ({error.strerror})", why, do)
    if not kept:
        return warning("clock", "nothing keeps this machine's clock", why, do)
    if error_s > CLOCK_ERROR_S:
        return warning("clock", f"kept, but may be wrong by {error_s:.1f} s", why, do)
    return ok("clock", f"kept; may be wrong by {error_s * 1000:.0f} ms")


def memory(place: Place) -> Finding:
    """Memory that is free for use."""
    text = place.read(place.proc / "meminfo") or ""
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            mib = int(rest.split()[0]) // 1024
            if mib < MEMORY_MIB:
                return warning(
                    "memory",
                    f"{mib} MiB are free",
                    "a table with many players needs up to 200 MiB; short of memory the kernel ends programs",
                    "end what is not needed here, or give the machine more",
                )
            return ok("memory", f"{mib} MiB are free")
    return note("memory", "/proc/meminfo tells nothing", "free memory is unknown", "look with `free -m`")


def intruders(place: Place) -> Finding:
    """Nobody runs that opens serial ports on their own."""
    found = set()
    for comm in place.proc.glob("[0-9]*/comm"):
        name = place.read(comm)
        if name in INTRUDERS:
            found.add(name)
    if not found:
        return ok("programs", "neither ModemManager nor brltty runs")
    names = " and ".join(sorted(found))
    packages = " ".join(INTRUDERS[name] for name in sorted(found))
    return warning(
        "programs",
        f"{names} running",
        "it opens new serial ports and writes to them: the shoe hears AT commands, the table loses bytes",
        f"apt-get purge {packages}, or install 70-dealerd.rules (make install)",
    )
