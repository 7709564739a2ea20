"""Numbers as a reader wants them: few digits, with their unit."""

import math
import re
from collections.abc import Collection

from scalewise.charts import HOURS_IN_DAYS


def number(value: float | None) -> str:
    """Write a number by its first four digits, a whole one by all of them.

    >>> number(1234567), number(0.0123456), number(12345.678), number(None)
    ('1,234,567', '0.01235', '12,346', '')
    """
    if value is None or not math.isfinite(value):
        return ""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"


def percent(share: float | None) -> str:
    """Write a share.

    >>> percent(0.853)
    '85 %'
    """
    return "" if share is None else f"{100 * share:.0f} %"


def duration(hours: float | None) -> str:
    """Write a time in the unit that suits it.

    >>> [duration(hours) for hours in (0.0004, 0.5, 7.25, 100.0)]
    ['1.44 s', '30 min', '7.25 h', '4.17 days']
    """
    if hours is None:
        return ""
    if hours >= HOURS_IN_DAYS:
        return f"{hours / 24:.3g} days"
    if hours >= 1:
        return f"{hours:.3g} h"
    return f"{60 * hours:.3g} min" if hours >= 1 / 60 else f"{3600 * hours:.3g} s"


def durations(low: float | None, high: float | None) -> str:
    """Write an interval of times, with one unit where one is enough.

    >>> durations(0.5, 0.75), durations(0.5, 2.0), durations(None, None)
    ('30 to 45 min', '30 min to 2 h', '')
    """
    first, last = duration(low), duration(high)
    (number_of_first, _, unit), same = first.partition(" "), last.partition(" ")[2]
    return interval(number_of_first if unit == same else first, last)


def money(cost: float | None, currency: str) -> str:
    """Write a cost.

    >>> money(1234.5, "EUR"), money(0.01234, "")
    ('1,234.50 EUR', '0.0123')
    """
    if cost is None:
        return ""
    return f"{f'{cost:,.2f}' if cost >= 1 else f'{cost:.3g}'} {currency}".strip()


def interval(low: str, high: str) -> str:
    """Write an interval, maybe with an open end.

    >>> interval("3", "5"), interval("3", ""), interval("", "")
    ('3 to 5', '3 to ?', '')
    """
    return f"{low or '?'} to {high or '?'}" if low or high else ""


def counted(count: int, what: str) -> str:
    """Write how many there are of something.

    >>> counted(1, "worker"), counted(2000, "worker")
    ('1 worker', '2,000 workers')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"


def sentence(text: str, names: Collection[str] = ()) -> str:
    """Begin with a capital letter, unless with a name, and end with a stop.

    >>> sentence("every batch size scales perfectly"), sentence("cpu is cheapest", ["cpu"])
    ('Every batch size scales perfectly.', 'cpu is cheapest.')
    """
    text = text.strip()
    is_word = re.match(r"[a-z]+\b(?![/_.])", text) and not text.startswith(tuple(names))
    begun = text[:1].upper() + text[1:] if is_word else text
    return begun if not begun or begun.endswith((".", "!", "?")) else f"{begun}."
