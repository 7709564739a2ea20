"""One run: built, opened, drained and recorded; and the probe of what is fastest."""
