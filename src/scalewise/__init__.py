"""How far is it worth scaling out this training, and how to do it without losing model quality."""

__version__ = "0.2.0"
