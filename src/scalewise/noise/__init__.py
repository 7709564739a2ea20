"""The gradient noise scale from a short training: a rough estimate of the critical batch size."""
