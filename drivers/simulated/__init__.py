"""Devices that do not exist: they speak the real bytes on a pseudo-terminal, with the codecs' own encoders.

A layer beside the drivers: only the ``shoe``, ``demo`` and ``soak`` commands and tests import it. Of ``controller``
it imports ``controller.cards`` alone; the rules it needs (the baccarat draw) are its own, so that they check the
table's.
"""
