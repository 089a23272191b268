"""Locust with its web page on this machine, and a person who starts load there."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
from playwright.sync_api import Page

from podscale.sweep.children import free_port
from podscale.sweep.locust import locustfile_of, plugin_file
from tests.processes import wait_until


@contextlib.contextmanager
def locust_page(host: str, scenario: str, log: Path, *options: str) -> Iterator[str]:
    """One process of Locust that asks `host`; gives the address of its page, once that is served."""
    port = free_port()
    files = f"{plugin_file()},{locustfile_of(scenario)}"
    command = [sys.executable, "-m", "locust", "-f", files, "--web-host", "127.0.0.1", "--web-port", str(port)]
    with log.open("w") as out:
        locust = subprocess.Popen([*command, "--host", host, *options], stdout=out, stderr=out)
    url = f"http://127.0.0.1:{port}/"
    try:
        wait_until(lambda: _answers(url), 30, "Locust's page")
        yield url
    finally:
        locust.terminate()
        locust.wait(20)


def start(page: Page, rate: float) -> None:
    """Fill Locust's start form with a rate, and start."""
    page.get_by_label("Number of users").fill("1")
    custom = page.get_by_text("Custom parameters")
    if custom.count():
        custom.first.click()
    page.get_by_label("Rate", exact=False).last.fill(f"{rate:g}")
    page.get_by_role("button", name="Start").click()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).status_code == 200
    except httpx.TransportError:
        return False
