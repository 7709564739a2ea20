"""What a family of workloads answers; images are one, and another is one file and one line in the registry."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scalewise.data.sources import Source
from scalewise.workloads.base import Workload


@dataclass(frozen=True)
class ListedData:
    """A data set as it is listed, without loading it."""

    name: str
    examples: Mapping[str, int]
    """How many examples each split has, as far as that is known."""
    source: Source | None
    """None where there is nothing to fetch: the data is made, or the user's own."""


@dataclass(frozen=True)
class ListedWorkload:
    """A workload as it is listed, without making it."""

    name: str
    """Data set and model, such as `digits/fc_<widths>`; what is between `<` and `>` is the user's choice."""
    target: str | None = None
    """What its default recipe trains for, as `stop.target` has it."""
    package: str | None = None
    """The installed package that brings it along, with its version."""
    unusable: str | None = None
    """Why it cannot be trained, if so."""


class Family(ABC):
    """Workloads that are found and listed in the same way.

    All of it is cheap: nothing is loaded, and no code of other packages runs, before a workload is found by its name.
    """

    def data_sets(self) -> Sequence[ListedData]:
        """List the data sets that the workloads are trained on, as far as they have a name."""
        return ()

    @abstractmethod
    def workloads(self) -> Sequence[ListedWorkload]:
        """List the workloads; hints for a mistyped name are taken from here."""

    @abstractmethod
    def find(self, name: str) -> Workload | None:
        """Make the workload of a name; None where it is none of this family."""
