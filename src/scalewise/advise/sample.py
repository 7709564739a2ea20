"""Clusters to plan for when a user names none: this machine, and rented nodes like it, at a made-up price."""

from pathlib import Path

from scalewise.storage import write_result

_SAMPLE = """\
# Examples, with made-up prices. Give your own with --clusters.
clusters:
  - {{name: {machine}, workers_per_node: 1, price_per_hour: 0.05, currency: EUR}}
{all_cores}  - name: rented nodes like it
    nodes: 2..16
    workers_per_node: {cores}
    price_per_hour: {rent:.2f}
    currency: EUR
    speed: {machine}
    link: {{latency_seconds: 5.0e-5, gigabits_per_second: 10}}
"""
_ALL_CORES = "  - {{name: {machine}, workers_per_node: {cores}, price_per_hour: {price:.2f}, currency: EUR}}\n"
_PRICE_PER_CORE = 0.05


def write_sample_clusters(file: Path, machine: str, cores: int) -> Path:
    """Write the clusters file, and return it."""
    price = _PRICE_PER_CORE * cores
    all_cores = _ALL_CORES.format(machine=machine, cores=cores, price=price) if cores > 1 else ""
    content = _SAMPLE.format(machine=machine, cores=cores, rent=2 * price, all_cores=all_cores)
    write_result(file, content.encode())
    return file
