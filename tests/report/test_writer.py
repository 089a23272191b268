"""The folder that a sweep leaves behind."""

import struct
from pathlib import Path

import pytest

from podscale.report.writer import write
from tests.report import samples


def png_size(path: Path) -> tuple[int, int]:
    """Width and height in pixels, from the header of the file."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:24])
    return width, height


@pytest.mark.parametrize("name", samples.ALL)
def test_any_result_is_written(tmp_path: Path, name: str) -> None:
    """Page and pictures, whatever the sweep measured; the folder is made if it is not there."""
    folder = tmp_path / "results" / "new"
    written = write(samples.ALL[name](), folder)
    assert [path.name for path in written] == [
        "report.html",
        "scaling.png",
        "scaling.svg",
        "latency.png",
        "latency.svg",
    ]
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in written)
    for picture in ("scaling", "latency"):
        width, height = png_size(folder / f"{picture}.png")
        assert 1500 <= width <= 2200  # twice the 960 points of a wide chart, more or less its legend
        assert 350 <= height <= 2000
        assert (folder / f"{picture}.svg").read_text().startswith("<svg ")


def test_writing_twice_gives_the_same(tmp_path: Path) -> None:
    """A report made again from the same result is the same, byte for byte."""
    first = {path.name: path.read_bytes() for path in write(samples.mixed(), tmp_path)}
    second = {path.name: path.read_bytes() for path in write(samples.mixed(), tmp_path)}
    assert first == second
