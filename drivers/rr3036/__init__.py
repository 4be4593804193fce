"""RR3036 and related readers of ISO 15693 tags (hardware page 2.2)."""
