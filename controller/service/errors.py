"""The service's own error."""

from __future__ import annotations


class EndpointError(Exception):
    """The address for metrics and health cannot be had."""
