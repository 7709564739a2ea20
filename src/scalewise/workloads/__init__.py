"""A workload is a data set, a model, a loss and metrics; the built-in ones, and the door for a user's own."""

from scalewise.workloads.base import Classification, Workload

__all__ = ["Classification", "Workload"]
