"""`sw.analyze`, and the curves of steps against batch size that it returns."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from scalewise.api.result import FolderResult
from scalewise.api.showing import Shown, Shows
from scalewise.api.tables import TableLike, files, frame, is_path
from scalewise.errors import ConfigError
from scalewise.record.study_folder import find_studies
from scalewise.requests import AnalyzeRequest
from scalewise.words import counted, interval, number, sentence

if TYPE_CHECKING:
    import polars as pl

    from scalewise.analysis.archive import Skipped
    from scalewise.analysis.workload_findings import WorkloadFindings
    from scalewise.figures.figure import Figure


@dataclass(frozen=True)
class StepsGiven:
    """Where steps come from."""

    study: Path | None = None
    table: "TableLike | None" = None
    """A steps file, or a table that was given in Python."""


@dataclass(frozen=True)
class CriticalBatchSize:
    """The critical batch size as far as the points show it."""

    value: float | None
    low: float | None
    high: float | None
    """The ends of its 95 % interval; where there is no value, a bound that the points show."""
    form_fits: bool
    """Whether steps = S_min (1 + B_crit/B) describes the points well enough to rely on it."""
    says: str


class Curve(Shows):
    """Steps to target against batch size, for one workload, optimizer and target."""

    def __init__(self, found: "WorkloadFindings", given: StepsGiven) -> None:
        self._found, self.given = found, given

    @property
    def name(self) -> str:
        """The workload and the optimizer."""
        return self._found.curve.name

    @property
    def target(self) -> str | None:
        """The target."""
        return self._found.curve.target

    @property
    def critical_batch(self) -> CriticalBatchSize:
        """The critical batch size: `value`, `low`, `high`; what the points do not show is None, and `says` says why."""
        fit = self._found.curve.fit
        return CriticalBatchSize(getattr(fit, "value", None), fit.low, fit.high, fit.form_fits, fit.says)

    @property
    def says(self) -> list[str]:
        """What was found, in sentences."""
        return [sentence(self.critical_batch.says)]

    def table(self) -> "pl.DataFrame":
        """Return a row for each batch size: the steps with their interval, the trials, and what a larger batch buys."""
        analysed = self._found.curve.analysed()
        rows = sorted((*analysed.steps_to_target, *analysed.not_reached), key=lambda row: row.batch_size)
        return frame(_plain_row(dataclasses.asdict(row)) for row in rows)

    @property
    def budgets(self) -> "pl.DataFrame":
        """The best metric of each batch size within the budgets that were asked for."""
        return frame(self._found.budgets)

    def _shown(self) -> Shown:
        from scalewise.analysis.curve_tables import curve_table

        return Shown(f"Curve: {self.name}", self.says, [curve_table(self._found.curve)], self._figures()[:1])

    def _figures(self) -> "Sequence[Figure]":
        from scalewise.analysis.pictures import study_figures

        return study_figures(self._found)

    def __repr__(self) -> str:
        fit = self.critical_batch
        ends = interval(number(_rounded(fit.low)), number(_rounded(fit.high)))
        critical = f"{number(_rounded(fit.value)) or 'unknown'}{ends and f' ({ends})'}"
        sizes = counted(len(self._found.curve.rows), "batch size")
        return f"<Curve {self.name}: {sizes}, critical batch size {critical}>"


def _plain_row(row: dict[str, object]) -> dict[str, object]:
    """Let the settings of the best trial be columns."""
    parameters = row.pop("parameters")
    assert isinstance(parameters, dict)
    return {**row, **parameters}


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


class Analysis(Shows):
    """The curve of each workload that was found. Where there is only one, it can be used as that curve."""

    def __init__(self, curves: "Sequence[Curve]", skipped: "Sequence[Skipped]", out: Path | None) -> None:
        self.curves, self.skipped, self.path = list(curves), list(skipped), out
        """`skipped` is what could not be read, and why; `path` the folder of the pictures, where one was asked for."""

    def __iter__(self) -> Iterator[Curve]:
        return iter(self.curves)

    def __len__(self) -> int:
        return len(self.curves)

    def __getitem__(self, index: int) -> Curve:
        return self.curves[index]

    @property
    def curve(self) -> Curve:
        """The only curve."""
        if len(self.curves) > 1:
            names = ", ".join(curve.name for curve in self.curves)
            raise ConfigError(f"there are {len(self.curves)} curves ({names}): choose one of .curves")
        return self.curves[0]

    @property
    def critical_batch(self) -> CriticalBatchSize:
        """That of the only curve."""
        return self.curve.critical_batch

    @property
    def target(self) -> str | None:
        """That of the only curve."""
        return self.curve.target

    @property
    def says(self) -> list[str]:
        """What was found, in sentences."""
        if len(self.curves) == 1:
            return self.curve.says
        return [f"{curve.name}: {text}" for curve in self.curves for text in curve.says]

    def table(self) -> "pl.DataFrame":
        """Return a row for each batch size, of all curves."""
        if len(self.curves) == 1:
            return self.curve.table()
        rows = [{"workload": curve.name, **row} for curve in self.curves for row in curve.table().to_dicts()]
        return frame(rows)

    def _shown(self) -> Shown:
        if len(self.curves) == 1:
            return self.curve._shown()
        tables = [table for curve in self.curves for table in curve._shown().tables]
        return Shown(f"Analysis of {len(self.curves)} curves", self.says, tables, self._figures()[:1])

    def _figures(self) -> "Sequence[Figure]":
        from scalewise.analysis.step_charts import together_figure

        if len(self.curves) == 1:
            return self.curve._figures()
        together = together_figure([curve._found.curve for curve in self.curves])
        return [] if together is None else [together]

    def __repr__(self) -> str:
        return repr(self.curves[0]) if len(self.curves) == 1 else f"<Analysis: {len(self.curves)} curves>"


def analyze(
    steps: "FolderResult | TableLike",
    *,
    target: str | Sequence[str] = (),
    step_budget: int | None = None,
    epoch_budget: float | None = None,
    out: str | PathLike[str] | None = None,
) -> Analysis:
    """Find steps to target against batch size, and the critical batch size.

    Args:
        steps: A study or its folder, ours or in the public layout; or the steps of runs from anywhere, as a steps.csv,
            a data frame of Polars or pandas, or a list of dictionaries, with `global_batch`, `steps` and `reached`.
        target: Such as `"val/classification_error<0.12"`, or several; by default the study's own.
        step_budget: Also find the best metric within so many steps.
        epoch_budget: Also find the best metric within so many epochs.
        out: Folder for pictures and analysis.json; by default nothing is written.

    >>> import scalewise as sw
    >>> runs = [{"global_batch": b, "steps": 100 * (1 + 512 / b), "reached": True} for b in (8, 32, 128, 512, 2048)]
    >>> curve = sw.analyze(runs)
    >>> round(curve.critical_batch.value), curve.critical_batch.low < 512 < curve.critical_batch.high
    (512, True)
    >>> curve.table()["region"].to_list()
    ['perfect scaling', 'perfect scaling', 'diminishing returns', 'diminishing returns', 'diminishing returns']
    """
    from scalewise.analysis.analyze import analyze as analyze_and_write
    from scalewise.analysis.analyze import find_out

    given = steps_given(steps)
    with files(None if out is None else Path(out)) as tables:
        request = AnalyzeRequest(
            folder=given.study,
            steps_file=None if given.study is not None else tables.table("steps.csv", given.table),
            targets=(target,) if isinstance(target, str) else tuple(target),
            step_budget=step_budget,
            epoch_budget=epoch_budget,
            out=None if out is None else Path(out),
        )
        if request.out is None:
            workloads, skipped = find_out(request)
        else:
            analysis = analyze_and_write(request)
            workloads, skipped = analysis.workloads, analysis.skipped
    return Analysis([Curve(found, given) for found in workloads], skipped, request.out)


def steps_given(steps: "FolderResult | Curve | Analysis | TableLike") -> StepsGiven:
    """Say what a user means by steps."""
    if isinstance(steps, Analysis):
        steps = steps.curve
    if isinstance(steps, Curve):
        return steps.given if steps.given.study is None else StepsGiven(_folder_of(steps, steps.given.study))
    if isinstance(steps, FolderResult):
        return StepsGiven(steps.path)
    if is_path(steps) and Path(steps).is_dir():
        return StepsGiven(Path(steps))
    return StepsGiven(table=steps)


def _folder_of(curve: Curve, root: Path) -> Path:
    """Return the folder of a curve's own studies, of several below one root."""
    own = [study for study in find_studies(root) if curve.name.startswith("/".join(study.description().workload))]
    return own[0].path.parent if len({study.path.parent for study in own}) == 1 and own else root
