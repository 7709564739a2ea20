"""The examples, each of which can be told to stop itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import hugging_face
import multi_label
import nets
import ragged
import regression
import spirals
import two_inputs


class Manual(nets.Mischievous, hugging_face.Manual): ...  # type: ignore[misc]


class Labels(nets.Mischievous, multi_label.Labels): ...  # type: ignore[misc]


class Sums(nets.Mischievous, ragged.Sums): ...  # type: ignore[misc]


class Waves(nets.Mischievous, regression.Waves): ...  # type: ignore[misc]


class Spirals(nets.Mischievous, spirals.Spirals): ...


class Pairs(nets.Mischievous, two_inputs.Pairs): ...  # type: ignore[misc]
