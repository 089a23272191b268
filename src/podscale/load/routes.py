"""The stage protocol and the metrics over HTTP, and the live view of the stage on Locust's page."""

import functools
import hmac
import json
import os
from collections.abc import Callable
from typing import Any

from flask import Response, jsonify, request
from locust.web import WebUI
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from podscale.contract import LOGIN_HEADER, METRICS, STAGE_PATH, WORKERS_PATH, LoadReport
from podscale.load.control import Busy, Control
from podscale.load.live import live_rows
from podscale.load.metrics import StageCollector
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


def add_metrics(web_ui: WebUI, control: Control, base_path: str) -> None:
    """Serve METRICS, without the login: Prometheus cannot fill in a form, and figures start and change nothing."""
    if web_ui.app is None:
        return
    registry = CollectorRegistry()
    registry.register(
        StageCollector(
            newest=lambda: None if control.newest is None else control.newest.report(),
            users=control.fleet.running_users,
            workers=lambda: len(control.fleet.present()),
        )
    )

    def metrics() -> Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return Response(encode(registry), content_type=content_type)

    web_ui.app.add_url_rule(base_path + METRICS, endpoint="podscale_metrics", view_func=metrics)


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


def _line(text: str) -> Response:
    return Response(text + "\n", mimetype="text/plain")
