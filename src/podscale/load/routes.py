"""The stage protocol over HTTP, and the live view of the stage on Locust's page."""

import functools
import hmac
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from flask import Response, jsonify, request
from locust.web import WebUI

from podscale.contract import LOGIN_HEADER, STAGE_PATH, WORKERS_PATH, LoadReport, StageReport
from podscale.load.control import Busy, Control
from podscale.load.orders import OrderError

TAB = "podscale"
View = Callable[[], tuple[Response, int]]


def add_routes(web_ui: WebUI, control: Control, base_path: str) -> None:
    """Serve the stage protocol beside Locust's page, behind its login where it has one."""
    if web_ui.app is None:
        raise RuntimeError("Locust's web page is off; the stage protocol needs it")

    def post() -> tuple[Response, int]:
        payload = request.get_json(force=True, silent=True)
        try:
            return jsonify(control.start(payload)), 202
        except OrderError as error:
            return _line(str(error)), 400
        except Busy as busy:
            return _line(str(busy)), 409

    def get() -> tuple[Response, int]:
        if control.newest is None:
            return _line("no stage has been started yet"), 404
        return jsonify(control.newest.report()), 200

    def delete() -> tuple[Response, int]:
        report = control.stop("stopped by request")
        return (_line("no stage has been started yet"), 404) if report is None else (jsonify(report), 200)

    def workers() -> tuple[Response, int]:
        report: LoadReport = {"workers": len(control.fleet.ready()), "user_classes": control.user_classes()}
        return jsonify(report), 200

    routes = (
        (STAGE_PATH, "POST", post),
        (STAGE_PATH, "GET", get),
        (STAGE_PATH, "DELETE", delete),
        (WORKERS_PATH, "GET", workers),
    )
    for path, method, view in routes:
        web_ui.app.add_url_rule(
            base_path + path,
            endpoint=f"podscale_{view.__name__}",
            view_func=_behind_login(web_ui, view),
            methods=[method],
        )


def _behind_login(web_ui: WebUI, view: View) -> Callable[[], Any]:
    """`view` for people who have logged in, and for a sweep that knows the password (LOGIN_PASSWORD)."""
    for_people: Callable[[], Any] = web_ui.auth_required_if_enabled(view)
    password = os.environ.get("LOGIN_PASSWORD", "")

    @functools.wraps(view)
    def guarded() -> Any:
        given = request.headers.get(LOGIN_HEADER, "")
        return view() if password and hmac.compare_digest(given.encode(), password.encode()) else for_people()

    return guarded


def add_tab(web_ui: WebUI, control: Control, base_path: str) -> None:
    """Show the stage in a tab of Locust's page, which asks for /stats/requests every two seconds.

    Uses the extension points of that page:
    https://github.com/locustio/locust/blob/master/examples/extend_modern_web_ui.py
    """
    if web_ui.app is None:
        return
    web_ui.template_args["extended_tabs"] = [{"title": "Podscale", "key": TAB}]
    web_ui.template_args["extended_tables"] = [
        {"key": TAB, "structure": [{"key": "name", "title": "Stage"}, {"key": "value", "title": "Value"}]}
    ]

    def with_stage(response: Response) -> Response:
        if request.path == f"{base_path}/stats/requests" and response.is_json and control.newest is not None:
            rows = [{"name": name, "value": value} for name, value in live_rows(control.newest.report())]
            response.set_data(json.dumps((response.json or {}) | {"extended_stats": [{"key": TAB, "data": rows}]}))
        return response

    web_ui.app.after_request(with_stage)


def live_rows(report: StageReport) -> Iterator[tuple[str, str]]:
    """What a person wants to see of a running stage, each with its value as text."""
    order, generator = report["order"], report["generator"]
    yield "State", f"{report['state']} {report['reason']}".strip()
    yield "Time left", "until it is stopped" if _endless(report) else f"{report['seconds_left']:.0f} s"
    if order["model"] == "open":
        sent = report["arrivals"] - generator["dropped"]
        yield "Rate asked", f"{order['rate_per_second']:g} /s, {order['arrivals']}"
        yield "Rate sent", _rate(sent, report["measured_seconds"])
        yield "Sent late (over 10 ms), dropped", f"{generator['late']}, {generator['dropped']}"
    else:
        yield "Users", str(order["users"])
    yield "Good answers", f"{report['completed_per_second']:.1f} /s"
    for title, latency in (
        ("Latency from the intended send time", report["latency_seconds"]),
        ("Service time, from the actual send time", report["naive_latency_seconds"]),
    ):
        yield (
            title,
            "none yet"
            if latency is None
            else ", ".join(f"{name} {latency[name] * 1000:.4g} ms" for name in ("p50", "p99", "max")),
        )
    yield "Errors", ", ".join(f"{name} {count}" for name, count in sorted(report["errors"].items())) or "none"
    for pod, count in sorted(report["requests_by_pod"].items()):
        yield f"Requests of pod {pod}", str(count)
    cpu_fraction = generator["cpu_fraction"]
    yield "Workers, lost", f"{generator['workers']}, {generator['lost_workers']}"
    yield "Busiest worker", "unknown" if cpu_fraction is None else f"{cpu_fraction:.0%} of a core"


def _rate(count: int, seconds: float) -> str:
    return f"{count / seconds:.1f} /s" if seconds else "none yet"


def _line(text: str) -> Response:
    return Response(text + "\n", mimetype="text/plain")


def _endless(report: StageReport) -> bool:
    """Whether it was started by hand, and so has no end of its own."""
    return report["state"] in {"warmup", "measuring"} and report["window_ended_at"] is None
