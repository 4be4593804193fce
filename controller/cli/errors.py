"""From exceptions to what a person reads: what, where, what to do; exit status 2 for wrong input, 1 otherwise."""

from __future__ import annotations

import sys


class UsageError(Exception):
    """Input that cannot be used."""


def report(error: Exception) -> int:
    """Print an expected error and return its exit status; raise anything else again."""
    from controller.bus.errors import BusError, CommandRefused, KeysError
    from controller.config import ConfigError
    from controller.journal.errors import JournalError
    from controller.service.errors import EndpointError
    from controller.table.table import JournalFault
    from drivers.errors import DriverError, SettingsError

    if isinstance(error, CommandRefused):
        print(f"refused ({error.code}): {error.message}", file=sys.stderr)
        if error.expected:
            print(f"expected: {error.expected}", file=sys.stderr)
        return 1
    if isinstance(error, (UsageError, ConfigError, SettingsError, KeysError)):
        print(error, file=sys.stderr)
        return 2
    if isinstance(error, (BusError, JournalError, JournalFault, DriverError, EndpointError)):
        print(error, file=sys.stderr)
        return 1
    raise error
