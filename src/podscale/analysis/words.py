"""Figures as people read them: three digits, a unit, thousands apart. For sentences, tables and charts alike."""

import math
from collections.abc import Sequence


def number(value: float) -> str:
    """Three significant digits, never in exponents: 0.0277, 19.6, 4,310, 1,234,567."""
    if not math.isfinite(value):
        return "without end" if value > 0 else "not a number"
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits > 0 else text


def milliseconds(seconds: float) -> str:
    """A duration in milliseconds: 212 ms, 4,310 ms, 0.42 ms."""
    return f"{number(seconds * 1000)} ms"


def per_second(rate: float) -> str:
    """A request rate: 28 requests/s."""
    return f"{number(rate)} requests/s"


def pods(count: int) -> str:
    """1 pod, 2 pods."""
    return f"{count:,} pod{'' if count == 1 else 's'}"


def listed(items: Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))
