"""The colours of every chart, in pictures and in pages."""

# Distinguishable also with red-green colour blindness (the set of Okabe and Ito, without its yellow).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#6A3D9A")
PLAIN = "#444444"
"""For series that are only there for comparison."""
SOFT = "#666666"
"""For words that explain a chart."""


def colour(index: int | None) -> str:
    """Return a colour by its number; after the last one they begin again.

    >>> colour(7) == colour(0), colour(None) == PLAIN
    (True, True)
    """
    return PLAIN if index is None else COLOURS[index % len(COLOURS)]
