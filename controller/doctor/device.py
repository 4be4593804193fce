"""The shoe's line: the port, who may open it, its settings, the way it is plugged in."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from controller.config import Loaded
from controller.doctor.findings import Finding, failure, note, ok, warning
from controller.doctor.place import Place
from drivers.errors import DriverError, PortBusy
from drivers.port import SerialPort
from drivers.registry import shoe_class

_UNSTABLE: Final = re.compile(r"/dev/tty(USB|ACM)\d+")
_SOCKET: Final = "socket://"


def shoe(loaded: Loaded, place: Place, pid: int | None) -> list[Finding]:
    """The port can be opened with its settings, unless the table has it; for USB, how it is plugged in."""
    settings = loaded.shoe
    line = settings.line(shoe_class(settings.protocol).default_line)
    spoken = f"{line.baudrate} {line.bytesize}{line.parity}{line.stopbits}"
    found = [_open(settings.port, SerialPort(settings.port, line), spoken, pid)]
    if not settings.port.startswith(_SOCKET):
        found += _name(settings.port)
        found += usb(Path(os.path.realpath(settings.port)).name, place)
    return found


def _open(port: str, line: SerialPort, spoken: str, pid: int | None) -> Finding:
    if pid is not None:
        there = port.startswith(_SOCKET) or os.path.exists(port)
        if there:
            return ok("shoe", f"{port} is the running table's; its state: dealerd ctl TABLE.toml status")
        why = "the table waits for the shoe and holds"
        return failure("shoe", f"there is no {port}", why, "plug the shoe in, switch it on")
    try:
        line.open()
    except PortBusy as error:
        why = "the table needs the port for itself; two readers each get half of the bytes"
        return failure("shoe", str(error), why, "stop the other program")
    except DriverError as error:
        why = "the table would start and hold until it hears its shoe"
        do = "plug, power, [shoe] port, this user's group; the usual causes: docs/how-to/connect-a-shoe.md"
        return failure("shoe", str(error), why, do)
    finally:
        line.close()
    return ok("shoe", f"{port} opens at {spoken}")


def _name(port: str) -> list[Finding]:
    if not _UNSTABLE.fullmatch(port):
        return []
    return [
        warning(
            "port name",
            f"{port} is given by the order of plugging in",
            "after a restart it may be another adapter: another table's shoe",
            "use the name of the socket, /dev/studio/shoe-… (rules: make install), or /dev/serial/by-path/…",
        )
    ]


def usb(name: str, place: Place) -> list[Finding]:
    """What the kernel knows of the adapter behind ``/dev/NAME``; nothing for what is not on USB."""
    device = place.sys / "class" / "tty" / name / "device"
    try:
        node = device.resolve(strict=True)
    except OSError:
        return []
    adapter = next((up for up in (node, *node.parents) if (up / "idVendor").exists()), None)
    if adapter is None:
        return []
    vendor, product = (place.read(adapter / key) or "?" for key in ("idVendor", "idProduct"))
    words = [place.read(adapter / key) for key in ("manufacturer", "product")]
    title = " ".join(word for word in words if word) or "unnamed"
    found = [ok("USB", f"{title} ({vendor}:{product}) in socket {adapter.name}{_hub(adapter)}")]
    latency = place.read(node / "latency_timer")
    if latency is not None and latency.isdigit() and int(latency) > 1:
        found.append(
            note(
                "USB latency",
                f"the adapter holds bytes back for up to {latency} ms",
                "a card reaches the table that much later, and messages come in pieces",
                "the driver asks for 1 ms when it opens the port; 70-dealerd.rules sets it for good (make install)",
            )
        )
    if place.read(adapter / "power" / "control") == "auto":
        found.append(
            note(
                "USB power",
                "the adapter may be put to sleep",
                "some adapters lose the first byte after they wake",
                f"70-dealerd.rules keeps it awake; by hand: echo on > {adapter / 'power' / 'control'}",
            )
        )
    return found


def _hub(adapter: Path) -> str:
    """Behind which hub, told by the dots of the kernel's name: ``1-1.4`` is socket 4 of the hub in ``1-1``."""
    hub, dot, _ = adapter.name.rpartition(".")
    return f", behind the hub in {hub}" if dot else ""
