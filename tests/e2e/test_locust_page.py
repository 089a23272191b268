"""Locust's own web page in a real browser: a person starts open arrivals by hand."""

from pathlib import Path

from tests.browser import chromium, visit
from tests.locust_page import locust_page, start
from tests.processes import running_pod, wait_until


def test_a_person_starts_open_arrivals_on_locusts_page(tmp_path: Path) -> None:
    """The start form has the rate as a field; started with 20/s, the pod answers about twenty a second."""
    with (
        running_pod(tmp_path) as pod,
        locust_page(pod.url, "timestamp", tmp_path / "locust.log") as page_url,
        chromium() as browser,
        visit(browser, page_url) as opened,
    ):
        page = opened.page
        start(page, rate=20)
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
