"""All shoe protocols in one table, loaded when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from drivers.errors import SettingsError
from drivers.settings import ShoeSettings
from drivers.shoe import ShoeDriver

PROTOCOLS: Final[Mapping[str, tuple[str, str]]] = {
    "angel": ("drivers.angel.driver", "AngelShoe"),
    "feig": ("drivers.feig.driver", "FeigShoe"),
    "line": ("drivers.line.driver", "LineShoe"),
    "rr3036": ("drivers.rr3036.driver", "Rr3036Shoe"),
    "ssi": ("drivers.ssi.driver", "SsiShoe"),
}


def shoe_class(protocol: str) -> type[ShoeDriver]:
    """The driver class of ``protocol``, for its capabilities. Raises ``SettingsError`` naming the known ones."""
    if protocol not in PROTOCOLS:
        raise SettingsError(f"protocol {protocol!r} is not known: choose one of {', '.join(sorted(PROTOCOLS))}")
    module, name = PROTOCOLS[protocol]
    found = getattr(import_module(module), name)
    if not (isinstance(found, type) and issubclass(found, ShoeDriver)):
        raise TypeError(f"{module}.{name} is not a ShoeDriver")
    return found


def open_shoe(settings: ShoeSettings) -> ShoeDriver:
    """A stopped driver for ``settings``; ``start`` opens its port. Raises ``SettingsError``."""
    if settings.protocol == "angel" and settings.as_reader:
        from drivers.angel.reader import AngelReader  # as lazily as the others

        return AngelReader(settings)
    return shoe_class(settings.protocol)(settings)
