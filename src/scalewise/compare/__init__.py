"""Recipes side by side: the same workload trained by each of them for the same number of epochs."""
