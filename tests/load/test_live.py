"""The running stage in words."""

from podscale.load.live import live_rows
from podscale.load.reports import Progress, make_report
from tests.load.test_reports import ORDER


def test_shares_of_pods_and_their_processes() -> None:
    """A pod with one process is one line; one with several has a line for each below its own."""
    report = make_report(ORDER, Progress(state="measuring"), [], seconds_left=0) | {
        "requests": 200,
        "requests_by_pod": {"a": 100, "b": 90, "unknown": 10},
        "requests_by_process": {"a/7": 100, "b/8": 60, "b/9": 30, "unknown": 10},
    }
    rows = dict(live_rows(report))
    assert {name: value for name, value in rows.items() if name.startswith(("Pod ", "Process "))} == {
        "Pod a, process 7": "50.0% of requests, 100",
        "Pod b": "45.0% of requests, 90",
        "Process b/8": "30.0% of requests, 60",
        "Process b/9": "15.0% of requests, 30",
        "Pod unknown": "5.0% of requests, 10",
    }
