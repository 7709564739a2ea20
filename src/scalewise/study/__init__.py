"""Measures how many steps a workload needs at each batch size, when each has well-tuned settings of its own."""
