"""Shoes and scanners that send one ASCII code a card, a line each (hardware page 1.2 and 3.1)."""
