"""How far is it worth scaling out this training, and how to do it without losing model quality.

    import scalewise as sw

gives every command as a function. Names load when they are used: `sw.plan` does not wait for torch.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:  # what type checkers and editors see
    from scalewise.api.advising import Advice as Advice
    from scalewise.api.advising import advise as advise
    from scalewise.api.analyzing import Analysis as Analysis
    from scalewise.api.analyzing import Curve as Curve
    from scalewise.api.analyzing import analyze as analyze
    from scalewise.api.benching import Bench as Bench
    from scalewise.api.benching import bench as bench
    from scalewise.api.comparing import Comparison as Comparison
    from scalewise.api.comparing import compare as compare
    from scalewise.api.looping import Steps as Steps
    from scalewise.api.looping import loop as loop
    from scalewise.api.noise_meter import NoiseMeter as NoiseMeter
    from scalewise.api.noise_scale import Noise as Noise
    from scalewise.api.noise_scale import noise as noise
    from scalewise.api.opening import open as open  # noqa: A004
    from scalewise.api.planning import Plan as Plan
    from scalewise.api.planning import plan as plan
    from scalewise.api.predicting import Prediction as Prediction
    from scalewise.api.predicting import predict as predict
    from scalewise.api.reporting import Report as Report
    from scalewise.api.reporting import report as report
    from scalewise.api.studying import Study as Study
    from scalewise.api.studying import study as study
    from scalewise.api.trained_run import Run as Run
    from scalewise.api.trained_run import train as train
    from scalewise.api.workload_list import workloads as workloads
    from scalewise.errors import Diverged as Diverged
    from scalewise.errors import Failed as Failed
    from scalewise.errors import Interrupted as Interrupted
    from scalewise.errors import ScalewiseError as ScalewiseError
    from scalewise.errors import UserError as UserError
    from scalewise.loop.loop import EvalResult as EvalResult
    from scalewise.loop.loop import StepResult as StepResult
    from scalewise.loop.loop import Stopped as Stopped
    from scalewise.record.status import Status as Status
    from scalewise.workloads.base import Classification as Classification
    from scalewise.workloads.base import Workload as Workload
    from scalewise.workloads.metric import Metric as Metric

# Without `open`, which is there as well: `from scalewise import *` should not replace Python's own.
__all__ = [
    "Advice",
    "Analysis",
    "Bench",
    "Classification",
    "Comparison",
    "Curve",
    "Diverged",
    "EvalResult",
    "Failed",
    "Interrupted",
    "Metric",
    "Noise",
    "NoiseMeter",
    "Plan",
    "Prediction",
    "Report",
    "Run",
    "ScalewiseError",
    "Status",
    "StepResult",
    "Steps",
    "Stopped",
    "Study",
    "UserError",
    "Workload",
    "advise",
    "analyze",
    "bench",
    "compare",
    "loop",
    "noise",
    "plan",
    "predict",
    "report",
    "study",
    "train",
    "workloads",
]

_PLACES = {
    "api.advising": ("Advice", "advise"),
    "api.analyzing": ("Analysis", "Curve", "analyze"),
    "api.benching": ("Bench", "bench"),
    "api.comparing": ("Comparison", "compare"),
    "api.looping": ("Steps", "loop"),
    "api.noise_meter": ("NoiseMeter",),
    "api.noise_scale": ("Noise", "noise"),
    "api.opening": ("open",),
    "api.planning": ("Plan", "plan"),
    "api.predicting": ("Prediction", "predict"),
    "api.reporting": ("Report", "report"),
    "api.studying": ("Study", "study"),
    "api.trained_run": ("Run", "train"),
    "api.workload_list": ("workloads",),
    "errors": ("Diverged", "Failed", "Interrupted", "ScalewiseError", "UserError"),
    "loop.loop": ("EvalResult", "StepResult", "Stopped"),
    "record.status": ("Status",),
    "workloads.base": ("Classification", "Workload"),
    "workloads.metric": ("Metric",),
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})


_ROOMS = frozenset({"advise", "bench", "compare", "loop", "noise", "plan", "report", "study", "workloads"})
"""Names that are both a function for users and a package of ours: `sw.study(...)`, `scalewise.study.space`."""


class _Room(ModuleType):
    """A package that can be called: it then does what the function of its name does."""

    def _function(self) -> Any:
        name = self.__name__.rpartition(".")[2]
        return getattr(importlib.import_module(_MODULES[name]), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._function()(*arguments, **named)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        doc: str | None = self._function().__doc__
        return doc

    @property
    def __wrapped__(self) -> Any:
        """The function, where `inspect` looks for a signature."""
        return self._function()

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)


class _Package(ModuleType):
    """Makes rooms callable as they are imported, which Python says by setting them as attributes here."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _ROOMS and type(value) is ModuleType:
            value.__class__ = _Room
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)  # a workload's methods may name the module


sys.modules[__name__].__class__ = _Package
