"""What a recipe says, as arithmetic: batch, scaling, warmup and schedules; no torch."""
