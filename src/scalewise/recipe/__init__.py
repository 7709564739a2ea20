"""What keeps a model good at any batch size: batch arithmetic, schedules, optimizers, normalisation."""
