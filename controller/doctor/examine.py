"""All checks of one table, in the order in which one would mend."""

from __future__ import annotations

from controller.config import Loaded
from controller.doctor import camera, contacts, device, machine, record
from controller.doctor.findings import Finding
from controller.doctor.place import Place


def examine(loaded: Loaded, place: Place | None = None) -> list[Finding]:
    """Look at everything. Takes some seconds at most, changes nothing, and does not disturb a running table."""
    place = place or Place()
    pid = record.running(loaded)
    return [
        *record.journal(loaded, pid),
        *record.disk(loaded, place),
        *contacts.people(loaded),
        *contacts.endpoints(loaded, pid),
        *device.shoe(loaded, place, pid),
        *camera.camera(loaded),
        machine.clock(),
        machine.memory(place),
        machine.intruders(place),
    ]
