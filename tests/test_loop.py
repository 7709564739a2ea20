"""The loop, drained without files: evaluation, stopping and what it yields."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from loops import drain, make_loop
from processes import NETS, train
from scalewise.loop.loop import StepResult, Stopped
from scalewise.loop.stopping import Reason
from scalewise.workloads.find import find_workload


@pytest.mark.parametrize(
    ("overrides", "reason", "steps"),
    [
        (["stop.steps=7"], Reason.STEPS, 7),
        (["stop.epochs=0.5"], Reason.EPOCHS, 11),  # 1,297 / 2 examples are 10.1 steps of 64
        (["stop.epochs=1", "stop.steps=5"], Reason.STEPS, 5),
        (["stop.target=val/classification_error<2"], Reason.TARGET, 0),
    ],
)
def test_whichever_rule_comes_first_ends_it(overrides: list[str], reason: Reason, steps: int) -> None:
    taken, evaluations, stopped = drain(make_loop(*overrides))
    assert stopped == Stopped(steps, reason)
    assert [result.step for result in taken] == list(range(1, steps + 1))
    assert evaluations[0].step == 0 and evaluations[-1].step == steps


def test_a_target_must_be_passed_strictly() -> None:
    still = ("stop.steps=1", "recipe.learning_rate=1e-12")
    _, evaluations, _ = drain(make_loop(*still))
    value = evaluations[0].metrics["val/classification_error"]
    _, _, stopped = drain(make_loop(*still, f"stop.target=val/classification_error<{value}"))
    assert stopped.reason is Reason.STEPS
    _, _, stopped = drain(make_loop(*still, f"stop.target=val/classification_error<{value + 0.001}"))
    assert stopped.reason is Reason.TARGET


def test_seconds_are_seconds_of_training() -> None:
    loop = make_loop("stop.seconds=0.05", "stop.target=null", "stop.epochs=null")
    _, evaluations, stopped = drain(loop)
    assert stopped.reason is Reason.SECONDS
    assert evaluations[-1].step == stopped.step
    assert loop.clock.training_seconds >= 0.05


@pytest.mark.parametrize(
    ("overrides", "measured"),
    [
        (["evaluate.every_steps=4"], [0, 4, 8, 10]),
        (["evaluate.every_examples=200"], [0, 4, 7, 10]),
        (["evaluate.every_examples=20"], list(range(11))),
        (["evaluate.every_examples=null"], [0, 10]),
        (["evaluate.every_steps=6", "evaluate.every_examples=250"], [0, 4, 6, 8, 10]),
    ],
)
def test_evaluations_come_when_they_are_due(overrides: list[str], measured: list[int]) -> None:
    _, evaluations, _ = drain(make_loop("stop.steps=10", "stop.target=null", *overrides))
    assert [result.step for result in evaluations] == measured


def test_evaluation_counts_every_example_once() -> None:
    """Against the plain mean over the whole split, for chunks that divide it and chunks that do not."""
    for chunk in (1, 7, 125, 250, 999):
        loop = make_loop("stop.steps=3", "stop.target=null", f"evaluate.batch={chunk}")
        _, evaluations, _ = drain(loop)
        workload = find_workload("digits/fc_64_64")
        for split, examples in workload.data().items():
            if split == "train":
                continue
            with torch.no_grad():
                outputs = loop.parts.state.model.eval()(examples.inputs)
            metrics = workload.metrics(outputs, examples.targets)
            for name, values in metrics.items():
                assert evaluations[-1].metrics[f"{split}/{name}"] == pytest.approx(
                    float(values.double().mean()), rel=1e-6
                )


def test_the_training_examples_that_are_measured_can_be_chosen() -> None:
    assert len(make_loop().evaluator.splits["train"]) == 250  # as many as val
    assert len(make_loop("evaluate.train_examples=100").evaluator.splits["train"]) == 100
    assert len(make_loop("evaluate.train_examples=9999").evaluator.splits["train"]) == 1297


def test_an_interrupted_loop_says_so() -> None:
    asked = False
    loop = make_loop(interrupted=lambda: asked)
    results = loop.run()
    for _ in range(3):
        next(results)
    asked = True
    assert [type(result) for result in results] == [StepResult, Stopped]
    assert loop.parts.state.step == 3


def test_label_smoothing_changes_the_loss_but_not_the_metric() -> None:
    plain, smooth = (drain(make_loop("stop.steps=1", f"recipe.label_smoothing={e}")) for e in (0.0, 0.2))
    assert plain[0][0].loss != smooth[0][0].loss
    assert plain[1][0] == smooth[1][0]


@pytest.mark.parametrize(
    "model", ["fc_8", "fc_1024", "fc_64_64_64", "simple_cnn_base", "simple_cnn_narrow", "simple_cnn_wide"]
)
def test_every_kind_of_model_trains(model: str) -> None:
    steps, _, _ = drain(
        make_loop("stop.steps=30", "stop.target=null", "evaluate.every_steps=99", workload=f"digits/{model}")
    )
    assert steps[-1].loss < steps[0].loss


def test_a_workload_of_ones_own_with_its_own_metrics(tmp_path: Path) -> None:
    run = train(2, f"{NETS}:Regression", tmp_path / "run")
    assert run.metadata["stopped_by"] == "target"
    assert list(run.rows[0]) == ["step", "train/squared_error", "val/squared_error"]
    assert float(run.weights["weight"]) == pytest.approx(2, abs=0.3)


def test_gradients_are_those_of_the_mean_loss() -> None:
    """One step of plain sgd against autograd on the whole batch at once."""
    loop = make_loop(
        "recipe.optimizer=sgd", "recipe.global_batch=50", "recipe.microbatch=16", "recipe.learning_rate=0.5"
    )
    parts = loop.parts
    before: dict[str, Any] = {name: p.detach().clone() for name, p in parts.state.model.named_parameters()}
    examples = parts.feed.source.examples.take(parts.feed.source.order.indices(0, 50))
    mean_loss = F.cross_entropy(parts.state.model(examples.inputs), examples.targets)
    gradients = torch.autograd.grad(mean_loss, list(parts.state.model.parameters()))
    results = loop.run()
    next(results)
    step = next(results)
    assert isinstance(step, StepResult) and step.loss == pytest.approx(mean_loss.item(), rel=1e-5)
    for (name, parameter), gradient in zip(parts.state.model.named_parameters(), gradients, strict=True):
        assert torch.allclose(parameter, before[name] - 0.5 * gradient, atol=1e-6)


def test_a_training_loss_ends_it_as_a_mean_over_its_window() -> None:
    settings = ("stop.target=null", "stop.epochs=20", "stop.loss=train_loss<1.0", "stop.loss_window=10 steps")
    taken, evaluations, stopped = drain(make_loop(*settings))
    losses = [result.loss for result in taken]
    assert stopped.reason is Reason.LOSS and evaluations[-1].step == stopped.step
    means = [sum(losses[step - 10 : step]) / 10 for step in range(10, stopped.step + 1)]
    assert means[-1] < 1.0 and all(mean >= 1.0 for mean in means[:-1])
    assert min(losses[: stopped.step - 5]) < 1.0  # a single lucky batch did not end it
    _, _, high = drain(make_loop("stop.target=null", "stop.epochs=1", "stop.loss=train_loss<1e9"))
    assert high.reason is Reason.EPOCHS  # the window of 100 steps was never full
    _, _, epoch = drain(
        make_loop("stop.target=null", "stop.epochs=3", "stop.loss=train_loss<9", "stop.loss_window=1 epochs")
    )
    assert (epoch.reason, epoch.step) == (Reason.LOSS, 21)
