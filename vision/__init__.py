"""Camera, locating and reading cards, tracking, the simulated camera. Knows ``controller.cards`` only."""
