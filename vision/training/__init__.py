"""Rendered training pictures, training of the index network; ``make train`` runs it, nothing else imports it."""
