"""What every result file is: keys and values, with a number that says which version of its format they have."""

import contextlib
import json
import reprlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticSerializationError

from scalewise.errors import FolderError
from scalewise.storage import LocalStore

FIRST_FORMAT = 1
"""What version 0.1.0 wrote, without a number."""

_WANTED = {
    **dict.fromkeys(("int_type", "float_type", "int_parsing", "float_parsing"), "a number"),
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type", "dataclass_type"), "keys and values"),
    "string_type": "a text",
    "bool_type": "true or false",
    "int_from_float": "a whole number",
}
"""What a value should be, in our words, by the name that pydantic has for the mistake."""


class ResultPart(BaseModel):
    """A part of a result file. Keys that a later version adds are ignored."""

    # Built when first used: no command uses more than a few of these classes.
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class ResultFile(ResultPart):
    """A whole file. A class of it names the file, and says how older formats become the present one."""

    file_name: ClassVar[str]
    present_format: ClassVar[int] = 2
    leaves_out_none: ClassVar[bool] = True
    """Whether a key without a value is left out of the file, and not written as null."""
    indent: ClassVar[int | None] = 2
    """None: on one line, which is written several times as fast."""

    @classmethod
    def is_in(cls, folder: Path) -> bool:
        """Say whether a folder has such a file."""
        return LocalStore(folder).exists(cls.file_name)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the file of a folder; if anything is wrong with it, the error is one sentence."""
        content = LocalStore(folder).read(cls.file_name)
        if content is None:
            raise FolderError(f"{folder} has no {cls.file_name}")
        return cls.parse(content, str(folder / cls.file_name))

    @classmethod
    def parse(cls, content: bytes, where: str) -> Self:
        """Read the bytes of a file."""
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise FolderError(f"cannot read {where}: {error}") from None
        if not isinstance(found, dict):
            raise FolderError(f"cannot read {where}: it holds no keys")
        written_as = found.pop("format", FIRST_FORMAT)
        if not isinstance(written_as, int) or isinstance(written_as, bool) or written_as > cls.present_format:
            number = reprlib.repr(written_as)
            raise FolderError(f"{where} has the format {number}: it was written by a later version of scalewise")
        try:
            return cls.model_validate(cls.upgraded(found, written_as))
        except ValidationError as error:
            raise FolderError(f"{where} is damaged: {_mistake(error)}") from None

    @classmethod
    def upgraded(cls, content: dict[str, Any], written_as: int) -> Mapping[str, Any]:
        """Return the content of an older format as the present one has it."""
        return content

    def write(self, folder: Path) -> None:
        """Write the file into a folder, whole or not at all."""
        LocalStore(folder).write(self.file_name, self.content())

    def content(self) -> bytes:
        """Return the bytes of the file."""
        if self.indent is None:
            # In one pass: by way of `plain` a plan of ten thousand candidates takes five times as long.
            with contextlib.suppress(PydanticSerializationError):  # a file name that is no text
                rest = self.model_dump_json(exclude_none=self.leaves_out_none).removeprefix("{")
                return f'{{"format":{self.present_format},{rest}\n'.encode()
        return json.dumps(self.plain(), indent=self.indent).encode() + b"\n"

    def plain(self) -> dict[str, Any]:
        """Return the keys and values of the file, as `--json` prints them too."""
        return {"format": self.present_format, **self.model_dump(mode="json", exclude_none=self.leaves_out_none)}


def _mistake(error: ValidationError) -> str:
    """Say what is wrong first; a wrong value says more than a missing one."""
    mistakes = error.errors(include_url=False)
    wrong = next((one for one in mistakes if one["type"] != "missing"), mistakes[0])
    steps = map(str, wrong["loc"])
    key = ".".join(step for step in steps if not step.startswith("<"))  # <...> is one of several classes, not a key
    if wrong["type"] == "missing":
        return f"it has no {key}"
    wanted = _WANTED.get(wrong["type"])
    says = wrong["msg"].removeprefix("Input ") if wanted is None else f"should be {wanted}"
    return f"{key}={reprlib.repr(wrong['input'])} {says}"  # shortened: the input may be long or deep
