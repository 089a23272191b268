"""The stage protocol and Locust's own page, over HTTP."""

import time
from typing import Any

import httpx
import pytest

from podscale.contract import STAGE_PATH
from tests.load.locusts import Locusts, TinyServer

BAD: list[tuple[Any, str]] = [
    (None, "JSON object"),
    ([], "JSON object"),
    ({"model": "half-open"}, "model is 'half-open'"),
    ({"rate_per_second": -5}, "rate_per_second is -5"),
    ({"rate_per_second": 0}, "rate_per_second is 0"),
    ({"connections": "some"}, "connections is 'some'"),
    ({"scenario": "Nobody"}, "scenario is 'Nobody'; it must be one of Delay, Failing"),
    ({"options": {"colour": 1}}, "options.colour: the locustfile has no such argument"),
    ({"pace": 1}, "pace: no such field"),
]


@pytest.mark.parametrize(("changes", "line"), BAD)
def test_a_bad_order_is_refused(locusts: Locusts, changes: Any, line: str) -> None:
    """400 and one line that names the field and its value."""
    answer = locusts.post(locusts.order() | changes if isinstance(changes, dict) else changes)
    assert answer.status_code == 400
    assert line in answer.text
    assert answer.text.count("\n") == 1
    assert len(answer.text) < 400


def test_a_body_that_is_no_json_is_refused(locusts: Locusts) -> None:
    """The same for bytes that nobody can read."""
    answer = httpx.post(locusts.url + STAGE_PATH, content=b"{\xff", timeout=5)
    assert answer.status_code == 400
    assert "JSON object" in answer.text


def test_the_page_has_the_fields_and_the_tab(locusts: Locusts) -> None:
    """Locust's own page is served, its start form has our fields, and the stage has a tab."""
    page = httpx.get(f"{locusts.url}/", timeout=5)
    assert page.status_code == 200
    assert '"rate": {' in page.text
    assert "Arrival rate, requests per second over all workers" in page.text
    assert '"connections": {' in page.text
    assert '"in_flight_cap"' not in page.text.split('"extra_options"')[1].split("hide_common_options")[0]
    assert '"extended_tabs": [{"key": "podscale", "title": "Podscale"}]' in page.text
    assert '"locustfile": "locustfile.py"' in page.text


def test_a_person_starts_and_stops_arrivals_on_the_page(locusts: Locusts, server: TinyServer) -> None:
    """Users and Rate in the form start open arrivals at once, while the form's users idle; Stop ends them."""
    form = {"user_count": 40, "spawn_rate": 1, "host": server.url, "rate": 80, "arrivals": "constant"}
    before = server.counts()
    assert httpx.post(f"{locusts.url}/swarm", data=form, timeout=10).json()["success"] is True
    locusts.wait_for("measuring")
    time.sleep(2)
    assert locusts.post(locusts.order()).status_code == 409
    stats = httpx.get(f"{locusts.url}/stats/requests", timeout=5).json()
    rows = {row["name"]: row["value"] for row in stats["extended_stats"][0]["data"]}
    assert rows["State"] == "measuring"
    assert rows["Rate asked"] == "80 /s, constant"
    assert rows["Workers, lost"] == "2, 0"
    shares = [value for name, value in rows.items() if name.startswith("Pod ")]
    assert len(shares) >= 2
    assert sum(float(share.partition("%")[0]) for share in shares) == pytest.approx(100, abs=0.2)
    httpx.post(f"{locusts.url}/stop", timeout=10)
    report = locusts.wait_for("stopped")
    visits = _visits(server) - _visits_in(before)
    assert report["order"]["id"] == "by-hand"
    assert report["reason"] == "stopped on Locust's page"
    assert report["arrivals"] == pytest.approx(80 * report["measured_seconds"], abs=3)
    assert 0 < visits < 80 * report["measured_seconds"] * 3


def test_a_person_starts_users_on_the_page(locusts: Locusts, server: TinyServer) -> None:
    """With a rate of 0 the form's users loop, as in any Locust; the stage shows them too."""
    form = {"user_count": 4, "spawn_rate": 4, "host": server.url, "rate": 0}
    httpx.post(f"{locusts.url}/swarm", data=form, timeout=10)
    locusts.wait_for("measuring")
    time.sleep(1.5)
    report = locusts.delete().json()
    assert report["order"]["model"] == "closed"
    assert report["state"] == "stopped"
    assert report["requests"] > 50
    assert httpx.get(f"{locusts.url}/stats/requests", timeout=5).json()["user_count"] == 0


def test_a_bad_form_starts_nothing(locusts: Locusts, server: TinyServer) -> None:
    """A connection policy that makes no sense sends no load; Locust's log says why."""
    form = {"user_count": 2, "spawn_rate": 2, "host": server.url, "rate": 50, "connections": "many"}
    before = server.counts()
    httpx.post(f"{locusts.url}/swarm", data=form, timeout=10)
    time.sleep(1)
    httpx.post(f"{locusts.url}/stop", timeout=10)
    assert _visits_in(server.counts()) == _visits_in(before)
    assert locusts.master is not None
    assert "connections is 'many'" in locusts.master.log.read_text()


def _visits(server: TinyServer) -> int:
    return _visits_in(server.counts())


def _visits_in(counts: dict[str, int]) -> int:
    return sum(count for path, count in counts.items() if path.startswith("/"))
