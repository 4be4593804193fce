"""Shoes and readers on serial lines, and simulated devices that speak the same bytes.

Imports ``controller.cards`` and nothing else of ``controller``. Only ``drivers.port`` imports the serial library.
"""
