"""Tables as Python has them: data frames and lists of dictionaries, given to functions that read files, and back."""

import contextlib
import csv
import io
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import yaml

from scalewise.errors import DataError, UserError
from scalewise.storage import write_result

if TYPE_CHECKING:
    import polars as pl

TableLike: TypeAlias = "pl.DataFrame | Iterable[Mapping[str, Any]] | Mapping[str, Sequence[Any]] | Any"
"""A data frame of Polars or pandas, a list of dictionaries, or a dictionary of lists."""


def frame(rows: Iterable[Any]) -> "pl.DataFrame":
    """Return rows, dictionaries or dataclasses, as a data frame.

    >>> frame([{"a": 1}, {"a": None, "b": "x"}]).rows()
    [(1, None), (None, 'x')]
    """
    import polars as pl  # takes a moment, which whoever wants no table need not wait for

    content = [asdict(row) if is_dataclass(row) and not isinstance(row, type) else dict(row) for row in rows]
    columns = dict.fromkeys(name for row in content for name in row)
    return pl.DataFrame({name: [_cell(row.get(name)) for row in content] for name in columns}, strict=False)


def _cell(value: Any) -> Any:
    return str(value.value) if isinstance(value, Enum) else value


def is_path(value: object) -> TypeGuard[str | PathLike[str]]:
    """Say whether something names a file or a folder."""
    return isinstance(value, str | PathLike)


class Files:
    """A folder in which tables that were given in Python lie as the files that a request names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: dict[str, bytes] = {}
        """What was put there."""

    def table(self, name: str, given: TableLike) -> Path:
        """Return the CSV file of a table, or the file that is named."""
        return Path(given) if is_path(given) else self._written(name, _csv(name, given))

    def clusters(self, name: str, given: TableLike) -> Path:
        """Return the YAML file of clusters, or the file that is named."""
        if is_path(given):
            return Path(given)
        if isinstance(given, Mapping) and "clusters" in given:
            given = given["clusters"]
        rows = [{key: value for key, value in row.items() if not _missing(value)} for row in _rows(name, given)]
        return self.yaml(name, {"clusters": rows})

    def yaml(self, name: str, given: Mapping[str, Any] | str | PathLike[str]) -> Path:
        """Return the YAML file of a dictionary, or the file that is named."""
        if not isinstance(given, Mapping):
            return Path(given)
        try:
            return self._written(name, yaml.safe_dump(dict(given), sort_keys=False, allow_unicode=True).encode())
        except yaml.YAMLError:
            raise DataError(f"{name} should hold only numbers, texts, lists and dictionaries of them") from None

    def _written(self, name: str, content: bytes) -> Path:
        self.written[name] = content
        write_result(self.folder / name, content)
        return self.folder / name


@contextlib.contextmanager
def files(folder: Path | None) -> Iterator[Files]:
    """Keep tables in a folder, or, without one, for the length of a `with` block."""
    if folder is not None:
        yield Files(folder)
        return
    with tempfile.TemporaryDirectory(prefix="scalewise-tables-") as temporary:
        try:
            yield Files(Path(temporary))
        except UserError as error:  # which should name the table, and not a file that nobody knows
            error.args = (str(error).replace(f"{temporary}/", ""),)
            raise


def _csv(name: str, given: TableLike) -> bytes:
    rows = _rows(name, given)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer.writerow(columns)
    writer.writerows(["" if _missing(row.get(column)) else row[column] for column in columns] for row in rows)
    return stream.getvalue().encode()


def _rows(name: str, given: TableLike) -> list[dict[str, Any]]:
    """Return a table as dictionaries, whatever library it is of.

    >>> _rows("steps", {"global_batch": [8, 16], "steps": [100, 50]})[1]
    {'global_batch': 16, 'steps': 50}
    """
    if hasattr(given, "to_dicts"):  # Polars
        given = given.to_dicts()
    elif hasattr(given, "to_dict") and hasattr(given, "columns"):  # pandas
        given = given.to_dict("records")
    elif isinstance(given, Mapping) and given and all(isinstance(one, Sequence) for one in given.values()):
        given = [dict(zip(given, row, strict=False)) for row in zip(*given.values(), strict=False)]
    rows = list(given) if isinstance(given, Iterable) else None
    if rows is None or not all(isinstance(row, Mapping) for row in rows):
        raise DataError(f"{name} should be a file, a data frame or a list of dictionaries, not {type(given).__name__}")
    return [dict(row) for row in rows]


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
