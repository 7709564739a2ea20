"""Data sets: what is in them, how they are fetched and how damage is found out."""

import dataclasses
import functools
import gzip
import hashlib
import http.server
import json
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from scalewise.data import fetch
from scalewise.data.cifar import TEST_FILE, TRAIN_FILES, files_from_pictures, parse_cifar
from scalewise.data.images import IMAGE_DATA
from scalewise.data.sources import SOURCES, Source
from scalewise.errors import DataError


@pytest.mark.parametrize("name", list(IMAGE_DATA))
def test_real_data_is_as_described(name: str) -> None:
    data = IMAGE_DATA[name]
    splits = data.load()
    sizes = {"train": data.train_examples, "val": data.val_examples, "test": data.test_examples}
    assert {split: len(examples) for split, examples in splits.items()} == sizes
    for examples in splits.values():
        assert examples.inputs.shape[1:] == data.shape
        assert examples.inputs.dtype == torch.float32 and examples.targets.dtype == torch.int64
        if name == "cifar_10":
            assert examples.inputs.mean().abs() < 0.02 and (examples.inputs.std() - 1).abs() < 0.02
        else:
            assert examples.inputs.min() >= 0 and examples.inputs.max() == 1
        assert examples.targets.unique().tolist() == list(range(data.classes))


def test_digits_are_scikit_learns() -> None:
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = torch.cat([split.inputs for split in IMAGE_DATA["digits"].load().values()]).flatten(1)
    ours = sorted(map(bytes, (images * 16).to(torch.uint8).numpy()))
    assert ours == sorted(map(bytes, digits.data.astype(np.uint8)))


def test_subsets_are_the_first_examples_of_mnist() -> None:
    whole, part = (IMAGE_DATA[name].load() for name in ("mnist", "mnist_subsets/mnist_6875"))
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
        package=SOURCES["mnist"].package,
    )
    server.shutdown()
    server.server_close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCALEWISE_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


def test_fetching_from_a_mirror(mirror: Source, home: Path) -> None:
    assert not mirror.here()
    assert fetch.fetch(mirror, "mirror") == home / "small"
    assert mirror.here()
    assert (home / "small" / "images").read_bytes() == b"images" * 100


def test_fetching_one_archive_from_a_mirror(mirror: Source, home: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "served" / "all.tar.gz", "w:gz") as archive:
        for name in mirror.sha256:
            (tmp_path / name).write_bytes(name.encode() * 100)
            archive.add(tmp_path / name, f"inside/{name}")
    fetch.fetch(dataclasses.replace(mirror, mirror=f"{mirror.mirror}/all.tar.gz"), "mirror")
    assert (home / "small" / "labels").read_bytes() == b"labels" * 100


def test_the_published_files_are_made_of_pictures(tmp_path: Path) -> None:
    """Real CIFAR-10, drawn as the package has it: one image per row of a picture."""
    folder = tmp_path / "package"
    folder.mkdir()
    labels: list[int] = []
    published = {name: SOURCES["cifar_10"].require(name).read_bytes() for name in (*TRAIN_FILES, TEST_FILE)}
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
        fetch.fetch(wrong, "mirror")
    assert not home.exists()  # all files or none


def test_a_machine_without_network_says_what_to_do(mirror: Source, home: Path) -> None:
    nowhere = dataclasses.replace(mirror, mirror="http://127.0.0.1:9")
    with pytest.raises(DataError, match=r"Connection refused.*copy images, labels \(gzipped or not\) into"):
        fetch.fetch(nowhere, "mirror")


def test_the_next_route_is_tried(mirror: Source, home: Path) -> None:
    """The mirror is gone and the package holds other files: both reasons are reported."""
    nowhere = dataclasses.replace(mirror, mirror="http://127.0.0.1:9")
    with pytest.raises(DataError, match=r"mirror: .*; package: "):
        fetch.fetch(nowhere)


def test_the_overview_names_every_place(home: Path) -> None:
    text = fetch.overview()
    assert "digits: here" in text
    assert "mnist: missing" in text
    assert f"looked for in {home / 'mnist'}" in text
    assert "fetch it with 'scalewise data mnist'" in text
