"""The registry: whatever is listed is found, by its own name, with the target that the list shows."""

import dataclasses
from pathlib import Path

import pytest

import scalewise.data.images
from scalewise.data.images.digits import DIGITS
from scalewise.data.images.mnist import MNIST
from scalewise.models.fully_connected import FULLY_CONNECTED
from scalewise.models.plain_cnn import PLAIN_CNN
from scalewise.workloads.catalogue import data_sets, sources, workloads
from scalewise.workloads.family import ListedWorkload
from scalewise.workloads.find import find_workload
from scalewise.workloads.images import Default, Images, Pair

LISTED = [one for one in workloads() if one.package is None]


@pytest.mark.parametrize("listed", LISTED, ids=lambda listed: listed.name)
def test_what_is_listed_is_found(listed: ListedWorkload) -> None:
    workload = find_workload(listed.name.replace("<widths>", "8_4"))
    assert workload.defaults["stop"]["target"] == listed.target
    assert sum(weights.numel() for weights in workload.model().parameters()) > 0


def test_names_are_unique() -> None:
    names = [one.name for one in LISTED]
    assert len(set(names)) == len(names)
    assert len({data.name for data in data_sets()}) == len(data_sets())


def test_every_data_set_is_in_the_registry() -> None:
    """A file in the folder of data sets whose data set nobody lists would be forgotten."""
    folder = Path(scalewise.data.images.__file__).parent
    files = {file.stem for file in folder.glob("*.py")} - {"__init__", "image_data", "idx"}
    assert files <= {source.name for source in sources().values()}


def test_a_data_set_and_a_network_are_one_line() -> None:
    mine = dataclasses.replace(DIGITS, name="mine")
    family = Images([Pair(mine, FULLY_CONNECTED, Default(0.5, 16, 0.1, 2))])
    assert family.workloads() == [ListedWorkload("mine/fc_<widths>", target="val/classification_error<0.5")]
    assert [data.name for data in family.data_sets()] == ["mine"]
    found = family.find("mine/fc_32")
    assert found is not None and found.defaults["recipe"] == {"global_batch": 16, "learning_rate": 0.1}
    assert family.find("mine/plain_cnn") is None and family.find("digits/fc_32") is None


def test_a_network_is_never_given_images_that_it_does_not_take() -> None:
    with pytest.raises(AssertionError, match=r"mnist/plain_cnn.*\(1, 28, 28\)"):
        Pair(MNIST, PLAIN_CNN, Default(0.1, 128, 0.1, 1))
