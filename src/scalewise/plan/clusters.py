"""The clusters file: which clusters there are to choose from, how large they are and what they cost.

clusters:
  - name: cloud            # the name of its points in throughput.csv, unless `speed` gives another
    nodes: 1..16           # one size, or a range of sizes
    workers_per_node: 4
    price_per_hour: 2.5    # of all nodes; with a range, of the smallest size, and larger ones in proportion
    currency: EUR
    largest_microbatch: 256
    link: {latency_seconds: 5e-5, gigabits_per_second: 10}
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from scalewise.config import parse_yaml
from scalewise.errors import ConfigError, nearest

_RANGE = re.compile(r"(\d+)\s*\.\.\s*(\d+)")


class Link(BaseModel):
    """What connects the nodes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    latency_seconds: float = Field(gt=0)
    gigabits_per_second: float = Field(gt=0)


class _ClusterEntry(BaseModel):
    """One entry of the file: a cluster in one or several sizes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    nodes: tuple[int, int] = (1, 1)
    workers_per_node: int = Field(default=1, ge=1)
    price_per_hour: float | None = Field(default=None, gt=0)
    currency: str | None = None
    largest_microbatch: int | None = Field(default=None, ge=1)
    speed: str | None = None
    link: Link | None = None

    @field_validator("nodes", mode="before")
    @classmethod
    def _sizes(cls, value: object) -> tuple[int, int]:
        ends = _RANGE.fullmatch(value.strip()) if isinstance(value, str) else None
        first, last = (int(end) for end in ends.groups()) if ends else (value, value)
        if not isinstance(first, int) or not isinstance(last, int) or isinstance(first, bool) or not 1 <= first <= last:
            raise ValueError("should be a positive whole number or a range such as 1..16")
        return first, last


@dataclass(frozen=True)
class SizedCluster:
    """A cluster of one size."""

    name: str
    nodes: int
    workers_per_node: int
    price_per_hour: float | None
    currency: str | None
    largest_microbatch: int | None
    speed: str
    """The cluster of throughput.csv whose speed it has."""
    link: Link | None

    @property
    def workers(self) -> int:
        """How many workers it has."""
        return self.nodes * self.workers_per_node


def read_clusters(file: Path, only: Sequence[str] = ()) -> list[SizedCluster]:
    """Read a clusters file, every size of every entry, or only entries of some names."""
    entries = [_entry(file, listed) for listed in _listed(file)]
    names = [entry.name for entry in entries]
    for name in only:
        if name not in names:
            hint = nearest(name, names) or f"; there are {', '.join(dict.fromkeys(names))}"
            raise ConfigError(f"{file} has no cluster {name!r}{hint}")
    chosen = [entry for entry in entries if not only or entry.name in only]
    _check_currencies(file, chosen)
    return [cluster for entry in chosen for cluster in _clusters(entry)]


def _listed(file: Path) -> list[Any]:
    content = parse_yaml(file)
    if isinstance(content, dict) and list(content) == ["clusters"]:
        content = content["clusters"]
    if not isinstance(content, list) or not content:
        raise ConfigError(f"{file} should hold 'clusters:' and a list of them, each with a name")
    return content


def _entry(file: Path, listed: object) -> _ClusterEntry:
    if not isinstance(listed, dict):
        raise ConfigError(f"{file}: {listed!r} is not a cluster, which has a name, nodes, workers_per_node and so on")
    try:
        return _ClusterEntry.model_validate(listed)
    except ValidationError as error:
        found = error.errors()[0]
        key = ".".join(map(str, found["loc"]))
        where = f"{file}, cluster {listed.get('name', '?')}: {key}"
        if found["type"] == "extra_forbidden":
            known = [*_ClusterEntry.model_fields, *(f"link.{name}" for name in Link.model_fields)]
            hint = nearest(key, known) or f"; the keys are {', '.join(known)}"
            raise ConfigError(f"{where} is not a known key{hint}") from None
        said = found["msg"].removeprefix("Value error, ")
        raise ConfigError(f"{where}={found['input']!r}: {said[0].lower()}{said[1:]}") from None


def _check_currencies(file: Path, entries: Sequence[_ClusterEntry]) -> None:
    priced = [entry for entry in entries if entry.price_per_hour is not None]
    currencies = {entry.currency: entry.name for entry in priced}
    if len(currencies) > 1:
        named = " and ".join(f"{currency or 'none named'} ({name})" for currency, name in currencies.items())
        raise ConfigError(f"{file} has prices in different currencies, {named}: give all of them in one")


def _clusters(entry: _ClusterEntry) -> list[SizedCluster]:
    first, last = entry.nodes
    price = entry.price_per_hour
    return [
        SizedCluster(
            name=entry.name,
            nodes=nodes,
            workers_per_node=entry.workers_per_node,
            price_per_hour=None if price is None else price * nodes / first,
            currency=entry.currency,
            largest_microbatch=entry.largest_microbatch,
            speed=entry.speed or entry.name,
            link=entry.link,
        )
        for nodes in range(first, last + 1)
    ]
