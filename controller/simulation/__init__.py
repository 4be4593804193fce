"""The people and machines around a simulated table: game server, dealer, supervisor, each a process of its own.

They speak to the table as real ones would, over its sockets. Imported by demo, soak and tests only. Not simulated
here: players, money, the time people need to notice something.
"""
