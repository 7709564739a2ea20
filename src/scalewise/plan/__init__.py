"""Clusters and prices; steps and seconds multiplied into time and cost."""
