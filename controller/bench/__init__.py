"""Benchmarks: the product beside a bare baseline in the same run, so that figures mean something on a busy machine.

May import everything of ``controller`` but simulation, console and command line, and ``drivers``. Only
``baseline`` may import the serial, ZeroMQ and SQLite libraries directly.
"""
