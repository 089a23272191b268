"""A real Chromium without a window, for tests that open pages."""

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.processes import give_up

CHROMIUM = Path("/usr/bin/chromium")
# As root in a container there is no sandbox; the rest keeps Chromium from calling home.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@dataclass
class Visit:
    """An open page, and all that went wrong or was asked of the network while it was open."""

    page: Page
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def overflow_pixels(self) -> int:
        """How far the page is wider than its window: 0 unless it scrolls sideways."""
        wider: int = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        return max(0, wider)

    def barriers(self) -> list[str]:
        """What axe finds of serious or critical impact: it stops those who cannot see well, or do not point."""
        found = Axe().run(self.page).response["violations"]
        return [
            f"{rule['id']}: {node['html'][:200]} {node.get('failureSummary', '')}"
            for rule in found
            if rule["impact"] in {"serious", "critical"}
            for node in rule["nodes"]
        ]


@contextlib.contextmanager
def chromium(before: Sequence[str] = (), folder: Path | None = None) -> Iterator[Browser]:
    """Start Chromium and end it; without it the test is skipped, or fails where CI is true.

    `before` is what its command begins with where it has to start in another network; `folder` takes a script then.
    """
    if not CHROMIUM.exists():
        give_up(f"there is no {CHROMIUM}; install Debian's package chromium")
    program = CHROMIUM
    if before and folder is not None:
        program = folder / "chromium"
        program.write_text(f'#!/bin/sh\nexec {shlex.join(before)} {CHROMIUM} "$@"\n')
        program.chmod(0o755)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def visit(browser: Browser, url: str, width: int = 1280, height: int = 900) -> Iterator[Visit]:
    """Open `url` in a window of its own, and note console messages, script errors, and requests."""
    page = browser.new_page(viewport={"width": width, "height": height})
    opened = Visit(page)
    page.on("console", lambda message: opened.problems.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: opened.problems.append(f"script: {error}"))
    page.on("requestfailed", lambda request: opened.problems.append(f"failed: {request.url}"))
    page.on("request", lambda request: opened.requests.append(request.url))
    try:
        page.goto(url)
        yield opened
    finally:
        page.close()
