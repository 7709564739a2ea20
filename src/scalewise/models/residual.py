"""Zero-initialised residual branches: a deep network whose blocks begin as shortcuts begins as a shallow one."""

from torch import nn

from scalewise.errors import ConfigError


def zero_residual_branches(model: nn.Module) -> None:
    """Set the last normalisation scale of each residual branch to zero.

    A block says which layer that is by naming it `branch_end`.
    """
    ends = [end for module in model.modules() if isinstance(end := getattr(module, "branch_end", None), nn.Module)]
    if not ends:
        raise ConfigError(
            "recipe.zero_init_residual: no block of this network names the last normalisation of a residual branch "
            "'branch_end'; name it so, or set recipe.zero_init_residual=false"
        )
    for end in ends:
        assert isinstance(end.weight, nn.Parameter)
        nn.init.zeros_(end.weight)
