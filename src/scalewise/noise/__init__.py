"""The gradient noise scale from a short training: a cheap guess at the critical batch size."""
