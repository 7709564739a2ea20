"""The docs are true: links lead somewhere, named commands and settings exist, examples run."""

import itertools
import re
import runpy
import shlex
from pathlib import Path

import pytest
import yaml

from processes import ROOT, train
from scalewise.cli.app import NAMES
from scalewise.config import Config
from scalewise.plan.clusters import read_clusters

PAGES = sorted(page for page in ROOT.rglob("*.md") if not {".venv", "runs"} & set(page.relative_to(ROOT).parts))
LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)?(?:#([^)\s]+))?\)")
CODE_BLOCK = re.compile(r"```(?:bash|sh|console)?\n(.*?)```", re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors that a page's headings make."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text()):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{page.name} links to {target}, which does not exist"
        if anchor:
            assert anchor in anchors(file), f"{page.name} links to #{anchor}, which {file.name} has not"


def commands() -> list[tuple[str, str]]:
    """Return every `scalewise` and `make` command in the pages' code blocks."""
    lines = [
        (page.name, line.partition("  #")[0].strip())
        for page in PAGES
        for block in CODE_BLOCK.findall(page.read_text())
        for line in block.splitlines()
    ]
    return [(page, line) for page, line in lines if line.startswith(("scalewise ", "make "))]


def test_named_commands_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    found = commands()
    assert found
    for page, line in found:
        program, command, *arguments = shlex.split(line)
        if program == "make":
            assert command in targets, f"{page}: {line}"
            continue
        assert command in NAMES, line
        for override in (value for name, value in itertools.pairwise(arguments) if name == "--set"):
            assert_setting_exists(override.partition("=")[0], f"{page}: {line}")


def assert_setting_exists(path: str, where: str) -> None:
    section, _, key = path.partition(".")
    assert section in Config.model_fields, where
    assert key in getattr(Config.model_fields[section].annotation, "model_fields", {}), where


def test_the_table_of_settings_is_the_schema() -> None:
    """`docs/settings.md` is written from the schema: `python docs/make_settings.py`."""
    written = runpy.run_path(str(ROOT / "docs" / "make_settings.py"))["page"]()
    assert (ROOT / "docs" / "settings.md").read_text() == written


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda file: file.name)
def test_example_recipes_and_clusters_are_valid(file: Path) -> None:
    if file.stem.endswith("clusters"):
        assert read_clusters(file)
    else:
        Config.model_validate({"workload": "digits/fc_64_64", **yaml.safe_load(file.read_text())})


def test_the_example_workload_reaches_its_target(tmp_path: Path) -> None:
    run = train(2, "examples/spirals.py:Spirals", tmp_path / "run")
    assert run.metadata["stopped_by"] == "target"
