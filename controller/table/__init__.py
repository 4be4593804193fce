"""The table: pure state, its fold over facts, and ``decide``. No I/O, no clock, no randomness, no threads.

May import ``controller.rules``, ``controller.cards``, ``controller.facts``, ``controller.commands`` and the event
types of ``drivers.events``. Only ``machine`` imports ``transitions``.
"""
