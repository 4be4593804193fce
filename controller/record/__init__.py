"""The record: rounds, shoes, statistics and bets, from the facts of a journal, for supervisors and authorities.

Reads only. Everything here but ``bets`` is made of what may be told (``told``): hidden cards stay masked. Imports the
facts, the bet book and the journal's reader; the command line and the service import it.
"""
