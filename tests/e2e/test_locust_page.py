"""Locust's own web page in a real browser: a person starts open arrivals by hand."""

import subprocess
import sys
from pathlib import Path

import httpx

from podscale.sweep.children import free_port
from podscale.sweep.locust import locustfile_of, plugin_file
from tests.browser import chromium, visit
from tests.processes import running_pod, wait_until


def test_a_person_starts_open_arrivals_on_locusts_page(tmp_path: Path) -> None:
    """The start form has the rate as a field; started with 20/s, the pod answers about twenty a second."""
    port = free_port()
    with running_pod(tmp_path) as pod, (tmp_path / "locust.log").open("w") as log:
        files = f"{plugin_file()},{locustfile_of('timestamp')}"
        command = [sys.executable, "-m", "locust", "-f", files, "--web-host", "127.0.0.1", "--web-port", str(port)]
        locust = subprocess.Popen([*command, "--host", pod.url], stdout=log, stderr=log)
        page_url = f"http://127.0.0.1:{port}/"
        try:
            wait_until(lambda: _answers(page_url), 30, "Locust's page")
            with chromium() as browser, visit(browser, page_url) as opened:
                page = opened.page
                page.get_by_label("Number of users").fill("1")
                custom = page.get_by_text("Custom parameters")
                if custom.count():
                    custom.first.click()
                page.get_by_label("Rate", exact=False).last.fill("20")
                page.get_by_role("button", name="Start").click()
                wait_until(lambda: pod.metric("http_requests_total") > 0, 20, "the first request")
                before = pod.metric("http_requests_total")
                page.wait_for_timeout(3000)
                in_three_seconds = pod.metric("http_requests_total") - before
                assert 40 <= in_three_seconds <= 80
                page.get_by_role("tab", name="Podscale").click()
                # The only pod and its only process, with all of the requests, live.
                share = page.get_by_text("100.0% of requests")
                share.wait_for()
                shown = share.inner_text()
                wait_until(lambda: share.inner_text() != shown, 10, "a larger number of requests", every_seconds=0.2)
                page.get_by_role("button", name="Stop").click()
        finally:
            locust.terminate()
            locust.wait(20)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).status_code == 200
    except httpx.TransportError:
        return False
