"""Where results come from: versions, hardware and times, as far as a folder recorded them."""

from collections.abc import Mapping, Sequence

from scalewise.record.results.run import RunMetadata
from scalewise.report.values import as_text

_UNITS = {"memory_gib": "GiB of memory", "cores": "cores"}


def origin_of_run(run: RunMetadata | None) -> dict[str, str]:
    """Return where a run comes from."""
    if run is None:
        return {}
    times = {"started": run.started, "ended": run.updated, "commit": run.git_commit}
    return origin(run.versions, run.hardware, times)


def origin(
    versions: Mapping[str, str], hardware: Mapping[str, str | int], times: Mapping[str, str | None]
) -> dict[str, str]:
    """Return where a result comes from, as far as that was recorded."""
    found = {name: ", ".join(_words(group)) for name, group in (("versions", versions), ("hardware", hardware))}
    found |= {name: (text or "").replace("T", " ") for name, text in times.items()}
    return {name: text for name, text in found.items() if text}


def _words(group: Mapping[str, str | int]) -> Sequence[str]:
    texts = {name: as_text(value) for name, value in group.items()}
    return [
        f"{text} {_UNITS[name]}" if name in _UNITS else f"{name.replace('_', ' ')} {text}"
        for name, text in texts.items()
        if text
    ]
