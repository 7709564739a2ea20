"""Builds everything that training needs, in reading order, from a configuration and a workload."""

import functools
from collections.abc import Callable

import torch

from scalewise.cluster.sums import MessageSum, NarrowSum, make_worker_sum
from scalewise.cluster.world import World, readers_per_worker
from scalewise.config import AUTO, Config, Target
from scalewise.data.order import ExampleOrder, permutation
from scalewise.data.splits import Examples
from scalewise.data.stored import StoredSplit
from scalewise.errors import ConfigError
from scalewise.loop.adasum import AdasumTotal
from scalewise.loop.clock import Clock
from scalewise.loop.evaluate import Evaluator
from scalewise.loop.feed import Feed, OwnTransform, Transform
from scalewise.loop.loop import Loop, evaluation_plan
from scalewise.loop.loss import TrainingLoss
from scalewise.loop.noise import NoiseMeter
from scalewise.loop.overlap import OverlappedTotal
from scalewise.loop.probe import Probed, a_few, check_transforms, made_model, probe
from scalewise.loop.source import ExampleSource, ReadAhead
from scalewise.loop.state import TrainingState
from scalewise.loop.step import Parts
from scalewise.loop.stopping import stop_rule
from scalewise.loop.summed import Summed
from scalewise.loop.total import RunningTotal, Total
from scalewise.loop.tree import TreeTotal
from scalewise.loop.votes import Ballot
from scalewise.models.residual import zero_residual_branches
from scalewise.optim.averaging import Average
from scalewise.optim.batch_norm import Moments
from scalewise.optim.compiled import compiled
from scalewise.optim.flat import FlatWeights, Layout, flatten
from scalewise.optim.gradients import Gradients
from scalewise.optim.optimizers import make_optimizer
from scalewise.optim.precision import DTYPES, make_loss_scale
from scalewise.optim.takeover import take_over_batch_norm
from scalewise.recipe.batch import Batch, batch_of
from scalewise.recipe.resolve import ResolvedConfig, ResolvedRecipe, resolve
from scalewise.recipe.schedules import make_schedule
from scalewise.seeds import Purpose, derive
from scalewise.workloads import Workload
from scalewise.workloads.loading import load_splits

GPU_BUCKET_MEGABYTES = 25.0
"""Large enough for the network's full speed, and small enough to leave early."""


def resolved(asked: Config, workers: int) -> ResolvedConfig:
    """Replace `auto` by what it stands for, and check what can be checked without the data."""
    config = resolve(asked)
    batch_of(config.recipe).share(0, workers)
    _check_wire(config)
    _check_performance(config)
    return config.model_copy(update={"cluster": config.cluster.model_copy(update={"workers": workers})})


def splits_on(config: Config, workload: Workload, world: World, device: torch.device) -> dict[str, Examples]:
    """Load the data onto a device."""
    readers = readers_per_worker(config.cluster, world.local_workers)
    return {name: split.to(device) for name, split in load_splits(workload, readers).items()}


def build_loop(
    config: ResolvedConfig,
    workload: Workload,
    world: World,
    device: torch.device,
    interrupted: Callable[[], bool],
    splits: dict[str, Examples] | None = None,
) -> Loop:
    """Build everything that training needs and that does not depend on the run folder."""
    splits = splits_on(config, workload, world, device) if splits is None else splits
    recipe = config.recipe
    batch = batch_of(recipe)
    train = splits["train"]
    share = batch.share(world.rank, world.workers)
    transforms = _transforms(recipe, workload, batch, train)
    feed = Feed(_make_source(recipe, train, batch, share), recipe.seed, transforms)
    rule = stop_rule(config.stop, batch.examples, len(train))
    schedule = make_schedule(recipe, len(train), rule.last_step)

    torch.manual_seed(derive(recipe.seed, Purpose.INITIAL_WEIGHTS))
    few = a_few(train)
    network = made_model(workload).to(device)
    model, moments = take_over_batch_norm(
        network, lambda model: workload.outputs(model, few.inputs), recipe.ghost_batch
    )
    if recipe.zero_init_residual:
        zero_residual_branches(model)
    weights = flatten(model, config.performance.memory_format != "contiguous")
    probed = probe(model, workload, recipe.label_smoothing, splits, smallest=batch.size(batch.microbatches - 1))
    if transforms:
        check_transforms(model, workload, transforms, few)
    _check_weighted(recipe, probed)

    total = _make_total(config, Summed.layout(weights, moments, probed.weighted), weights, batch, world, share)
    summed = Summed.of(total.pieces, weights, moments, probed.weighted)
    loss_scale = make_loss_scale(recipe)
    gradients = Gradients(total.vector[: len(weights.vector)], loss_scale, recipe.clip_norm, summed.weight)
    optimizer = make_optimizer(recipe, weights, gradients.vector)
    average = _make_average(recipe, weights, moments, len(train))
    parts = Parts(
        state=TrainingState(model, weights, optimizer, loss_scale, average),
        network=functools.partial(workload.outputs, compiled(model) if config.performance.compile is True else model),
        feed=feed,
        share=share,
        loss=TrainingLoss(workload, recipe.label_smoothing, batch.examples),
        precision=recipe.precision,
        moments=moments,
        total=total,
        summed=summed,
        gradients=gradients,
        schedule=schedule,
        ballot=Ballot(device),
        noise=_make_noise_meter(config, batch, device),
    )
    measured = {**splits, "train": _measured_train_examples(config, splits)}
    evaluator = Evaluator(model, workload, measured, probed.measured, config.evaluate.batch, world, average)
    if rule.target is not None:
        rule.target.check(evaluator.columns())
        _check_direction(rule.target, workload)
    plan = evaluation_plan(config.evaluate, batch.examples, len(train))
    return Loop(parts, evaluator, plan, rule, Clock(), world.chief, interrupted)


