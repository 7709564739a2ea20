"""Starts the workers of this machine through torch's elastic agent and starts them again when one is lost."""

import logging
import os
import sys
import tempfile
from collections.abc import Callable, Sequence

from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from scalewise.cluster.signals import STOP_SIGNALS
from scalewise.config import Config
from scalewise.errors import ExitCode

# How long workers may take to save a checkpoint after a stop signal before they are killed.
_SHUTDOWN_SECONDS = 600


def launch_local(arguments: Sequence[str], config: Config, say: Callable[[str], None]) -> ExitCode | None:
    """Run `scalewise ARGUMENTS` in every local worker; return how it ended, or None after a stop signal.

    The agent itself restarts on any failure. Here only a lost worker is worth another try: a user's mistake, a
    diverged run and a bug would end the same way again. So the agent runs once per attempt.
    """
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo" if sys.platform == "linux" else "lo0")  # traffic stays inside
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # workers choose for themselves; unset, the agent warns
    logging.getLogger("torch.distributed").setLevel(logging.CRITICAL)  # workers speak for themselves
    for attempt in range(config.cluster.max_restarts + 1):
        exit_code = _run_once(arguments, config.cluster.workers)
        if exit_code != ExitCode.PEER_LOST:
            return exit_code
        if attempt < config.cluster.max_restarts:
            say(f"a worker was lost: restart {attempt + 1} of {config.cluster.max_restarts} from the last checkpoint")
    say("a worker was lost and no restart is left: the same command continues from the last checkpoint")
    return ExitCode.STOPPED


def _run_once(arguments: Sequence[str], workers: int) -> ExitCode | None:
    with tempfile.TemporaryDirectory(prefix="scalewise-agent-") as log_folder:
        launch = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=workers,
            run_id="scalewise",
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",
            local_addr="127.0.0.1",
            max_restarts=0,
            logs_specs=DefaultLogsSpecs(log_dir=log_folder),
            signals_to_handle=",".join(number.name for number in STOP_SIGNALS),
            shutdown_timeout=_SHUTDOWN_SECONDS,
        )
        try:
            elastic_launch(launch, sys.executable)("-m", "scalewise", *arguments)
        except ChildFailedError as error:
            return _how_it_ended([failure.exitcode for failure in error.failures.values()])
        except SignalException:
            return None
    return ExitCode.COMPLETE


def _how_it_ended(exit_codes: Sequence[int]) -> ExitCode:
    """Find the one reason among workers that failed together.

    >>> _how_it_ended([-9, 75]), _how_it_ended([75, 1]), _how_it_ended([3, -15])
    (<ExitCode.PEER_LOST: 75>, <ExitCode.BUG: 1>, <ExitCode.DIVERGED: 3>)
    """
    own_reasons = [code for code in exit_codes if code > 0 and code != ExitCode.PEER_LOST]
    if not own_reasons:
        return ExitCode.PEER_LOST
    return ExitCode(own_reasons[0]) if own_reasons[0] in set(ExitCode) else ExitCode.BUG
