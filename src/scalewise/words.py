"""How numbers, units and counts are written everywhere: in a terminal, a file, a picture and a page."""

import math
import re
from collections.abc import Collection, Sequence

_TIMES = (("ms", 3_600_000.0, 1000), ("s", 3600.0, 60), ("min", 60.0, 60), ("h", 1.0, 72), ("days", 1 / 24, math.inf))
"""Units of time: how many of each an hour has, and the amount from which on the next one is used."""
_SMALLEST_MILLISECONDS = 0.001
_SMALLEST_COST = 0.01
_RUNS = (("", 1.0), ("per thousand runs", 1e3), ("per million runs", 1e6), ("per billion runs", 1e9))
"""The units for the cost of many runs, if one costs almost nothing."""
_MOST_DIGITS = 1e15
"""Beyond it a float has no exact digits left."""


def number(value: float | None) -> str:
    """Write a number by its first four digits, a whole one by all of them.

    >>> number(1234567), number(0.0123456), number(12345.678), number(9999.9), number(None)
    ('1,234,567', '0.01235', '12,346', '10,000', '')
    """
    if value is None or not math.isfinite(value):
        return ""
    if abs(value) >= _MOST_DIGITS:
        return f"{value:.4g}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def counted(count: int, what: str) -> str:
    """Write how many there are of something.

    >>> counted(1, "worker"), counted(2000, "worker")
    ('1 worker', '2,000 workers')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"


def percent(share: float | None, decimals: int = 0) -> str:
    """Write a share.

    >>> percent(0.853), percent(0.0378, decimals=1), percent(None)
    ('85 %', '3.8 %', '')
    """
    return "" if share is None else f"{100 * share:.{decimals}f} %"


def times(ratio: float) -> str:
    """Write how many times as much something is.

    >>> times(22.71)
    '22.7x'
    """
    return f"{ratio:.1f}x"


def duration(hours: float | None) -> str:
    """Write a time in the unit that suits it.

    >>> [duration(hours) for hours in (4.2, 0.5, 0.0004, 0.0001 / 3600, 100.0, 0.9999)]
    ['4.2 h', '30 min', '1.44 s', '0.1 ms', '4.17 days', '1 h']
    >>> duration(1e-12), duration(0.0), duration(60_000.0), duration(None)
    ('less than 0.001 ms', '0 s', '2,500 days', '')
    """
    if hours is None or not math.isfinite(hours):
        return ""
    if hours == 0:
        return "0 s"
    if hours * _TIMES[0][1] < _SMALLEST_MILLISECONDS:
        return f"less than {_SMALLEST_MILLISECONDS} ms"
    unit, per_hour = unit_of_time([hours])
    return f"{_three_digits(hours * per_hour)} {unit}"


def seconds(value: float | None) -> str:
    """Write a time that is known in seconds.

    >>> seconds(0.000891), seconds(36)
    ('0.891 ms', '36 s')
    """
    return duration(None if value is None else value / 3600)


def durations(low: float | None, high: float | None) -> str:
    """Write an interval of times, with one unit where one is enough; one that is too narrow to see is none.

    >>> durations(0.5, 0.75), durations(0.5, 2.0), durations(None, None), durations(0.5, 0.5001)
    ('30 to 45 min', '30 min to 2 h', '', '')
    """
    first, last = duration(low), duration(high)
    if first == last:
        return ""
    amount, _, unit = first.rpartition(" ")
    return interval(amount if unit == last.rpartition(" ")[2] else first, last)


def unit_of_time(hours: Sequence[float]) -> tuple[str, float]:
    """Return a unit that suits the longest of some times, and how many of it an hour has.

    >>> unit_of_time([4.2, 9.8]), unit_of_time([0.0001, 0.0005]), unit_of_time([59.96 / 3600])
    (('h', 1.0), ('s', 3600.0), ('min', 60.0))
    """
    longest = max(hours)
    return next((unit, per) for unit, per, most in _TIMES if float(f"{longest * per:.3g}") < most)


def data_size(count_bytes: int) -> str:
    """Write how large a file or a download is.

    >>> data_size(512), data_size(57_523), data_size(170_052_171), data_size(999_999_999)
    ('512 B', '57.5 kB', '170 MB', '1 GB')
    """
    size = float(count_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if float(f"{size:.3g}") < 1000:
            return f"{_three_digits(size)} {unit}"
        size /= 1000
    return f"{_three_digits(size)} TB"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def money(cost: float | None, currency: str | None = None) -> str:
    """Write a cost; in a column whose head names the currency, without it.

    >>> money(1234.5, "EUR"), money(3.19e-07, "EUR"), money(43.87), money(0.0), money(None)
    ('1,234.50 EUR', 'less than 0.01 EUR', '43.87', '0.00', '')
    """
    if cost is None:
        return ""
    amount = f"less than {_SMALLEST_COST}" if 0 < cost < _SMALLEST_COST else f"{cost:,.2f}"
    return f"{amount} {currency}" if currency else amount


def unit_of_money(costs: Sequence[float], currency: str | None) -> tuple[str, float]:
    """Return a unit that suits the largest of some costs, and how many of it one unit of the currency has.

    >>> unit_of_money([18.6, 149.6], "EUR"), unit_of_money([0.0000004, 0.00002], "EUR"), unit_of_money([0.002], None)
    (('EUR', 1.0), ('EUR per million runs', 1000000.0), ('per thousand runs', 1000.0))
    """
    largest = max(costs)
    many, factor = next((many, factor) for many, factor in _RUNS if largest * factor >= 0.1 or factor == _RUNS[-1][1])
    return " ".join(filter(None, [currency, many])), factor


def interval(low: str, high: str) -> str:
    """Write an interval, maybe with an open end.

    >>> interval("3", "5"), interval("3", ""), interval("", "")
    ('3 to 5', '3 to ?', '')
    """
    return f"{low or '?'} to {high or '?'}" if low or high else ""


def sentence(text: str, names: Collection[str] = ()) -> str:
    """Begin with a capital letter, unless with a name, and end with a stop.

    >>> sentence("every batch size scales perfectly"), sentence("cpu is cheapest", ["cpu"])
    ('Every batch size scales perfectly.', 'cpu is cheapest.')
    """
    text = text.strip()
    is_word = re.match(r"[a-z]+\b(?![/_.])", text) and not text.startswith(tuple(names))
    begun = text[:1].upper() + text[1:] if is_word else text
    return begun if not begun or begun.endswith((".", "!", "?")) else f"{begun}."


def printable(text: str) -> str:
    r"""Return text without characters that a terminal, font or page cannot show, or that control a terminal.

    >>> printable("a\x1b[31mb\nc"), printable("\ud800 é 模型")
    ('a?[31mb c', '? é 模型')
    """
    return "".join(sign if sign.isprintable() else " " if sign.isspace() else "?" for sign in text)
