"""The Angel Eye II / II-EX baccarat shoe (hardware page 1.1)."""
