"""Named layers of configuration: whole published recipes, and single pieces that `+` joins, as in `linear+warmup`."""

from collections.abc import Mapping
from typing import Any

_PIECES: Mapping[str, Mapping[str, Any]] = {
    "naive": {},
    "linear": {"scaling": "linear"},
    "square_root": {"scaling": "square_root"},
    "warmup": {"warmup": "gradual", "warmup_length": "5 epochs"},
    "stepping": {"warmup": "stepping", "warmup_length": "5 epochs"},
    "ghost": {"ghost_batch": 32},
    "averaging": {"average_half_life": "1 epochs"},
    "adasum": {"combine": "adasum"},
    "clipping": {"clip_norm": 1.0},
}

# The shape of each is as published; a learning rate belongs to its reference batch, and wants tuning on other data.
_WHOLE: Mapping[str, Mapping[str, Any]] = {
    "goyal2017": {
        "optimizer": "nesterov_momentum",
        "momentum": 0.9,
        "learning_rate": 0.1,
        "reference_batch": 256,
        "scaling": "linear",
        "warmup": "gradual",
        "warmup_length": "5 epochs",
        "schedule": "steps",
        "drop_at": ["30 epochs", "60 epochs", "80 epochs"],
        "drop_factor": 0.1,
        "weight_decay": 1e-4,
        "zero_init_residual": True,
    },
    "thesis_stepping": {
        "optimizer": "momentum",
        "momentum": 0.9,
        "learning_rate": 0.1,
        "reference_batch": 256,
        "scaling": "linear",
        "warmup": "stepping",
        "warmup_length": "5 epochs",
        "schedule": "steps",
        "drop_at": ["30 epochs", "60 epochs", "80 epochs"],
        "drop_factor": 0.1,
        "weight_decay": 1e-4,
    },
    "lars": {
        "optimizer": "lars",
        "momentum": 0.9,
        "lars_coefficient": 0.001,
        "learning_rate": 10.0,
        "reference_batch": 8192,
        "scaling": "square_root",
        "warmup": "gradual",
        "warmup_length": "5 epochs",
        "schedule": "polynomial",
        "polynomial_power": 2.0,
        "weight_decay": 5e-4,
    },
    "lamb": {
        "optimizer": "lamb",
        "momentum": 0.9,
        "second_moment": 0.999,
        "epsilon": 1e-6,
        "learning_rate": 0.014,
        "reference_batch": 512,
        "scaling": "square_root",
        "warmup": "gradual",
        "warmup_length": "2 epochs",
        "schedule": "linear",
        "weight_decay": 0.01,
    },
    "super_convergence": {
        "optimizer": "momentum",
        "momentum": 0.95,
        "cycle_momentum": 0.85,
        "learning_rate": 3.0,
        "reference_batch": 1000,
        "scaling": "none",
        "schedule": "one_cycle",
        "cycle_peak": 0.45,
        "cycle_start_factor": 0.033,
        "weight_decay": 1e-4,
    },
}

PRESETS: Mapping[str, Mapping[str, Any]] = {name: {"recipe": keys} for name, keys in {**_PIECES, **_WHOLE}.items()}
