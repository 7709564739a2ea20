"""The family of other packages' workloads: what they name under the entry points `scalewise.workloads`."""

import re
from collections import Counter
from importlib.metadata import EntryPoint, entry_points

from scalewise.errors import WorkloadError
from scalewise.workloads.base import Workload
from scalewise.workloads.family import Family, ListedWorkload
from scalewise.workloads.making import described, is_workload_class, make

GROUP = "scalewise.workloads"
_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)+")


class Packages(Family):
    """Workloads of installed packages: an entry point leads to a class of them, or to a function that returns one."""

    def workloads(self) -> list[ListedWorkload]:
        """List what the packages' metadata names, without importing the packages."""
        points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, _package(point)))
        count = Counter(point.name for point in points)
        return [
            ListedWorkload(point.name, package=_package(point), unusable=_unusable(point.name, count[point.name]))
            for point in points
        ]

    def find(self, name: str) -> Workload | None:
        """Import the package that names the workload, and make it."""
        points = tuple(entry_points(group=GROUP, name=name)) if _NAME.fullmatch(name) else ()
        if len(points) > 1:
            packages = " and ".join(sorted(_package(point) for point in points))
            raise WorkloadError(f"the packages {packages} both bring a workload {name!r}: uninstall one")
        return _made(points[0]) if points else None


def _unusable(name: str, packages: int) -> str | None:
    if not _NAME.fullmatch(name):
        return "its name is not like data_set/model"
    return "another package has this name, too" if packages > 1 else None


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"


def _made(point: EntryPoint) -> Workload:
    where = f"the entry point '{point.name} = {point.value}' of the package {_package(point)}"
    try:
        found = point.load()
    except (Exception, SystemExit) as error:  # whatever somebody else's import can raise
        raise WorkloadError(f"{where} does not import: {described(error)}") from error
    if not is_workload_class(found) and (isinstance(found, type) or not callable(found)):
        raise WorkloadError(
            f"{where} is neither a class that extends scalewise.workloads.Workload nor a function that returns one"
        )
    return make(found, where)
