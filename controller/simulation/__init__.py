"""The people and machines around a simulated table: game server with its players, dealer, supervisor, each a process
of its own, and the drivers of rule vectors.

They speak to the table as real ones would, over its sockets; vectors drive the table itself in virtual time. Imported
by demo, vectors, soak and tests only. Not simulated here: the time people need to notice something.
"""
