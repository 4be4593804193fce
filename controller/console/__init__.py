"""Dealer and floor screens in a browser: a client of feed and commands that holds no table state."""
