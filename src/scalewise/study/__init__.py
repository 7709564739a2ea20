"""Measures how many steps a workload needs at each batch size, with settings tuned for each."""
