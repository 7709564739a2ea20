"""Makes every random draw inside a microbatch, such as dropout, a pure function of (seed, step, microbatch)."""

import torch

from scalewise.seeds import Purpose, derive


def seed_microbatch(seed: int, step: int, microbatch: int, device: torch.device) -> None:
    """Seed the random numbers that the network draws."""
    seed_generators(derive(seed, Purpose.MICROBATCH, step, microbatch), device)


def seed_generators(seed: int, device: torch.device) -> None:
    """Seed the generators that draw on this device; `torch.manual_seed` asks every backend there is, and is slow."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)
