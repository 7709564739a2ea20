"""Nothing of a run on one machine can be reached from another: its listening sockets are loopback's."""

import ipaddress
import pickle
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mischief import MISCHIEF
from processes import children, finish, start
from scalewise.cluster.handover import _read, handed

_LISTENING = "0A"


def listening_addresses(pid: int) -> set[str]:
    """Return the addresses on which a process, or any that it has started, listens for TCP."""
    pids = list(family(pid))
    inodes = {inode for each in pids for inode in socket_inodes(each)}
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    return {address(line[1]) for line in lines if line[3] == _LISTENING and line[9] in inodes}


def family(pid: int) -> Iterator[int]:
    yield pid
    for child in children(pid):
        yield from family(child)


def socket_inodes(pid: int) -> Iterator[str]:
    try:
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
    except (FileNotFoundError, PermissionError):
        return
    for descriptor in descriptors:
        try:
            target = str(descriptor.readlink())
        except FileNotFoundError:
            continue
        if target.startswith("socket:["):
            yield target[len("socket:[") : -1]


def address(text: str) -> str:
    """Read an address as the kernel writes it: words of four bytes, the last byte first."""
    words = bytes.fromhex(text.partition(":")[0])
    straight = b"".join(words[start : start + 4][::-1] for start in range(0, len(words), 4))
    return str(ipaddress.ip_address(straight))


def test_addresses_are_read_as_the_kernel_writes_them() -> None:
    assert address("0100007F:1F90") == "127.0.0.1"
    assert address("00000000:1F90") == "0.0.0.0"
    assert address("00000000000000000000000001000000:1F90") == "::1"


@pytest.mark.parametrize(
    "command",
    [
        ("train", MISCHIEF, "--workers", "2", "--set", "stop.steps=800"),
        ("bench", "digits/fc_64", "--workers", "2", "--seconds", "2"),
        (
            *("study", "digits/fc_64", "--batch-sizes", "64", "--trials", "4", "--jobs", "2"),
            *("--max-epochs", "2", "--target", "val/classification_error<0.2"),
        ),
        ("advise", "digits/fc_64", "--minutes", "0.4"),
    ],
    ids=lambda command: command[0],
)
def test_every_listening_socket_is_on_loopback(command: tuple[str, ...], tmp_path: Path) -> None:
    process = start(*command, "--out", tmp_path / "out")
    found: set[str] = set()
    while process.poll() is None:
        found |= listening_addresses(process.pid)
        time.sleep(0.02)
    ended = finish(process)
    assert ended.exit_code == 0, ended.output
    assert all(ipaddress.ip_address(one).is_loopback for one in found), found
    if command[0] in ("train", "bench"):
        assert found, "workers talk to each other, and this test has not seen it"


def test_only_what_is_handed_over_by_a_private_file_is_unpickled() -> None:
    source = Path(__file__).parent.parent / "src" / "scalewise"
    users = [file for file in source.rglob("*.py") if "import cloudpickle" in file.read_text()]
    assert users == [source / "cluster" / "handover.py"]


def test_a_folder_that_others_can_write_hands_nothing_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALEWISE_HANDOVER", str(tmp_path))
    (tmp_path / "facts.json").write_text('{"name": "python:Mine", "path": []}')
    (tmp_path / "object.pickle").write_bytes(pickle.dumps("a workload"))
    tmp_path.chmod(0o700)
    assert handed("python:Other") is None
    assert handed("python:Mine") == "a workload"
    tmp_path.chmod(0o770)
    _read.cache_clear()
    assert handed("python:Mine") is None


def test_nothing_in_the_package_unpickles() -> None:
    source = Path(__file__).parent.parent / "src" / "scalewise"
    forbidden = ("import pickle", "broadcast_object_list", "gather_object", "TCPStore", "torch.load(")
    used = [(file.name, word) for file in source.rglob("*.py") for word in forbidden if word in file.read_text()]
    assert not used
