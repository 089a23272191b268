"""The running stage in words, for the tab on Locust's page. Pure."""

from collections.abc import Iterator

from podscale.contract import StageReport


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


def _endless(report: StageReport) -> bool:
    """Whether it was started by hand, and so has no end of its own."""
    return report["state"] in {"warmup", "measuring"} and report["window_ended_at"] is None
