"""Builds everything that training needs, in reading order, from a configuration and a workload."""

import functools
from collections.abc import Callable

import torch

from scalewise.cluster.sums import make_worker_sum
from scalewise.cluster.world import World
from scalewise.config import AUTO, Config
from scalewise.data.order import ExampleOrder, permutation
from scalewise.data.splits import Split, as_splits
from scalewise.loop.clock import Clock
from scalewise.loop.evaluate import Evaluator
from scalewise.loop.probe import probe
from scalewise.loop.state import TrainingState
from scalewise.loop.step import Parts
from scalewise.loop.stopping import stop_rule
from scalewise.loop.total import RunningTotal, Total, TreeTotal
from scalewise.loop.train import Loop, evaluation_plan
from scalewise.recipe.batch import Batch, batch_of
from scalewise.recipe.batch_norm import take_over_batch_norm
from scalewise.recipe.flat import Layout, flatten, layout_with
from scalewise.recipe.optimizers import make_optimizer
from scalewise.recipe.schedules import learning_rate
from scalewise.seeds import Purpose, derive
from scalewise.workloads import Workload


def resolved(config: Config, workers: int) -> Config:
    """Replace `auto` by what it stands for, where that is known without the data; check what can be checked."""
    batch = batch_of(config.recipe)
    batch.share(0, workers)
    recipe = config.recipe.model_copy(update={"microbatch": batch.microbatch})
    cluster = config.cluster.model_copy(update={"workers": workers})
    return config.model_copy(update={"recipe": recipe, "cluster": cluster})


def build_loop(
    config: Config, workload: Workload, world: World, device: torch.device, interrupted: Callable[[], bool]
) -> Loop:
    """Build everything that training needs and that does not depend on the run folder."""
    recipe = config.recipe
    batch = batch_of(recipe)
    splits = {name: split.to(device) for name, split in as_splits(workload.data()).items()}
    train = splits["train"]
    loss = functools.partial(workload.summed_loss, label_smoothing=recipe.label_smoothing)

    torch.manual_seed(derive(recipe.seed, Purpose.INITIAL_WEIGHTS))
    model, moments = take_over_batch_norm(workload.model().to(device))
    weights = flatten(model)
    smallest = batch.size(batch.microbatches - 1)
    names = probe(model, workload, recipe.label_smoothing, train, smallest)

    layout = layout_with(weights, moments.sums.shape if moments is not None else (0,), (), (2,))
    total = _make_total(recipe.exact, layout, batch, world, device)
    optimizer = make_optimizer(recipe, weights, total.vector)
    parts = Parts(
        state=TrainingState(model, weights, optimizer),
        examples=train,
        order=ExampleOrder(recipe.seed, len(train)),
        batch=batch,
        share=batch.share(world.rank, world.workers),
        loss=loss,
        learning_rate=functools.partial(learning_rate, recipe),
        moments=moments,
        total=total,
        seed=recipe.seed,
    )
    measured = {**splits, "train": _measured_train_examples(config, splits)}
    evaluator = Evaluator(model, workload.metrics, measured, names, config.evaluate.batch, world)
    rule = stop_rule(config.stop, batch.examples, len(train))
    if rule.target is not None:
        rule.target.check(evaluator.columns())
    plan = evaluation_plan(config.evaluate, batch.examples, len(train))
    return Loop(parts, evaluator, plan, rule, Clock(), world.chief, interrupted)


def _make_total(exact: bool, layout: Layout, batch: Batch, world: World, device: torch.device) -> Total:
    if exact:
        return TreeTotal(layout, device, batch, world)
    return RunningTotal(layout, make_worker_sum(layout.offsets[-1], device, world))


def _measured_train_examples(config: Config, splits: dict[str, Split]) -> Split:
    """Choose the training examples that evaluation measures: the same ones every time."""
    train, wanted = splits["train"], config.evaluate.train_examples
    count = min(len(train), len(splits["val"]) if wanted == AUTO else wanted)
    seed = derive(config.recipe.seed, Purpose.EVALUATION_SUBSET)
    chosen = permutation(seed, 0, len(train))[:count].sort().values
    return train.take(chosen)
