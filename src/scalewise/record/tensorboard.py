"""TensorBoard event files, when they are asked for."""

from collections.abc import Mapping
from pathlib import Path

from scalewise.errors import ConfigError


class EventFiles:
    """Writes scalars for TensorBoard."""

    def __init__(self, folder: Path, first_step: int) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise ConfigError(
                "record.tensorboard=true needs tensorboard: pip install 'scalewise[tensorboard]'"
            ) from None
        # Steps that a crashed sitting wrote after its last checkpoint are hidden and written again.
        self._writer = SummaryWriter(str(folder), purge_step=first_step or None)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Write the values of one step."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Write what is still in memory."""
        self._writer.close()
