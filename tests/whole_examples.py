"""What every example must bear: the law, a stop in the middle, and each of the commands."""

from collections.abc import Mapping
from pathlib import Path

from mischief import mischief
from processes import Run, group

_COMMANDS = {
    "bench": ("--workers", "1", "--microbatch", "8,16", "--seconds", "0.3"),
    "noise": ("--steps", "8", "--set", "recipe.global_batch=16", "--set", "recipe.microbatch=4"),
    "study": ("--batch-sizes", "16,32", "--trials", "1", "--max-steps", "6", "--jobs", "1"),
    "compare": (
        *("--recipes", "naive", "--epochs", "0.05", "--baseline-batch", "16", "--global-batch", "32"),
        *("--set", "recipe.microbatch=8"),
    ),
    "advise": ("--minutes", "0.1"),
}


def assert_same_bits_on_more_workers_and_after_a_stop(
    alone: Run, workload: str, settings: tuple[str, ...], folder: Path, env: Mapping[str, str] | None = None
) -> None:
    """Train on 2 and on 3 workers, and on 2 that stop and 1 that goes on: all must equal what one worker made."""

    def train(workers: int, out: Path, expect: int = 0, more: Mapping[str, str] | None = None) -> Run:
        given = {**(env or {}), **(more or {})}
        ended = group(workers, "train", workload, "--out", out, *settings, env=given)
        assert ended.exit_code == expect, ended.output
        return Run(out, ended.output)

    together = [train(workers, folder / str(workers)) for workers in (2, 3)]
    train(2, folder / "stopped", expect=4, more=mischief("SIGTERM", folder / "once", rank=1, count=9))
    resumed = train(1, folder / "stopped")
    assert "continues from the checkpoint" in resumed.output
    for run in (*together, resumed):
        assert run.bits == alone.bits
        assert run.rows == alone.rows


def assert_every_command_takes(workload: str, folder: Path, env: Mapping[str, str] | None = None) -> None:
    """Run each command, and a report of what they left."""
    for command, arguments in _COMMANDS.items():
        ended = group(1, command, workload, *arguments, "--out", folder / command, env=env)
        assert ended.exit_code == 0, f"{command}: {ended.output}"
    folders = [folder / command for command in ("bench", "compare", "study", "advise")]
    ended = group(1, "report", *folders, "--out", folder / "report", env=env)
    assert ended.exit_code == 0, ended.output
    page = (folder / "report" / "report.md").read_text()
    assert all(f"# {kind}: " in page for kind in ("Bench", "Comparison", "Study", "Advice")), page
