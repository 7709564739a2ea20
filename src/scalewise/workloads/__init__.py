"""A workload is a data set, a model, a loss and metrics; the built-in ones, and the way to a user's own."""

from scalewise.workloads.base import Classification, Workload
from scalewise.workloads.metric import Metric

__all__ = ["Classification", "Metric", "Workload"]
