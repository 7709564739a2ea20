"""Shows a run in progress: one live line on a terminal, plain lines elsewhere."""

import datetime
import time
from abc import ABC, abstractmethod

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from rich.text import Text

from scalewise.loop.clock import Clock
from scalewise.loop.loop import EvalResult, StepResult, Stopped
from scalewise.loop.stopping import StopRule

_REFRESH_SECONDS = 0.1
_NARROWEST_BAR, _WIDEST_BAR, _GAP = 6, 24, 2


class View(ABC):
    """Shows results."""

    @abstractmethod
    def show(self, result: StepResult | EvalResult | Stopped) -> None:
        """Show one result."""

    @abstractmethod
    def say(self, message: str) -> None:
        """Show something the user should know."""

    @abstractmethod
    def close(self) -> None:
        """Release the terminal."""


class Silent(View):
    """Shows nothing: for every worker but the chief."""

    def show(self, result: StepResult | EvalResult | Stopped) -> None:
        """Show nothing."""

    def say(self, message: str) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Do nothing."""


class Meter:
    """Measures the speed of this start of the run and the rest of the budget."""

    def __init__(self, clock: Clock, rule: StopRule, global_batch: int, first_step: int) -> None:
        self._clock, self.rule, self._global_batch = clock, rule, global_batch
        self._first_step, self._first_seconds = first_step, clock.training_seconds

    def examples_per_second(self, step: int) -> float:
        """Return the speed since this start of the run began."""
        seconds = self._clock.training_seconds - self._first_seconds
        return (step - self._first_step) * self._global_batch / seconds if seconds else 0.0

    def seconds_left(self, step: int) -> float | None:
        """Return how much training the budget still allows at this speed, or None when only a target ends it."""
        speed = self.examples_per_second(step)
        left = []
        if self.rule.last_step is not None and speed:
            left.append((self.rule.last_step - step) * self._global_batch / speed)
        if self.rule.seconds is not None:
            left.append(self.rule.seconds - self._clock.training_seconds)
        return max(0.0, min(left)) if left else None

    def describe(self, step: int, loss: float) -> str:
        """Describe the speed in a few words."""
        left = self.seconds_left(step)
        budget = "" if left is None else f"  {datetime.timedelta(seconds=round(left))} left"
        return f"loss {loss:.4f}  {self.examples_per_second(step):,.0f} examples/s{budget}"

    def describe_evaluation(self, result: EvalResult) -> str:
        """Name the metric that decides, its value and its target."""
        target = self.rule.target
        if target is None:
            return "  ".join(f"{name} {value:.4g}" for name, value in result.metrics.items() if name.startswith("val/"))
        goal = f"{'<' if target.below else '>'}{target.value:g}"
        return f"{target.metric} {result.metrics[target.metric]:.4g} (target {goal})"

    def describe_evaluation_shortly(self, result: EvalResult) -> str:
        """Give the value that decides, or else the first of the validation metrics."""
        target = self.rule.target
        if target is None:
            name = next((name for name in result.metrics if name.startswith("val/")), "")
            return f"{name.partition('/')[2]} {result.metrics[name]:.4g}" if name else ""
        return f"{result.metrics[target.metric]:.4g} ({'<' if target.below else '>'}{target.value:g})"


class PlainLines(View):
    """One line per evaluation: for logs."""

    def __init__(self, console: Console, meter: Meter) -> None:
        self._console, self._meter = console, meter
        self._loss = float("nan")

    def show(self, result: StepResult | EvalResult | Stopped) -> None:
        """Print a line for an evaluation; remember the loss of a step."""
        match result:
            case StepResult():
                self._loss = result.loss
            case EvalResult(step):
                speed = f"{self._meter.describe(step, self._loss)}  " if self._loss == self._loss else ""
                self._print(f"step {step}  {speed}{self._meter.describe_evaluation(result)}")
            case Stopped(step, reason):
                self._print(f"step {step}  stopped by {reason}")

    def say(self, message: str) -> None:
        """Print a line."""
        self._print(message)

    def close(self) -> None:
        """Do nothing."""

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class LiveLine(View):
    """One line that changes in place: for a terminal."""

    def __init__(self, console: Console, meter: Meter) -> None:
        self._meter = meter
        self._loss: float | None = None
        self._evaluation, self._short_evaluation = "", ""
        self._live = Live(console=console, auto_refresh=False)
        self._live.start()
        self._drawn = 0.0

    def show(self, result: StepResult | EvalResult | Stopped) -> None:
        """Redraw the line, at most ten times a second."""
        match result:
            case StepResult(step, loss):
                self._loss = loss
                if time.monotonic() - self._drawn > _REFRESH_SECONDS:
                    self._draw(step)
            case EvalResult(step):
                self._evaluation = self._meter.describe_evaluation(result)
                self._short_evaluation = self._meter.describe_evaluation_shortly(result)
                self._draw(step)
            case Stopped(step):
                self._draw(step)

    def say(self, message: str) -> None:
        """Print a line above the live one."""
        self._live.console.print(Text(message, style="yellow"))

    def close(self) -> None:
        """Leave the line as it is and release the terminal."""
        self._live.stop()

    def _draw(self, step: int) -> None:
        last = self._meter.rule.last_step
        count = f"step {step:,}" if last is None else f"{step:,}/{last:,}"
        speed = "" if self._loss is None else self._meter.describe(step, self._loss)
        room = self._live.console.width - len(count) - len(speed) - 3 * _GAP
        roomy = room >= len(self._evaluation) + _NARROWEST_BAR
        evaluation = self._evaluation if roomy else self._short_evaluation
        cells = [Text(count, style="bold"), Text(speed), Text(evaluation, style="cyan", no_wrap=True)]
        columns = [Column(no_wrap=True, min_width=len(cell)) for cell in cells[:-1]]  # the last one gives way
        bar_width = min(_WIDEST_BAR, room - len(evaluation))
        bar: list[RenderableType] = []
        if last is not None and bar_width >= _NARROWEST_BAR:
            bar.append(ProgressBar(total=last, completed=step, width=bar_width))
            columns.insert(0, Column(min_width=bar_width))
        line = Table.grid(*columns, Column(overflow="ellipsis"), padding=(0, _GAP, 0, 0))
        line.add_row(*bar, *cells)
        self._live.update(line, refresh=True)
        self._drawn = time.monotonic()
