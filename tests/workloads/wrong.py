"""Workloads that are wrong, each in one way, with what the one sentence about it must say."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import IterableDataset

from scalewise.workloads import Classification, Metric, Workload

EXPECTED: dict[str, list[str]] = {}
"""By the name of a class here: words that the sentence has."""


def says(*words: str) -> Callable[[type], type]:
    def noted(kind: type) -> type:
        EXPECTED[kind.__name__] = list(words)
        return kind

    return noted


INPUTS = torch.linspace(-1, 1, 240).reshape(60, 4)
LABELS = torch.arange(60) % 3


class Right(Classification):
    """Nothing is wrong with this one."""

    defaults = {"recipe": {"global_batch": 12, "microbatch": 4}, "stop": {"steps": 2}}

    def data(self) -> Mapping[str, Any]:
        return {"train": (INPUTS, LABELS), "val": (INPUTS[:12], LABELS[:12])}

    def model(self) -> nn.Module:
        return nn.Linear(4, 3)


class TopTwo(Right):
    """Nor with this one: it measures something else than other classifications."""

    def metrics(self, outputs: Any, targets: Any) -> Mapping[str, Any]:
        return {"top_two_error": (outputs.topk(2).indices != targets[:, None]).all(dim=1)}


class Points(Right):
    """A base for data that is wrong: `train` and `val` are the same."""

    points: Any = None

    def data(self) -> Mapping[str, Any]:
        return {"train": self.points, "val": self.points}


@says("data() must return splits by name", "a tuple")
class DataIsAPair(Right):
    def data(self) -> Any:
        return INPUTS, LABELS


@says("DataFails.data() fails", "FileNotFoundError", "nowhere.csv")
class DataFails(Right):
    def data(self) -> Any:
        raise FileNotFoundError("nowhere.csv")


@says("no split val")
class NoVal(Right):
    def data(self) -> Any:
        return {"train": (INPUTS, LABELS)}


@says("as many inputs as targets", "(60, 4)", "(59,)")
class UnequalLengths(Points):
    points = (INPUTS, LABELS[:59])


@says("as many inputs as targets", "mask")
class UnequalLeaves(Points):
    points = ({"ids": INPUTS, "mask": INPUTS[:3]}, LABELS)


@says("at least one of each", "(0, 4)")
class EmptySplit(Points):
    points = (INPUTS[:0], LABELS[:0])


@says("its tree is empty")
class EmptyTree(Points):
    points: Any = ({}, LABELS)


@says("split train", "a pair (inputs, targets)")
class Words(Points):
    points = (["a", "b"], ["c", "d"])


@says("split train is a generator", "__getitem__")
class Generator(Right):
    def data(self) -> Any:
        return {name: ((row, label) for row, label in zip(INPUTS, LABELS, strict=True)) for name in ("train", "val")}


class _Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter(zip(INPUTS, LABELS, strict=True))


@says("split train is a _Stream", "an order of their own")
class Stream(Right):
    def data(self) -> Any:
        return {"train": _Stream(), "val": _Stream()}


class _Growing:
    def __init__(self) -> None:
        self.length = 50

    def __len__(self) -> int:
        self.length += 1
        return self.length

    def __getitem__(self, index: int) -> Any:
        return INPUTS[index % 60], int(LABELS[index % 60])


@says("split train said", "its length must stay")
class LengthChanges(Right):
    def data(self) -> Any:
        return {"train": _Growing(), "val": _Growing()}


class _Triples(_Growing):
    def __len__(self) -> int:
        return 60

    def __getitem__(self, index: int) -> Any:
        return INPUTS[index], LABELS[index], "a name"


@says("split train must give pairs (input, target)", "its first one fails")
class Triples(Right):
    def data(self) -> Any:
        return {"train": _Triples(), "val": _Triples()}


class _Ragged(_Triples):
    def __getitem__(self, index: int) -> Any:
        return INPUTS[index, : 2 + index % 3], int(LABELS[index])


@says("different shapes or lengths", "collate()")
class RaggedWithoutCollate(Right):
    def data(self) -> Any:
        return {"train": _Ragged(), "val": _Ragged()}


@says("4 examples of split train collate to 7 rows")
class CollatesToOtherRows(Right):
    def data(self) -> Any:
        return {"train": list(zip(INPUTS, LABELS, strict=True)), "val": list(zip(INPUTS, LABELS, strict=True))}

    def collate(self, examples: list[Any]) -> Any:
        return torch.zeros(7, 4), torch.zeros(7, dtype=torch.int64)


@says("hold NaN", "example 5")
class NanLabels(Workload):
    defaults = Right.defaults

    def data(self) -> Any:
        targets = INPUTS[:, 0].clone()
        targets[5] = torch.nan
        return {"train": (INPUTS, targets), "val": (INPUTS, INPUTS[:, 0])}

    def model(self) -> nn.Module:
        return nn.Linear(4, 1)

    def loss(self, outputs: Tensor, targets: Tensor) -> Any:
        return (outputs[:, 0] - targets).square()

    def metrics(self, outputs: Tensor, targets: Tensor) -> Any:
        return {"squared_error": self.loss(outputs, targets)}


class Line(NanLabels):
    """Nothing is wrong with this one either."""

    def data(self) -> Any:
        return {"train": (INPUTS, INPUTS[:, 0]), "val": (INPUTS, INPUTS[:, 0])}


@says("is not finite for the first", "NaN")
class NanInputs(Line):
    def data(self) -> Any:
        return {"train": (INPUTS * torch.nan, INPUTS[:, 0]), "val": (INPUTS, INPUTS[:, 0])}


@says("must be plain tensors with values", "meta")
class MetaTensors(Points):
    points = (INPUTS.to("meta"), LABELS)


@says("must be plain tensors with values", "sparse")
class SparseTensors(Points):
    points = (INPUTS.to_sparse(), LABELS)


@says("class numbers, int64", "float32")
class FloatLabels(Points):
    points = (INPUTS, LABELS.float())


@says("class numbers, int64", "(60, 1)")
class LabelsInColumns(Points):
    points = (INPUTS, LABELS[:, None])


@says("labels from 0 to 7", "classes 0 to 2")
class LabelTooHigh(Points):
    points = (INPUTS, torch.arange(60) % 8)


@says("model() must return a torch.nn.Module", "NoneType")
class NoModel(Right):
    def model(self) -> Any:
        return None


@says("ModelFails.model() fails", "ValueError", "no such size")
class ModelFails(Right):
    def model(self) -> Any:
        raise ValueError("no such size")


@says("no trainable parameters")
class NoParameters(Right):
    def model(self) -> nn.Module:
        return nn.Flatten()


@says("float32 parameters", "weight")
class DoubleModel(Right):
    def model(self) -> nn.Module:
        return nn.Linear(4, 3).double()


@says("the workload's model fails", "float32 (4, 4)", "RuntimeError")
class WrongWidth(Right):
    def model(self) -> nn.Module:
        return nn.Linear(5, 3)


@says("the workload's model fails", "int64", "RuntimeError")
class IntegerInputs(Points):
    points = (torch.arange(240).reshape(60, 4), LABELS)


class _Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(4, 3)

    def forward(self, inputs: Tensor) -> Any:
        return self.dense(inputs), inputs


@says("one score per class", "not tuple", "outputs()")
class TupleOutput(Right):
    def model(self) -> nn.Module:
        return _Twice()


class _Silent(_Twice):
    def forward(self, inputs: Tensor) -> Any:
        self.dense(inputs)


@says("returns None")
class ReturnsNone(Right):
    def model(self) -> nn.Module:
        return _Silent()


class _Frozen(_Twice):
    def forward(self, inputs: Tensor) -> Any:
        with torch.no_grad():
            return self.dense(inputs)


@says("does not depend on the model's parameters")
class WithoutGradient(Right):
    def model(self) -> nn.Module:
        return _Frozen()


@says("loss() must give one value per example", "not ()")
class MeanLoss(Right):
    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return super().loss(outputs, targets).mean()


@says("loss() must give one value per example", "None")
class NoLoss(Line):
    def loss(self, outputs: Tensor, targets: Tensor) -> Any:
        return None


@says("loss() fails", "AttributeError", "logits")
class LossFails(Line):
    def loss(self, outputs: Any, targets: Tensor) -> Any:
        return outputs.logits


@says("must weigh examples by 0 or more")
class NegativeWeights(Line):
    def loss(self, outputs: Tensor, targets: Tensor) -> Any:
        return outputs[:, 0].square(), -torch.ones(len(targets))


@says("floating-point numbers", "int64")
class IntegerLoss(Line):
    def loss(self, outputs: Tensor, targets: Tensor) -> Any:
        return outputs[:, 0].long()


@says("metrics() must return at least one metric by name")
class NoMetrics(Line):
    def metrics(self, outputs: Tensor, targets: Tensor) -> Any:
        return {}


@says("metric 'verdict' must give one value per example", "fine")
class TextMetric(Line):
    def metrics(self, outputs: Tensor, targets: Tensor) -> Any:
        return {"verdict": "fine"}


@says("a metric cannot be named 'val/error, %'")
class BadMetricName(Line):
    def metrics(self, outputs: Tensor, targets: Tensor) -> Any:
        return {"val/error, %": targets}


@says("declares the metric 'squared_eror'", "squared_error")
class DeclaredAndNotGiven(Line):
    measures = (Metric("squared_eror"),)


@says("of_all of metric 'ranking' must return a number", "one")
class OfAllReturnsText(Line):
    measures = (Metric("ranking", of_all=lambda rows: "one"),)  # type: ignore[return-value,arg-type]

    def metrics(self, outputs: Tensor, targets: Tensor) -> Any:
        return {"ranking": targets}


@says("of_all of metric 'ranking' fails", "ZeroDivisionError")
class OfAllFails(Line):
    measures = (Metric("ranking", of_all=lambda rows: 1 / 0),)

    def metrics(self, outputs: Tensor, targets: Tensor) -> Any:
        return {"ranking": targets}


@says("one row per example")
class OfAllWithoutRows(Line):
    measures = (Metric("ranking", of_all=lambda rows: 1.0),)

    def metrics(self, outputs: Tensor, targets: Tensor) -> Any:
        return {"ranking": targets.sum()}


@says("of_mean of metric 'odd' fails", "ValueError")
class OfMeanFails(Line):
    measures = (Metric("odd", of_mean=lambda mean: float("x")),)

    def metrics(self, outputs: Tensor, targets: Tensor) -> Any:
        return {"odd": targets}


@says("TransformFails.transform() fails", "KeyError")
class TransformFails(Right):
    def transform(self, inputs: Tensor, targets: Tensor, seeds: Tensor) -> Any:
        return {"none": inputs}["image"], targets


@says("does not take what WrongTransform.transform() makes", "(4, 3)")
class WrongTransform(Right):
    def transform(self, inputs: Tensor, targets: Tensor, seeds: Tensor) -> Any:
        return inputs[:, :3], targets


@says("transform_example() fails", "TypeError")
class ExampleTransformFails(Right):
    def transform_example(self, example: Any, seed: int) -> Any:
        return example + seed


@says("higher is better for precision", "val/precision>")
class WrongWay(Line):
    defaults = {**Right.defaults, "stop": {"steps": 2, "target": "val/precision<0.5"}}
    measures = (Metric("precision", lower_is_better=False),)

    def metrics(self, outputs: Tensor, targets: Tensor) -> Any:
        return {"precision": targets}


@says("label_smoothing=0.1", "no labels to smooth")
class SmoothedNumbers(Line):
    defaults = {**Right.defaults, "recipe": {**Right.defaults["recipe"], "label_smoothing": 0.1}}


@says("recipe.augmentation is for images")
class AugmentedNumbers(Line):
    defaults = {**Right.defaults, "recipe": {**Right.defaults["recipe"], "augmentation": "flip_and_crop"}}


@says("adasum", "every example weighs 1")
class WeighedAdasum(Line):
    defaults = {**Right.defaults, "recipe": {**Right.defaults["recipe"], "combine": "adasum"}}

    def loss(self, outputs: Tensor, targets: Tensor) -> Any:
        return outputs[:, 0].square(), torch.ones(len(targets))
