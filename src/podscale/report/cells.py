"""One value as a table shows it. What is not known is "unknown", never 0 and never blank."""

from podscale.analysis import words

UNKNOWN = "unknown"


def number(value: float | None) -> str:
    """Three significant digits."""
    return UNKNOWN if value is None else words.number(value)


def count(value: int | None) -> str:
    """A whole number, thousands apart."""
    return UNKNOWN if value is None else f"{value:,}"


def milliseconds(seconds: float | None) -> str:
    """A duration in ms, without the unit, which stands in the column's head."""
    return UNKNOWN if seconds is None else words.number(seconds * 1000)


def percent(fraction: float | None, digits: int = 0) -> str:
    """A fraction as a percentage."""
    return UNKNOWN if fraction is None else f"{fraction:.{digits}%}"


def megabytes(size_bytes: int | None) -> str:
    """Memory in MB of 1,000,000 bytes."""
    return UNKNOWN if size_bytes is None else words.number(size_bytes / 1e6)


def plain(key: str, value: object, absent: str = UNKNOWN) -> str:
    """A value of the plan or the environment, whatever its type; `absent` stands for None."""
    if value is None:
        return absent
    if isinstance(value, dict):
        return ", ".join(f"{name} {plain(name, item, absent)}" for name, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(plain(key, item, absent) for item in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        # Ports and seeds are names and not amounts: only bytes are set apart in thousands.
        return f"{value:,}" if key.endswith("_bytes") else f"{value:.6g}" if isinstance(value, float) else str(value)
    return str(value)
