"""Writes settings.md from the schema, so that every setting is described in one place."""

import json
import typing
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scalewise.config import Config
from scalewise.config.duration import DurationField
from scalewise.config.target import LossTargetField, TargetField

_INTRODUCTION = """# Settings

Every setting of a run. Give them in a recipe file, or one by one: `--set recipe.global_batch=512`. `null` turns
something off, `auto` leaves the choice to scalewise. This page is written by `python docs/make_settings.py`.
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join([_INTRODUCTION, *(section for name in Config.model_fields if (section := _section(name)))])


def _section(name: str) -> str:
    section = Config.model_fields[name].annotation
    if not (isinstance(section, type) and issubclass(section, BaseModel)):
        return ""
    rows = [_row(f"{name}.{key}", field) for key, field in section.model_fields.items()]
    head = ["| setting | takes | default | what it is |", "|---|---|---|---|"]
    return "\n".join([f"## {name}", "", section.__doc__ or "", "", *head, *rows, ""])


def _row(key: str, field: FieldInfo) -> str:
    default = json.dumps(field.default, default=str).strip('"')
    return f"| `{key}` | {_kind(field.rebuild_annotation())} | `{default}` | {field.description} |"


def _kind(annotation: Any) -> str:
    """Name the values that a setting takes."""
    if typing.get_origin(annotation) is typing.Literal:
        return ", ".join(map(str, typing.get_args(annotation)))
    if annotation == DurationField:
        return "duration"
    if annotation in (TargetField, LossTargetField):
        return "text"
    if typing.get_origin(annotation) is typing.Annotated:
        return _kind(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) is tuple:
        kinds = [_kind(argument) for argument in typing.get_args(annotation) if argument is not ...]
        return f"list of {kinds[0]}" if ... in typing.get_args(annotation) else f"[{', '.join(kinds)}]"
    if arguments := typing.get_args(annotation):
        return ", ".join(_kind(argument) for argument in arguments)
    names = {int: "whole number", float: "number", str: "text", bool: "true, false", type(None): "null"}
    return names[annotation]


if __name__ == "__main__":
    (Path(__file__).parent / "settings.md").write_text(page())
