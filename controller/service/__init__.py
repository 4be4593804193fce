"""The running table: one actor thread that owns table, journal and sockets, fed by one reader thread a port.

May import everything of ``controller`` but simulation, console and command line.
"""
