"""`scalewise data`."""

from scalewise.cli.show import show
from scalewise.data.fetch import fetch_named, overview
from scalewise.requests import DataRequest


def perform(request: DataRequest) -> None:
    """Fetch data, or show where scalewise looks for it."""
    name = request.name
    show(overview() if name is None else f"{name} is in {fetch_named(name, request.route)}")
