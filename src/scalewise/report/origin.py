"""Where results come from: versions, hardware and times, as far as a folder recorded them."""

from collections.abc import Mapping, Sequence

from scalewise.report.values import Facts, as_text

_TIMES = {"started": "started", "updated": "ended", "measured": "measured", "git_commit": "commit"}
_UNITS = {"memory_gib": "GiB of memory", "cores": "cores"}


def origin(
    versions: Mapping[str, str], hardware: Mapping[str, str | int], times: Mapping[str, str | None]
) -> dict[str, str]:
    """Return where a result comes from, as far as that was recorded."""
    found = {name: ", ".join(_words(group)) for name, group in (("versions", versions), ("hardware", hardware))}
    found |= {name: (text or "").replace("T", " ") for name, text in times.items()}
    return {name: text for name, text in found.items() if text}


def origin_of(facts: Facts) -> dict[str, str]:
    """Return what metadata say about where they come from."""
    times = {word: facts.text(name) for name, word in _TIMES.items()}
    return origin(facts.part("versions").content, facts.part("hardware").content, times)


def _words(group: Mapping[str, str | int]) -> Sequence[str]:
    texts = {name: as_text(value) for name, value in group.items()}
    return [
        f"{text} {_UNITS[name]}" if name in _UNITS else f"{name.replace('_', ' ')} {text}"
        for name, text in texts.items()
        if text
    ]
