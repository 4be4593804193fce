"""The brain: rules, table, journal, bus, console, simulation, command line.

``controller.cards`` is the only module that ``drivers``, ``vision`` and ``calibration`` may import.
"""
