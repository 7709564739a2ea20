"""What a run is: a frozen schema, named presets, YAML files and `--set` overrides."""

from scalewise.config.duration import Duration
from scalewise.config.load import (
    differences,
    load_config,
    model_decisions,
    parse_yaml,
    read_config,
    read_yaml,
    to_yaml,
)
from scalewise.config.schema import AUTO, Auto, Checkpoint, Cluster, Config, Evaluate, Recipe, Record, Stop
from scalewise.config.target import Target

__all__ = [
    "AUTO",
    "Auto",
    "Checkpoint",
    "Cluster",
    "Config",
    "Duration",
    "Evaluate",
    "Recipe",
    "Record",
    "Stop",
    "Target",
    "differences",
    "load_config",
    "model_decisions",
    "parse_yaml",
    "read_config",
    "read_yaml",
    "to_yaml",
]
