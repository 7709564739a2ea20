"""Named layers of configuration: whole published recipes, and single pieces that `+` joins, as in `linear+warmup`."""

from collections.abc import Mapping
from typing import Any

_PIECES: Mapping[str, Mapping[str, Any]] = {
    "naive": {},
    "linear": {"scaling": "linear"},  # Krizhevsky 2014, arXiv:1404.5997; Goyal et al. 2017, arXiv:1706.02677
    "square_root": {"scaling": "square_root"},  # Hoffer et al. 2017, arXiv:1705.08741
    "warmup": {"warmup": "gradual", "warmup_length": "5 epochs"},  # Goyal et al. 2017, arXiv:1706.02677
    "stepping": {"warmup": "stepping", "warmup_length": "5 epochs"},
    "ghost": {"ghost_batch": 32},  # Hoffer et al. 2017, arXiv:1705.08741
    "averaging": {"average_half_life": "1 epochs"},  # Polyak and Juditsky 1992, doi:10.1137/0330046
    "adasum": {"combine": "adasum"},  # Maleki et al. 2021, arXiv:2006.02924
    "clipping": {"clip_norm": 1.0},  # Pascanu et al. 2013, arXiv:1211.5063
}

# The shape of each is as published; a learning rate belongs to its reference batch, and wants tuning on other data.
_WHOLE: Mapping[str, Mapping[str, Any]] = {
    "goyal2017": {  # Goyal et al. 2017, arXiv:1706.02677
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
    "thesis_stepping": {  # a thesis on ResNet-50 on 32 GPUs: the recipe of Goyal et al. with stairs for a warmup
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
    "lars": {  # You et al. 2017, arXiv:1708.03888
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
    "lamb": {  # You et al. 2020, arXiv:1904.00962
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
    "super_convergence": {  # Smith and Topin 2018, arXiv:1708.07120
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
