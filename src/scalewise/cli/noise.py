"""`scalewise noise`."""

from scalewise.analysis.noise import measure_noise
from scalewise.analysis.noise_table import noise_table, prediction_table
from scalewise.cli.show import show, show_json, show_table
from scalewise.requests import NoiseRequest


def perform(request: NoiseRequest) -> None:
    """Measure the noise scale, and show what it predicts."""
    report = measure_noise(request)
    if request.as_json:
        show_json(report.content())
    else:
        show_table(noise_table(report))
        show_table(prediction_table(report))
        show("the noise scale is a cheap guess at the critical batch size, and often wrong: measure it with a study")
