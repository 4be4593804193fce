"""Dealer and floor screens in a browser: a client of feeds, commands and camera pictures, for one table or sixty.

It keeps accounts and their audit trail, nothing of a table. Pages are rendered here; what changes comes to them as
ready pieces of HTML over server-sent events. What a person orders goes to the table under that person's own key.
"""
