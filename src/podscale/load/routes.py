"""The stage protocol and the metrics over HTTP, and the live view of the stage on Locust's page."""

import json
from collections.abc import Iterator

from flask import Response, jsonify, request
from locust.web import WebUI
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from podscale.contract import METRICS, STAGE_PATH, WORKERS_PATH, StageReport
from podscale.load.control import Busy, Control
from podscale.load.metrics import StageCollector
from podscale.load.orders import OrderError

TAB = "podscale"


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
        return jsonify({"workers": len(control.fleet.ready())}), 200

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
            view_func=web_ui.auth_required_if_enabled(view),
            methods=[method],
        )


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
    yield from _shares(report)
    cpu_fraction = generator["cpu_fraction"]
    yield "Workers, lost", f"{generator['workers']}, {generator['lost_workers']}"
    yield "Busiest worker", "unknown" if cpu_fraction is None else f"{cpu_fraction:.0%} of a core"


def _shares(report: StageReport) -> Iterator[tuple[str, str]]:
    """Each pod's share of the requests, and below it that of each of its processes where it has several."""
    requests, processes = report["requests"], sorted(report["requests_by_process"].items())
    for pod, count in sorted(report["requests_by_pod"].items()):
        own = [(process, part) for process, part in processes if process.rpartition("/")[0] == pod]
        yield (
            f"Pod {pod}" + (f", process {own[0][0].rpartition('/')[2]}" if len(own) == 1 else ""),
            _share(count, requests),
        )
        if len(own) > 1:
            for process, part in own:
                yield f"Process {process}", _share(part, requests)


def _share(count: int, total: int) -> str:
    return f"{count / total:.1%} of requests, {count}" if total else "none yet"


def _rate(count: int, seconds: float) -> str:
    return f"{count / seconds:.1f} /s" if seconds else "none yet"


def _line(text: str) -> Response:
    return Response(text + "\n", mimetype="text/plain")


def _endless(report: StageReport) -> bool:
    """Whether it was started by hand, and so has no end of its own."""
    return report["state"] in {"warmup", "measuring"} and report["window_ended_at"] is None
