"""Turns what Python says about a run, as dictionaries and texts, into what a request holds: a recipe and overrides."""

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from typing import Any, TypeAlias

import yaml

from scalewise.config import Config
from scalewise.config.load import read_recipe
from scalewise.errors import ConfigError

Recipe: TypeAlias = "Mapping[str, Any] | str | PathLike[str] | None"
"""Settings of the recipe, or whole sections; presets such as `linear+warmup`; or a YAML file."""
Stop: TypeAlias = "Mapping[str, Any] | str | None"
"""A target, or settings of the section `stop`."""
Settings: TypeAlias = "Mapping[str, Any] | Iterable[str]"
"""Values by `section.key`, dictionaries by section, or texts such as `evaluate.every_steps=10`."""

_TRAINING_LOSS = "train_loss"


def recipe_name(recipe: Recipe) -> str | None:
    """Return the presets or the file of a recipe that is given by name."""
    return None if recipe is None or isinstance(recipe, Mapping) else fspath(recipe)


def overrides(recipe: Recipe = None, stop: Stop = None, settings: Settings = ()) -> tuple[str, ...]:
    """Return all that is said in Python as overrides; what comes later wins.

    >>> overrides({"global_batch": 256}, "val/classification_error<0.1", {"evaluate.every_steps": 10})
    ('recipe.global_batch=256', 'stop.target=val/classification_error<0.1', 'evaluate.every_steps=10')
    >>> overrides(stop={"steps": 5}, settings=["recipe.exact=true"])
    ('stop.steps=5', 'recipe.exact=true')
    """
    return (*_of_recipe(recipe), *_of_stop(stop), *_of_settings(settings))


def all_overrides(recipe: Recipe, settings: Settings) -> tuple[str, ...]:
    """Return the same for a request that has no recipe: presets and files become overrides, too.

    >>> all_overrides("linear+clipping", {"recipe.clip_norm": 2})
    ('recipe.scaling=linear', 'recipe.clip_norm=1.0', 'recipe.clip_norm=2')
    """
    name = recipe_name(recipe)
    layers = [] if name is None else read_recipe(name)
    return (*(line for layer in layers for line in _of_recipe(layer)), *overrides(recipe, None, settings))


def _of_recipe(recipe: Recipe) -> Iterable[str]:
    if not isinstance(recipe, Mapping):
        return []
    whole = any(key in Config.model_fields for key in recipe)
    return _lines({key: value for key, value in recipe.items() if key != "workload"} if whole else {"recipe": recipe})


def _of_stop(stop: Stop) -> Iterable[str]:
    if stop is None:
        return []
    if isinstance(stop, Mapping):
        return _lines({"stop": stop})
    key = "loss" if str(stop).strip().startswith(_TRAINING_LOSS) else "target"
    return [f"stop.{key}={stop}"]


def _of_settings(settings: Settings) -> Iterable[str]:
    if isinstance(settings, Mapping):
        return _lines(settings)
    if isinstance(settings, str):
        return [settings]
    return list(settings)


def _lines(values: Mapping[str, Any], above: str = "") -> list[str]:
    """Write sections of keys, or keys with dots, one to a line.

    >>> _lines({"recipe": {"learning_rate": 1e-5, "clip_norm": None}, "stop.epochs": 2})
    ['recipe.learning_rate=1.0e-05', 'recipe.clip_norm=null', 'stop.epochs=2']
    """
    lines = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            lines += _lines(value, f"{above}{key}.")
        else:
            lines.append(f"{above}{key}={_text(f'{above}{key}', value)}")
    return lines


def _text(key: str, value: Any) -> str:
    """Write a value so that `--set` reads it back."""
    try:
        written: str = yaml.safe_dump(_plain(value), default_flow_style=True, allow_unicode=True, width=float("inf"))
    except yaml.YAMLError:
        raise ConfigError(f"{key}={value!r}: a setting is a number, a text, true or false, None or a list") from None
    return written.removesuffix("...\n").strip()


def _plain(value: Any) -> Any:
    """Take numbers out of NumPy's, torch's and our own types."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if callable(item := getattr(value, "item", None)):
        return item()
    return str(value) if type(value).__module__.startswith("scalewise.") else value
