"""Zebra (Symbol, Motorola) scanners that speak SSI packets (hardware page 3.3)."""
