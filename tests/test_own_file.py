"""A workload in a user's own file: what has no such workload is refused without running it, with one sentence."""

from pathlib import Path

import pytest

from processes import ROOT, group, train
from scalewise.errors import WorkloadError
from scalewise.workloads import Classification
from scalewise.workloads.find import find_workload
from scalewise.workloads.outline import Outline

WHOLE = (ROOT / "examples" / "spirals.py").read_text()
RUNS = "import pathlib\n(pathlib.Path(__file__).parent / 'it_ran').touch()\n"
BASE = "from scalewise.workloads import Classification\n"
GUARDED = "if __name__ == '__main__':\n    raise SystemExit('a script')\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.py"


NEVER_RUN = [
    # what the file says, which name of it is asked for, what the sentence must say
    ("def main(): pass\n", "main", ["is not a class that extends scalewise.workloads.Workload: it is a function"]),
    ("async def main(): pass\n", "main", ["it is a function"]),
    (f"{WHOLE}\ndef main(): pass\n", "main", ["it is a function; there are Spirals"]),
    (WHOLE, "Spiral", ["mine.py has no workload 'Spiral'; did you mean 'Spirals'?"]),
    ("", "Mine", ["mine.py has no workload 'Mine'; it has none at all"]),
    ("class Mine: pass\n", "Mine", ["is not a class that extends", "it is a class that extends nothing"]),
    ("import torch\nclass Net(torch.nn.Module): pass\n", "Net", ["it is a class that extends torch.nn.Module"]),
    ("from torch import nn\nclass A(nn.Module): pass\nclass B(A): pass\n", "B", ["it is a class that extends A"]),
    ("class Mine(Exception): pass\n", "Mine", ["it is a class that extends Exception"]),
    ("EPOCHS = 5\n", "EPOCHS", ["it is a value"]),
    ("import os.path\n", "os", ["it is a module"]),
    (f"{BASE}def f():\n    class Mine(Classification): pass\n", "Mine", ["has no workload 'Mine'"]),
    (f"if __name__ == '__main__':\n    {BASE}    class Mine(Classification): pass\n", "Mine", ["has no workload"]),
    ("\nclass Mine(:\n", "Mine", ["mine.py:4 is not valid Python: invalid syntax"]),
    ("x = 1\0\n", "Mine", ["mine.py is not valid Python: ", "null bytes"]),
    ("class Mine: pass\n# \udcff\n", "Mine", ["mine.py is not UTF-8 text"]),
    ("# \udcff\nclass Mine: pass\n", "Mine", ["mine.py is not UTF-8 text"]),
    ("# coding: klingon\nclass Mine: pass\n", "Mine", ["mine.py is not UTF-8 text: unknown encoding: klingon"]),
]


@pytest.mark.parametrize(("content", "name", "words"), NEVER_RUN)
def test_a_file_without_the_workload_is_never_run(content: str, name: str, words: list[str], file: Path) -> None:
    # The encoding is said in one of the first two lines.
    text = content + RUNS if content.startswith("#") else RUNS + content
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(WorkloadError) as refused:
        find_workload(f"{file}:{name}")
    assert all(word in str(refused.value) for word in words), refused.value
    assert "\n" not in str(refused.value)
    assert not (file.parent / "it_ran").exists()


def test_the_command_runs_no_script_that_has_no_workload(file: Path) -> None:
    file.write_text(f"{RUNS}def main():\n    print('training')\nmain()\n")
    ended = group(1, "train", f"{file}:main", "--out", file.parent / "run")
    assert ended.exit_code == 2
    assert ended.output == (
        f"scalewise: {file}:main is not a class that extends scalewise.workloads.Workload: it is a function\n"
    )
    assert not (file.parent / "it_ran").exists()


