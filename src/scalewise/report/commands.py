"""Commands that repeat a result, ready to be copied."""

import shlex
from collections.abc import Sequence


def command(*words: object, **options: object) -> str:
    """Return a command; options that are None are left out, those that are lists are repeated.

    >>> command("train", "digits/fc_64", workers=2, target="val/error<0.1", set=["a=1", "b=2"], out=None)
    "scalewise train digits/fc_64 --workers 2 --target 'val/error<0.1' --set a=1 --set b=2"
    """
    found = ["scalewise", *map(str, words)]
    for name, value in options.items():
        values: Sequence[object] = value if isinstance(value, list) else [value]
        for one in values:
            if one is not None:
                found += [f"--{name.replace('_', '-')}", _plain(one)]
    return shlex.join(found)


def _plain(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
