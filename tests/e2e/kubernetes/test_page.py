"""Locust's web page in the cluster, in a real browser, as a person has it after `kubectl port-forward`."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from podscale.contract import WORKERS_PATH
from tests.browser import chromium, visit
from tests.e2e.kubernetes.release import Release
from tests.locust_page import start
from tests.processes import wait_until

# A pod with far too much to do does not mind.
pytestmark = pytest.mark.usefixtures("overload")
PORT = 8089
PAGE = f"http://127.0.0.1:{PORT}/"
LOGIN = ("locust.login.enabled=true", "locust.login.username=ann", "locust.login.password=correct-horse")


def test_a_person_runs_load_from_the_page(release: Release, tmp_path: Path) -> None:
    """Started with a rate, requests are counted; stopped, report and table can be downloaded and name them."""
    release.install()
    with forwarded(release), browser_in(release, tmp_path) as browser, visit(browser, PAGE) as opened:
        page = opened.page
        start(page, rate=20)
        wait_until(lambda: requests_shown(page) >= 60, 20, "60 requests on the page", every_seconds=0.5)
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("tab", name="Download Data").click()
        with page.context.expect_page() as report:
            page.get_by_role("link", name="Download Report").click()
        report.value.wait_for_load_state()
        assert "/blocking" in report.value.content()
        assert not opened.problems
        with page.expect_download() as table:
            page.get_by_role("link", name="Download requests CSV").click()
        assert "/blocking" in table.value.path().read_text()


def test_a_wrong_password_is_refused(release: Release, tmp_path: Path) -> None:
    """With the login on, neither the page nor the stage routes answer a stranger, and the right password opens them."""
    release.install(*LOGIN)
    with forwarded(release), browser_in(release, tmp_path) as browser, visit(browser, PAGE) as opened:
        page = opened.page
        asked = f"fetch('{WORKERS_PATH}', {{redirect: 'manual'}}).then(answer => answer.type)"
        assert page.evaluate(asked) == "opaqueredirect"
        log_in(page, "wrong")
        page.get_by_text("Wrong name or password").wait_for()
        assert not page.get_by_role("button", name="Start").is_visible()
        log_in(page, "correct-horse")
        page.get_by_role("button", name="Start").wait_for()


@contextlib.contextmanager
def forwarded(release: Release) -> Iterator[None]:
    """`kubectl port-forward` to the page, as NOTES say, in the network of node 1."""
    command = [
        "kubectl",
        f"--namespace={release.namespace}",
        "port-forward",
        f"service/{release.deployment}-locust",
        f"{PORT}",
    ]
    forward = subprocess.Popen(
        release.cluster.command(*command), env=release.cluster.environment(), stdout=subprocess.PIPE, text=True
    )
    try:
        assert forward.stdout is not None
        assert "Forwarding from 127.0.0.1" in forward.stdout.readline()
        yield
    finally:
        forward.terminate()
        forward.communicate(timeout=10)


@contextlib.contextmanager
def browser_in(release: Release, folder: Path) -> Iterator[Browser]:
    """Chromium, started where the port is forwarded to."""
    with chromium(release.cluster.command(), folder) as browser:
        yield browser


def requests_shown(page: Page) -> int:
    """The number of requests in the last line of the page's table."""
    cells = page.get_by_role("row").last.get_by_role("cell").all_inner_texts()
    return int(cells[2]) if len(cells) > 2 and cells[2].isdecimal() else 0


def log_in(page: Page, password: str) -> None:
    """Fill in the login form."""
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Login").click()
