"""Measures what more workers, --exact, checkpoints and the probe do to the time of real training commands."""

import dataclasses
from dataclasses import dataclass
from statistics import median
from typing import Annotated, Any

import typer

from group import Group, Way, take_steps_side_by_side
from results import write_results
from rounds import Figures, quiet_half, ratios, spread, take_turns
from scalewise.cluster.world import usable_cores
from tables import agreement_table, checkpoints_table, exact_table, launched_table, render_readme, workers_table
from training_command import TrainingCommand

_CNN = "fashion_mnist/simple_cnn_base"
_THREADS_PER_WORKER = 1
_CHECKPOINT_RUN_SECONDS = 330  # long enough for a probe of what is fastest
_QUICK_SECONDS = 3
_ENDLESS = 10**9


@dataclass(frozen=True)
class Case:
    """A workload to measure, and enough steps for a steady figure."""

    workload: str
    global_batch: int
    steps: int
    microbatch: int | None = None
    """None: what scalewise chooses."""

    def settings(self) -> tuple[str, ...]:
        """Return the batch as settings."""
        return (f"recipe.global_batch={self.global_batch}", f"recipe.microbatch={self.microbatch or 'auto'}")

    def command(
        self, workers: int, exact: bool, quick: bool, threads: int = _THREADS_PER_WORKER, torchrun: bool = False
    ) -> TrainingCommand:
        settings = (
            *self.settings(),
            f"cluster.threads_per_worker={threads}",
            "stop.target=null",
            "stop.epochs=null",
            f"stop.steps={max(2, self.steps // 10) if quick else self.steps}",
            f"evaluate.every_steps={2 * self.steps}",  # so there is one before the first step and one after the last
            "evaluate.train_examples=1",
        )
        return TrainingCommand(self.workload, settings, workers, exact, torchrun)


_WORKERS_CASES = (
    (Case(_CNN, global_batch=256, steps=4, microbatch=128), 2),
    (Case(_CNN, global_batch=256, steps=4, microbatch=64), 4),
)
_EXACT_CASES = (
    Case("digits/fc_64_64", global_batch=64, steps=3000),
    Case("fashion_mnist/fc_128_128_128", global_batch=256, steps=1000),
    Case(_CNN, global_batch=256, steps=20),
)
_LAUNCHED_CASES = (
    Case("digits/fc_64_64", global_batch=64, steps=10_000),
    Case("fashion_mnist/fc_128_128_128", global_batch=256, steps=3_000),
)
_AGREEMENT_CASES = (
    Case("digits/fc_64_64", global_batch=64, steps=1500, microbatch=32),
    Case("fashion_mnist/fc_128_128_128", global_batch=256, steps=500, microbatch=128),
    Case(_CNN, global_batch=256, steps=5, microbatch=128),
)


def main(
    rounds: Annotated[
        int | None, typer.Option(min=1, help="how often everything is measured, if not as often as each part needs")
    ] = None,
    only: Annotated[str | None, typer.Option(help="workers, exact, checkpoints, launched or agreement alone")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="few steps: prints its tables, leaves the results alone")
    ] = False,
) -> None:
    """Measure in turns; write a result file for each part and the tables in README.md."""
    for name, (measure, table, needed) in _PARTS.items():
        if only in (None, name):
            taken = rounds or needed
            rows = measure(taken, quick)
            print(table(rows), flush=True)
            if not quick:
                write_results(name, {"rounds": taken, "rows": rows})
                render_readme()


def _workers(rounds: int, quick: bool) -> list[dict[str, Any]]:
    return [_workers_row(case, workers, rounds, quick) for case, workers in _WORKERS_CASES]


