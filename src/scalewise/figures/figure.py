"""A chart with a name and a caption, as a report shows it."""

from dataclasses import dataclass

from scalewise.figures.bars import Bars
from scalewise.figures.plot import Panels, Plot

Chart = Plot | Panels | Bars


@dataclass(frozen=True)
class Figure:
    """A chart that can be named and explained."""

    name: str
    caption: str
    chart: Chart
