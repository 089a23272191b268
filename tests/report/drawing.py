"""Reads what a drawn chart says."""

import xml.etree.ElementTree as ET
from typing import Any

from podscale.report import style


def texts(specification: dict[str, Any]) -> list[str]:
    """All texts of the drawn chart."""
    root = ET.fromstring(style.svg(specification))  # our own drawing
    return ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]


def tooltips(specification: dict[str, Any]) -> list[str]:
    """What the marks say when pointed at."""
    root = ET.fromstring(style.svg(specification))  # our own drawing
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")]
