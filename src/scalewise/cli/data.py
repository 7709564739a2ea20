"""`scalewise data`."""

from scalewise.cli.show import show
from scalewise.data.fetch import fetch_named, overview
from scalewise.requests import DataRequest
from scalewise.workloads.catalogue import sources


def perform(request: DataRequest) -> None:
    """Fetch data, or show where scalewise looks for it."""
    name, known = request.name, sources()
    once = {source.name: source for source in known.values()}  # several data sets can share their files
    show(overview(once.values()) if name is None else f"{name} is in {fetch_named(name, known)}")
