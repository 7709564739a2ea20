"""Makes the workload of a user's own file, and runs nothing of a file that has no such workload."""

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from scalewise.errors import WorkloadError, nearest
from scalewise.words import printable
from scalewise.workloads.base import Workload
from scalewise.workloads.making import described, is_workload_class, make
from scalewise.workloads.outline import Outline


def own_workload(file: Path, class_name: str) -> Workload:
    """Make the workload `file:class_name`."""
    outline = _outline(file)
    if not outline.may_have(class_name):
        raise _missing(file, class_name, outline)
    if (kind := outline.other_kind(class_name)) is not None:
        raise WorkloadError(f"{_no_workload(file, class_name)}: it is {kind}{_hint(class_name, outline)}")
    module = _imported(file)
    if not hasattr(module, class_name):
        raise _missing(file, class_name, outline)
    found = getattr(module, class_name)
    if not is_workload_class(found):
        raise WorkloadError(_no_workload(file, class_name))
    return make(found, f"{file}:{class_name}")


def _missing(file: Path, class_name: str, outline: Outline) -> WorkloadError:
    return WorkloadError(f"{file} has no workload {class_name!r}{_hint(class_name, outline) or '; it has none at all'}")


def _no_workload(file: Path, class_name: str) -> str:
    return f"{file}:{class_name} is not a class that extends scalewise.workloads.Workload"


def _hint(class_name: str, outline: Outline) -> str:
    classes = outline.possible_workloads()
    return nearest(class_name, classes) or (f"; there are {', '.join(classes)}" if classes else "")


def _outline(file: Path) -> Outline:
    """Read what the file defines, without running it."""
    text = _text(file)
    try:
        return Outline(text)
    except SyntaxError as error:
        place = f"{file}:{error.lineno}" if error.lineno else str(file)
        raise WorkloadError(f"{place} is not valid Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:  # zero bytes, thousands of brackets
        raise WorkloadError(f"{file} is not valid Python: {described(error)}") from None


def _text(file: Path) -> str:
    if file.is_dir():
        raise WorkloadError(f"{file} is a folder, not a file")
    if not file.is_file():
        raise WorkloadError(f"the workload file {file} does not exist")
    try:
        return importlib.util.decode_source(file.read_bytes())
    except OSError as error:
        raise WorkloadError(f"cannot read {file}: {error.strerror}") from None
    except (UnicodeDecodeError, SyntaxError) as error:  # the second where it names an encoding that there is not
        raise WorkloadError(f"{file} is not UTF-8 text: {printable(str(error))}") from None


def _imported(file: Path) -> ModuleType:
    """Import a user's file under a name of its own, with its folder on the path for its neighbours."""
    name = f"scalewise_workload_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    except SystemExit as error:
        raise WorkloadError(
            f"{_place(file, error)} ends the program when it is imported: "
            "move what only a script does below if __name__ == '__main__':"
        ) from error
    except Exception as error:
        raise WorkloadError(f"{_place(file, error)} does not import: {described(error)}") from error
    return module


def _place(file: Path, error: BaseException) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"{file}:{lines[-1]}" if lines else str(file)
