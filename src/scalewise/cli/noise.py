"""`scalewise noise`."""

from scalewise.cli.show import show, show_json, show_tables
from scalewise.noise.noise import measure_noise
from scalewise.noise.noise_tables import noise_table, predicted_steps_table
from scalewise.requests import NoiseRequest


def perform(request: NoiseRequest) -> None:
    """Measure the noise scale, and show what it predicts."""
    report = measure_noise(request)
    if request.as_json:
        show_json(report.content())
    else:
        show_tables(noise_table(report), predicted_steps_table(report))
        show("the noise scale is only a rough estimate of the critical batch size and often wrong: a study measures it")
