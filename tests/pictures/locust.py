"""Takes a picture of Locust's page while it asks two pods of two processes: the share of each.

    python -m tests.pictures.locust

It writes docs/pictures/locust-shares.png, with Debian's Chromium.
"""

import tempfile
from pathlib import Path

from podscale.sweep.local import LocalTarget
from podscale.sweep.results import Budget
from tests.browser import chromium, visit
from tests.locust_page import locust_page, start
from tests.pictures import PICTURES

RATE_PER_SECOND = 20
LOAD_SECONDS = 15
TWO_BY_TWO = Budget(pods=2, processes_per_pod=2, cpu_cores_per_pod=2, limited=False)


def main() -> None:
    """Start all, wait, and look."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        target = LocalTarget(Path(folder), one_core_each=False)
        try:
            target.arrange(TWO_BY_TWO)
            photograph(target.url, Path(folder) / "locust.log")
        finally:
            target.close()


def photograph(url: str, log: Path) -> None:
    """Load for some seconds, and the tab that shows it."""
    options = ("--cpu-time-ms=20", "--connections=new")
    with (
        locust_page(url, "blocking", log, *options) as page_url,
        chromium() as browser,
        visit(browser, page_url, width=1100, height=860) as opened,
    ):
        page = opened.page
        start(page, RATE_PER_SECOND)
        page.get_by_role("tab", name="Podscale").click()
        page.wait_for_timeout(1000 * LOAD_SECONDS)
        page.screenshot(path=PICTURES / "locust-shares.png", full_page=True)
        page.get_by_role("button", name="Stop").click()


if __name__ == "__main__":
    main()
