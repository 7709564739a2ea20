"""Workloads that an installed package brings along: a real package that pip builds and installs, the real command."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from processes import ROOT, Finished, Run, scalewise
from scalewise.errors import WorkloadError
from scalewise.workloads.catalogue import workloads
from scalewise.workloads.find import find_workload
from scalewise.workloads.images import ImageClassification

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "toy-workloads"
version = "1.2"

[tool.setuptools]
py-modules = ["toy_workloads"]

[project.entry-points."scalewise.workloads"]
"toy/spirals" = "toy_workloads:Spirals"
"toy/wide_spirals" = "toy_workloads:wide"
"toy/gone" = "toy_workloads:Gone"
"toy/elsewhere" = "no_such_package:Spirals"
"toy/number" = "toy_workloads:NUMBER"
"toy/network" = "toy_workloads:nn.Linear"
"toy/nothing" = "toy_workloads:nothing"
"toy/picky" = "toy_workloads:Picky"
"digits/fc_64" = "toy_workloads:Spirals"
"digits/spiral_net" = "toy_workloads:Spirals"
"spirals" = "toy_workloads:Spirals"
"""
MODULE = """
import os, pathlib
if "TOY_IMPORTED" in os.environ:
    pathlib.Path(os.environ["TOY_IMPORTED"]).touch()
NUMBER = 5
def wide():
    workload = Spirals()
    workload.model = lambda: nn.Sequential(nn.Linear(2, 256), nn.ReLU(), nn.Linear(256, 2))
    return workload
def nothing(): pass
class Picky(Spirals):
    def __init__(self, size): pass
"""
SHORT = ("--set", "recipe.microbatch=16", "--set", "stop.steps=20", "--set", "stop.target=null", "--exact")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    (source / "pyproject.toml").write_text(PROJECT)
    (source / "toy_workloads.py").write_text((ROOT / "examples" / "spirals.py").read_text() + MODULE)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", str(folder)]
    subprocess.run([*pip, "--no-deps", "--no-index", "--no-build-isolation", str(source)], check=True)
    return folder


def on_path(folder: Path) -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}


def command(folder: Path, *arguments: object, env: Mapping[str, str] | None = None) -> Finished:
    return scalewise(*arguments, env={**on_path(folder), **(env or {})})


@pytest.fixture
def here(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package as something that this process can import."""
    monkeypatch.syspath_prepend(installed)
    return installed


@pytest.mark.parametrize("name", ["toy/spirals", "toy/wide_spirals"])
def test_a_packages_workload_trains_on_any_number_of_workers(name: str, installed: Path, tmp_path: Path) -> None:
    runs = []
    for workers in (1, 2):
        out = tmp_path / str(workers)
        ended = command(installed, "train", name, "--workers", workers, "--out", out, *SHORT)
        assert ended.exit_code == 0, ended.output
        runs.append(Run(out))
    assert runs[0].bits == runs[1].bits
    assert runs[1].metadata["workers"] == 2 and runs[1].metadata["workload"] == name


def test_the_list_names_the_package_without_importing_it(installed: Path, tmp_path: Path) -> None:
    listed = command(installed, "workloads", env={"TOY_IMPORTED": str(tmp_path / "imported")}).output
    assert re.search(r"^toy/spirals +toy-workloads 1\.2 *$", listed, re.MULTILINE)
    assert re.search(r"^digits/fc_64 +toy-workloads 1\.2 +the built-in workload is used *$", listed, re.MULTILINE)
    assert re.search(r"^spirals +toy-workloads 1\.2 +its name is not like data_set/model *$", listed, re.MULTILINE)
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("toy/gone", "the package toy-workloads 1.2 does not import: AttributeError"),
        ("toy/elsewhere", "does not import: ModuleNotFoundError: No module named 'no_such_package'"),
        ("toy/number", "is neither a class that extends scalewise.workloads.Workload nor a function that returns one"),
        ("toy/network", "is neither a class that extends scalewise.workloads.Workload nor a function that returns one"),
        ("toy/nothing", "gives NoneType, not a scalewise.workloads.Workload"),
        ("toy/picky", "needs size, but a workload is made without arguments"),
        ("toy/spiral", "unknown workload 'toy/spiral': no model is named 'spiral'; did you mean 'spirals'?"),
        ("toys/spirals", "no data set is named 'toys'; did you mean 'toy'?"),
        ("spirals", "no data set is named 'spirals'"),
    ],
)
def test_a_broken_one_is_one_sentence(name: str, words: str, here: Path) -> None:
    with pytest.raises(WorkloadError) as refused:
        find_workload(name)
    assert words in str(refused.value) and "\n" not in str(refused.value)
    if not words.startswith(("unknown", "no data set")):
        assert f"'{name} = " in str(refused.value) and "the package toy-workloads 1.2" in str(refused.value)


def test_the_command_says_it_in_one_sentence(installed: Path, tmp_path: Path) -> None:
    ended = command(installed, "train", "toy/elsewhere", "--workers", 2, "--out", tmp_path / "run")
    assert (ended.exit_code, ended.output.count("\n")) == (2, 1), ended.output


def test_a_built_in_workload_keeps_its_name(here: Path) -> None:
    assert isinstance(find_workload("digits/fc_64"), ImageClassification)
    assert not isinstance(find_workload("digits/spiral_net"), ImageClassification)


def test_two_packages_with_the_same_name(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = tmp_path / "other-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 0.1\n")
    (metadata / "entry_points.txt").write_text("[scalewise.workloads]\ntoy/spirals = other:Spirals\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(WorkloadError, match=r"packages other 0.1 and toy-workloads 1.2 both bring .*: uninstall one"):
        find_workload("toy/spirals")
    listed = [(one.package, one.unusable) for one in workloads() if one.name == "toy/spirals"]
    reason = "another package has this name, too"
    assert listed == [("other 0.1", reason), ("toy-workloads 1.2", reason)]