METHODS = "    def data(self): ...\n    def model(self): ...\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("import no_such_module\n", ["mine.py:1 does not import: ModuleNotFoundError: No module named"]),
        ("\n1 / 0\n", ["mine.py:2 does not import: ZeroDivisionError: division by zero"]),
        ("raise RuntimeError('two\\nlines')\n", ["mine.py:1 does not import: RuntimeError: two lines"]),
        ("\nimport sys\nsys.exit(0)\n", ["mine.py:3 ends the program when it is imported", "__main__"]),
        ("raise SystemExit\n", ["mine.py:1 ends the program when it is imported"]),
    ],
)
def test_a_file_that_does_not_import(content: str, words: list[str], file: Path) -> None:
    file.write_text(f"{content}{BASE}class Mine(Classification):\n{METHODS}")
    ended = group(1, "train", f"{file}:Mine", "--out", file.parent / "run")
    assert (ended.exit_code, ended.output.count("\n")) == (2, 1), ended.output
    assert all(word in ended.output for word in words), ended.output


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    pass\n", "mine.py:Mine does not define data() and model()"),
        (
            f"    def __init__(self, path, *, size, depth=2): pass\n{METHODS}",
            "mine.py:Mine needs path and size, but a workload is made without arguments: give them defaults",
        ),
        (f"    def __init__(self): open('no/such')\n{METHODS}", "mine.py:Mine cannot be made: FileNotFoundError: "),
        (f"    def __init__(self): raise SystemExit(3)\n{METHODS}", "mine.py:Mine cannot be made: SystemExit: 3"),
    ],
)
def test_a_class_that_cannot_be_made(body: str, words: str, file: Path) -> None:
    file.write_text(f"{BASE}class Mine(Classification):\n{body}")
    with pytest.raises(WorkloadError) as refused:
        find_workload(f"{file}:Mine")
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "more",
    [
        "Mine = Spirals\n",
        "try:\n    from no_such_package import Mine\nexcept ImportError:\n    class Mine(Spirals): pass\n",
        "if torch.__version__:\n    Mine: type = Spirals\nelse:\n    def Mine(): pass\n",
        "import dataclasses\n@dataclasses.dataclass\nclass Mine(Spirals):\n    turns: int = 3\n",
        "class Plain: pass\nclass Mine(Plain, Spirals): pass\n",
        "class Mine(nn.Module if False else Spirals): pass\n",
        "from neighbour import Mine\n",
        "from neighbour import *\n",
    ],
)
def test_a_workload_may_be_defined_imported_or_assigned(more: str, file: Path) -> None:
    file.with_name("neighbour.py").write_text(f"{WHOLE}\nclass Mine(Spirals): pass\n")
    file.write_text(f"{WHOLE}\n{more}{GUARDED}")
    assert isinstance(find_workload(f"{file}:Mine"), Classification)


def test_a_name_that_turns_out_to_be_something_else(file: Path) -> None:
    file.write_text("Mine = dict\n")
    with pytest.raises(WorkloadError, match=r"mine.py:Mine is not a class that extends scalewise.workloads.Workload$"):
        find_workload(f"{file}:Mine")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(WorkloadError, match=r"folder.py is a folder, not a file"):
        find_workload(f"{tmp_path}/folder.py:Mine")


def test_a_file_that_nobody_may_read(file: Path) -> None:
    file.symlink_to("/proc/self/mem")
    with pytest.raises(WorkloadError, match=r"cannot read .*mine.py: "):
        find_workload(f"{file}:Mine")


def test_a_guarded_script_trains(file: Path) -> None:
    file.write_text(f"{WHOLE}\n{GUARDED}")
    run = train(2, f"{file}:Spirals", file.parent / "run", "--set", "stop.steps=2", "--set", "stop.target=null")
    assert run.metadata["stopped_by"] == "steps"


def test_the_outline_of_a_file() -> None:
    blocks = ("with x as y:\n class A(B): pass\n", "while z:\n class C: pass\n", "match q:\n case 1:\n  D = f()\n")
    outline = Outline("".join(blocks))
    assert outline.possible_workloads() == ["A"]
    assert outline.may_have("D") and not outline.may_have("y")
