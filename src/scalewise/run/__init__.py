"""One run: built, trained and recorded; and the probe of what is fastest."""
