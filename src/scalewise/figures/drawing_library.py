"""Everything that is used of matplotlib, imported in half of its time.

When it is imported, matplotlib writes a docstring of all properties for each of a hundred classes. Only somebody at a
prompt can read them, so elsewhere they are left out.
"""

import contextlib
import sys
from collections.abc import Iterator

__all__ = [
    "Affine2D",
    "Axes",
    "Figure",
    "FixedLocator",
    "FontProperties",
    "FuncFormatter",
    "Line2D",
    "NullLocator",
    "XAxis",
    "YAxis",
    "text_to_path",
]


@contextlib.contextmanager
def _undocumented() -> Iterator[None]:
    """Leave docstrings out, unless they are there already or somebody may ask for them."""
    at_a_prompt = hasattr(sys, "ps1") or "IPython" in sys.modules
    if at_a_prompt or "matplotlib.axes" in sys.modules:
        yield
        return
    from matplotlib import artist

    kept = artist.kwdoc, artist.Artist.__dict__["_update_set_signature_and_docstring"]
    artist.kwdoc = lambda artist: ""
    artist.Artist._update_set_signature_and_docstring = classmethod(lambda cls: None)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        artist.kwdoc, artist.Artist._update_set_signature_and_docstring = kept  # type: ignore[attr-defined]


with _undocumented():
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.lines import Line2D
    from matplotlib.textpath import text_to_path
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
    from matplotlib.transforms import Affine2D
