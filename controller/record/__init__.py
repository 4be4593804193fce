"""The record of bets as rows, from the facts of a journal: for accounting, disputes and authorities.

Pure: facts in, rows out. Imports the facts and the bet book; only the command line imports it.
"""
