"""TensorBoard event files, when they are asked for."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path

from scalewise.errors import ConfigError


def check_installed() -> None:
    """Raise an exception if the package is missing."""
    if importlib.util.find_spec("tensorboard") is None:
        raise ConfigError("record.tensorboard=true needs tensorboard: pip install 'scalewise[tensorboard]'")


class EventFiles:
    """Writes scalars for TensorBoard."""

    def __init__(self, folder: Path, first_step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        # Steps that a crashed run wrote after its last checkpoint are hidden and written again.
        self._writer = SummaryWriter(str(folder), purge_step=first_step or None)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Write the values of one step."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Flush what is still in memory."""
        self._writer.close()
