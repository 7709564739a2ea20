"""Where results come from: versions, hardware and times, as far as a folder recorded them."""

from collections.abc import Sequence

from scalewise.report.values import Facts

_TIMES = {"started": "started", "updated": "ended", "measured": "measured", "git_commit": "commit"}


def origin_of(facts: Facts) -> dict[str, str]:
    """Return what metadata say about where they come from."""
    groups = {"versions": facts.part("versions"), "hardware": facts.part("hardware")}
    found = {name: ", ".join(_words(group)) for name, group in groups.items()}
    found |= {word: facts.text(name).replace("T", " ") for name, word in _TIMES.items()}
    return {name: text for name, text in found.items() if text}


def _words(group: Facts) -> Sequence[str]:
    units = {"memory gib": "GiB of memory", "cores": "cores"}
    return [f"{text} {units[name]}" if name in units else f"{name} {text}" for name, text in group.shown().items()]
