"""FEIG OBID i-scan readers of ISO 15693 tags (hardware page 2.1)."""