def _workers_row(case: Case, workers: int, rounds: int, quick: bool) -> dict[str, Any]:
    """Time short turns of a lone worker, of the group, and of as many lone workers as the machine has cores for."""
    apart = min(workers, usable_cores())
    one, many = (Group(case.workload, case.settings(), count) for count in (1, workers))
    part = dataclasses.replace(case, global_batch=case.global_batch // apart)
    lone = [Group(part.workload, part.settings(), 1) for _ in range(apart)]
    steps = 2 if quick else case.steps
    measures = {
        "one": lambda: one.take_steps(steps),
        "many": lambda: many.take_steps(steps),
        "apart": lambda: take_steps_side_by_side(lone, steps),
    }
    seconds = take_turns(measures, rounds)
    for group in (one, many, *lone):
        group.close()
    speedups, limits = ratios(seconds["one"], seconds["many"]), ratios(seconds["one"], seconds["apart"])
    return {
        "workload": case.workload,
        "global_batch": case.global_batch,
        "microbatch": case.microbatch,
        "workers": workers,
        "step_seconds": _medians(seconds),
        "speedup": round(median(speedups), 3),
        "speedup_range": [round(end, 3) for end in spread(speedups)],
        "quiet_speedup": round(median(quiet_half(speedups, seconds["apart"])), 3),
        "limit": round(median(limits), 3),
        "limit_range": [round(end, 3) for end in spread(limits)],
    }


def _exact(rounds: int, quick: bool) -> list[dict[str, Any]]:
    return [row for case in _EXACT_CASES for row in _exact_rows(case, rounds, quick)]


def _exact_rows(case: Case, rounds: int, quick: bool) -> list[dict[str, Any]]:
    commands = {
        f"{kind} {workers}": case.command(workers, exact=kind == "exact", quick=quick)
        for workers in (1, 2)
        for kind in ("fast", "exact")
    }
    seconds = take_turns({name: command.step_seconds for name, command in commands.items()}, rounds)
    return [_exact_row(case, workers, seconds) for workers in (1, 2)]


def _exact_row(case: Case, workers: int, seconds: Figures) -> dict[str, Any]:
    of_these_workers = {kind: seconds[f"{kind} {workers}"] for kind in ("fast", "exact")}
    prices = ratios(of_these_workers["exact"], of_these_workers["fast"])
    return {
        "workload": case.workload,
        "global_batch": case.global_batch,
        "workers": workers,
        "step_seconds": _medians(of_these_workers),
        "exact_to_fast": round(median(prices), 3),
        "exact_to_fast_range": [round(end, 3) for end in spread(prices)],
    }


def _launched(rounds: int, quick: bool) -> list[dict[str, Any]]:
    """Let torchrun start the only worker, with a thread for every core, beside the same command by itself."""
    return [_launched_row(case, rounds, quick) for case in _LAUNCHED_CASES]


def _launched_row(case: Case, rounds: int, quick: bool) -> dict[str, Any]:
    threads = usable_cores()
    alone, launched = (case.command(1, False, quick, threads, torchrun) for torchrun in (False, True))
    seconds = take_turns({"alone": alone.step_seconds, "launched": launched.step_seconds}, rounds)
    speeds = ratios(seconds["alone"], seconds["launched"])
    return {
        "workload": case.workload,
        "global_batch": case.global_batch,
        "threads": threads,
        "step_seconds": _medians(seconds),
        "launched_speed": round(median(speeds), 3),
        "launched_speed_range": [round(end, 3) for end in spread(speeds)],
    }


def _agreement(rounds: int, quick: bool) -> list[dict[str, Any]]:
    """Take the same steps as `scalewise bench` does and as `scalewise train` does, each by its own clock."""
    return [_agreement_row(case, workers, rounds, quick) for case in _AGREEMENT_CASES for workers in (1, 2)]


def _agreement_row(case: Case, workers: int, rounds: int, quick: bool) -> dict[str, Any]:
    settings = (*case.settings(), "stop.epochs=null", f"stop.steps={_ENDLESS}", f"evaluate.every_steps={_ENDLESS}")
    train, bench = (Group(case.workload, settings, workers, way) for way in (Way.TRAIN, Way.BENCH))
    steps = 2 if quick else case.steps
    seconds = take_turns({"train": lambda: train.take_steps(steps), "bench": lambda: bench.take_steps(steps)}, rounds)
    for group in (train, bench):
        group.close()
    agreement = ratios(seconds["bench"], seconds["train"])
    return {
        "workload": case.workload,
        "global_batch": case.global_batch,
        "workers": workers,
        "step_seconds": _medians(seconds),
        "bench_to_train": round(median(agreement), 3),
        "bench_to_train_range": [round(end, 3) for end in spread(agreement)],
    }


def _checkpoints(rounds: int, quick: bool) -> list[dict[str, Any]]:
    """Train once with everything at its default; say which share of the time checkpoints and the probe took."""
    run_seconds = _QUICK_SECONDS if quick else _CHECKPOINT_RUN_SECONDS
    settings = ("stop.target=null", "stop.epochs=null", f"stop.seconds={run_seconds}")
    metadata = TrainingCommand(_CNN, settings).metadata()
    parts = {name: metadata[name] for name in ("training_seconds", "evaluation_seconds", "checkpoint_seconds")}
    parts["probe_seconds"] = metadata["performance"]["probe_seconds"]
    shares = {
        f"{name}_share": round(parts[f"{name}_seconds"] / sum(parts.values()), 5) for name in ("checkpoint", "probe")
    }
    return [{"workload": _CNN, **parts, **shares}]


def _medians(figures: Figures) -> dict[str, float]:
    return {name: round(median(values), 6) for name, values in figures.items()}


_PARTS = {
    "workers": (_workers, workers_table, 61),
    "exact": (_exact, exact_table, 7),
    "checkpoints": (_checkpoints, checkpoints_table, 1),
    "launched": (_launched, launched_table, 15),
    "agreement": (_agreement, agreement_table, 41),
}
"""How each part is measured and shown, and how many rounds it needs."""


if __name__ == "__main__":
    typer.run(main)
