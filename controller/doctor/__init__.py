"""``dealerd doctor``: everything that must hold before a shift, looked at without changing anything.

May import ``config``, ``bus``, ``journal`` and ``drivers``; only the command line imports it. What it says never
depends on a card: of a journal it reads the head and the last start, of a line not a byte.
"""
