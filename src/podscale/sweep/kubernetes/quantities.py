"""Kubernetes' quantities as plain numbers: "250m" is 0.25 cores, "64Mi" is 67108864 bytes."""


def quantity(text: str | float | None) -> float | None:
    """None where there is none, or where it cannot be read."""
    from kubernetes.utils import parse_quantity  # noqa: PLC0415

    if text is None:
        return None
    try:
        return float(parse_quantity(text))
    except ValueError:
        return None
