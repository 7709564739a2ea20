"""The reference networks."""
