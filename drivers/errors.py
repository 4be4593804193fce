"""What can go wrong with a device's line, named by when it happens.

``drivers.port`` turns everything the operating system and the serial library raise into these, with the cause
kept in ``__cause__``. A message says what, where, and what to do. (``drivers.events.PortLost`` is the event that
tells the table; ``PortLost`` here is the exception inside the driver.)
"""

from __future__ import annotations


class DriverError(Exception):
    """Root of all errors of this package."""


class SettingsError(DriverError, ValueError):
    """A setting is wrong: unknown protocol, a cut-card code that is a card. Trying again does not help."""


class PortUnavailable(DriverError):
    """The port cannot be opened: nothing there, a directory, no serial line, no permission, refused."""


class PortBusy(DriverError):
    """Another program holds the port."""


class PortLost(DriverError):
    """The open port stopped working: unplugged, closed by the peer, or read by another program."""


class PortTimeout(DriverError):
    """The device did not take the bytes in time; how many it took is not known."""


class DeviceSilent(DriverError):
    """The line is open, but the device does not answer what it is asked: off, or set up otherwise."""
