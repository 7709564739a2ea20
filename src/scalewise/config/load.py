"""Builds a configuration from layers: the workload's defaults, presets or a YAML file, `--set` overrides."""

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from scalewise.config.presets import PRESETS
from scalewise.config.schema import AUTO, Config
from scalewise.errors import ConfigError, nearest

Layer = Mapping[str, Any]

# Compiled where there are such: a trial of a study reads its configuration at every start.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def load_config(
    workload: str, defaults: Layer, recipe: str | None, overrides: Iterable[str], shared: Layer | None = None
) -> Config:
    """Build the configuration of a run; a later layer wins over an earlier one.

    The order is: the workload's defaults, what several runs share, the recipe, the overrides.
    """
    chosen = read_recipe(recipe) if recipe else []
    layers = [_with_reference(defaults), shared or {}, *chosen, *map(parse_override, overrides)]
    merged: dict[str, Any] = functools.reduce(_merge, layers, {})
    if merged.setdefault("workload", workload) != workload:
        raise ConfigError(f"the recipe file is for the workload {merged['workload']!r}, not {workload!r}")
    return _validated(merged)


def _with_reference(defaults: Layer) -> Layer:
    """Say of a workload's own learning rate which batch it is for."""
    own = defaults.get("recipe", {})
    if "global_batch" not in own or "reference_batch" in own:
        return defaults
    return {**defaults, "recipe": {**own, "reference_batch": own["global_batch"]}}


def read_recipe(recipe: str) -> list[Layer]:
    """Read a YAML file, or presets joined by `+`, such as `linear+warmup`."""
    if Path(recipe).is_file() or Path(recipe).suffix in (".yaml", ".yml"):
        return [read_yaml(Path(recipe))]
    names = recipe.split("+")
    for name in names:
        if name not in PRESETS:
            hint = nearest(name, PRESETS) or f"; the presets are {', '.join(PRESETS)}"
            raise ConfigError(f"{name!r} is neither a recipe file nor a preset{hint}")
    return [PRESETS[name] for name in names]


def read_config(file: Path) -> Config:
    """Read back the whole configuration of a run."""
    return _validated(read_yaml(file))


def _validated(content: Layer) -> Config:
    try:
        return Config.model_validate(content)
    except ValidationError as error:
        raise ConfigError(_sentence(error.errors()[0])) from None


def parse_yaml(file: Path) -> Any:
    """Read whatever a YAML file holds."""
    try:
        return yaml.load(file.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid YAML: {' '.join(str(error).split())}") from None


def read_yaml(file: Path) -> Layer:
    """Read a YAML file that holds sections of keys."""
    content = parse_yaml(file)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{file} must hold sections such as 'recipe:', not a {type(content).__name__}")
    return content


def parse_override(text: str) -> Layer:
    """Read one `--set` override.

    >>> parse_override("recipe.global_batch=512")
    {'recipe': {'global_batch': 512}}
    """
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise ConfigError(f"--set {text!r} is not like 'recipe.global_batch=512'")
    try:
        layer: Any = yaml.load(value, _Loader)
    except yaml.YAMLError:
        raise ConfigError(f"--set {text!r}: the value is not valid YAML") from None
    for key in reversed(path.strip().split(".")):
        layer = {key: layer}
    return dict(layer)


def model_decisions(config: Config) -> dict[str, Any]:
    """Return every key that decides the model or where it is measured, by dotted path: what all starts must share."""
    content = config.model_dump(mode="json", include={"workload", "recipe", "stop", "evaluate"})
    return dict(_flatten(content))


def differences(there: Layer, now: Layer) -> list[str]:
    """Say in which keys two contents differ, section by section.

    >>> differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}})
    ['a.c is 2 there and 3 now']
    """
    there, now = dict(_flatten(there)), dict(_flatten(now))
    return [
        f"{key} is {there.get(key)!r} there and {now.get(key)!r} now"
        for key in sorted(there.keys() | now.keys())
        if there.get(key) != now.get(key)
    ]


def to_yaml(config: Config) -> str:
    """Write the configuration so that `--recipe` reads it back.

    What nobody has chosen about the cluster or the arithmetic is left out: another machine chooses for itself.
    """
    content = config.model_dump(mode="json")
    for section in ("cluster", "performance"):
        content[section] = {key: value for key, value in content[section].items() if value != AUTO}
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def _merge(lower: Mapping[str, Any], upper: Layer) -> dict[str, Any]:
    """Lay one layer over another, section by section."""
    merged = dict(lower)
    for key, value in upper.items():
        below = merged.get(key)
        merged[key] = _merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged


def _flatten(content: Layer, prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _known_keys(model: type[BaseModel] = Config, prefix: str = "") -> list[str]:
    keys = []
    for name, field in model.model_fields.items():
        keys.append(prefix + name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            keys += _known_keys(field.annotation, f"{prefix}{name}.")
    return keys


def _sentence(error: ErrorDetails) -> str:
    """Turn pydantic's first finding into one sentence."""
    # A key that takes a number or a word is reported once per alternative, with the alternative's name last.
    path = [str(part) for part in error["loc"]]
    known = _known_keys()
    while len(path) > 1 and ".".join(path) not in known and error["type"] != "extra_forbidden":
        path.pop()
    key = ".".join(path)
    if error["type"] == "extra_forbidden":
        return f"unknown key {key!r}{_nearest_key(key, known)}"
    if error["type"] == "model_type":
        return f"{key} is a section of keys, such as '{key}.{_first_key(key, known)}', not the value {error['input']!r}"
    reason = error["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return f"{key}={error['input']!r}: it should be {reason}"


def _nearest_key(key: str, known: list[str]) -> str:
    """Name the key in another section with the same last word, else the nearest by spelling."""
    leaf = key.rpartition(".")[2]
    same = [candidate for candidate in known if candidate.rpartition(".")[2] == leaf]
    return f"; did you mean {same[0]!r}?" if same else nearest(key, known)


def _first_key(section: str, known: list[str]) -> str:
    return next(key.partition(".")[2] for key in known if key.startswith(f"{section}."))