def _check_wire(config: Config) -> None:
    """Refuse a narrow wire where equal bits, or a tree, are asked for."""
    wire, recipe = config.cluster.wire, config.recipe
    if wire != "fp32" and recipe.exact:
        raise ConfigError(f"cluster.wire={wire} gives up exactness: it contradicts recipe.exact (--exact)")
    if wire != "fp32" and recipe.combine == "adasum":
        raise ConfigError(f"cluster.wire={wire} works with recipe.combine=mean, not adasum")


def _check_performance(config: Config) -> None:
    """Refuse other arithmetic where equal bits are asked for, and buckets of what cannot be cut."""
    performance = config.performance
    buckets = isinstance(performance.bucket_megabytes, float)
    changes = {
        "memory_format": performance.memory_format == "contiguous",
        "compile": performance.compile is True,
        "bucket_megabytes": buckets,
    }
    for key in (key for key, changed in changes.items() if changed and config.recipe.exact):
        raise ConfigError(f"performance.{key} changes how sums are rounded: it contradicts recipe.exact (--exact)")
    if buckets and (config.recipe.combine != "mean" or config.cluster.wire != "fp32"):
        raise ConfigError("performance.bucket_megabytes works with recipe.combine=mean and cluster.wire=fp32")


def bucket_megabytes(config: Config, device: torch.device) -> float | None:
    """Say how large buckets of gradients are where nobody has tried what is faster."""
    wanted = config.performance.bucket_megabytes
    if wanted == AUTO:
        return GPU_BUCKET_MEGABYTES if device.type == "cuda" else None
    return wanted


def _make_noise_meter(config: Config, batch: Batch, device: torch.device) -> NoiseMeter | None:
    every_steps = config.noise_scale.every_steps
    if every_steps is None:
        return None
    if batch.microbatches < 2:
        raise ConfigError(
            "noise_scale.every_steps compares microbatches with the whole batch: "
            f"it needs a recipe.microbatch below the global batch of {batch.examples}"
        )
    if config.recipe.combine != "mean":
        raise ConfigError("noise_scale.every_steps works with recipe.combine=mean, not adasum")
    return NoiseMeter(every_steps, batch, device)


def _transforms(recipe: ResolvedRecipe, workload: Workload, batch: Batch, train: Examples) -> list[Transform]:
    """List what is done to microbatches: what the workload does itself, then what the recipe does to images."""
    transforms: list[Transform] = []
    if type(workload).transform is not Workload.transform:
        transforms.append(OwnTransform(workload))
    images = workload.recipe_transform(recipe, lambda duration: duration.steps(batch.examples, len(train)))
    if images is not None:
        transforms.append(images)
    return transforms


def _make_source(recipe: ResolvedRecipe, train: Examples, batch: Batch, share: range) -> ExampleSource:
    order = ExampleOrder(recipe.seed, len(train))
    if isinstance(train, StoredSplit):
        return ReadAhead(train, order, batch, share)
    return ExampleSource(train, order, batch)


def _check_weighted(recipe: ResolvedRecipe, probed: Probed) -> None:
    if probed.weighted and recipe.combine != "mean":
        raise ConfigError(
            "recipe.combine=adasum combines means of microbatches: it works with losses in which every example weighs 1"
        )


def _check_direction(target: Target, workload: Workload) -> None:
    """Refuse a target that a metric passes by getting worse; of metrics that are not declared nothing is known."""
    name = target.metric.rpartition("/")[2]
    for metric in workload.measures:
        if metric.name == name and metric.lower_is_better != target.below:
            better, sign = ("lower", "<") if metric.lower_is_better else ("higher", ">")
            raise ConfigError(f"stop.target {target}: {better} is better for {name}, so write '{target.metric}{sign}'")


def _make_total(
    config: Config, layout: Layout, weights: FlatWeights, batch: Batch, world: World, share: range
) -> Total:
    device = weights.vector.device
    if config.recipe.combine == "adasum":
        return AdasumTotal(layout, weights, device, batch, world)
    if config.recipe.exact:
        return TreeTotal(layout, device, batch, world)
    length = layout.offsets[-1]
    if config.cluster.wire != "fp32" and world.workers > 1:
        return RunningTotal(layout, NarrowSum(length, len(weights.vector), DTYPES[config.cluster.wire], device))
    worker_sum = make_worker_sum(length, device, world, config.cluster.timeout_seconds)
    megabytes = bucket_megabytes(config, device)
    if megabytes is not None and world.workers > 1 and isinstance(worker_sum, MessageSum):
        return OverlappedTotal(layout, worker_sum, weights, share, 1e6 * megabytes)
    return RunningTotal(layout, worker_sum)


def _make_average(
    recipe: ResolvedRecipe, weights: FlatWeights, moments: Moments | None, train_examples: int
) -> Average | None:
    if recipe.average_half_life is None:
        return None
    half_life = recipe.average_half_life.examples(recipe.global_batch, train_examples)
    if half_life == 0:
        raise ConfigError("recipe.average_half_life must be greater than 0; null means no averaging")
    statistics = moments.statistics if moments is not None else []
    return Average([weights.vector, *statistics], half_life, recipe.global_batch)


def _measured_train_examples(config: ResolvedConfig, splits: dict[str, Examples]) -> Examples:
    """Choose the training examples that evaluation measures: the same ones every time."""
    train, wanted = splits["train"], config.evaluate.train_examples
    count = min(len(train), len(splits["val"]) if wanted == "as_val" else wanted)
    seed = derive(config.recipe.seed, Purpose.EVALUATION_SUBSET)
    chosen = permutation(seed, 0, len(train))[:count].sort().values
    return train.only(chosen)
