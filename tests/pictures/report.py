"""Takes pictures of the example's report: on a telephone, a tablet and a desk, light and dark.

    python -m tests.pictures.report

It reads docs/example/result.json and writes docs/pictures/report-*.png, with Debian's Chromium.
"""

import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser

from podscale.report.writer import write
from podscale.sweep.results import load
from tests.browser import chromium
from tests.pictures import PICTURES

EXAMPLE = PICTURES.parent / "example"
# Width and height in pixels: the first screen, and a little of what follows it.
SCREENS = {360: 1120, 768: 1280, 1280: 1040}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def main() -> None:
    """Write the page, open it in each way, and look."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        url = write(load(EXAMPLE), Path(folder))[0].as_uri()
        for width, height in SCREENS.items():
            for scheme in SCHEMES:
                photograph(browser, url, width, height, scheme)


def photograph(browser: Browser, url: str, width: int, height: int, scheme: Literal["light", "dark"]) -> None:
    """One picture of a window of that size."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    try:
        page.goto(url)
        page.screenshot(path=PICTURES / f"report-{width}-{scheme}.png")
    finally:
        page.close()


if __name__ == "__main__":
    main()
