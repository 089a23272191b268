"""The dashboard *Load*: does Locust send what it was asked to, and what do its clients see?"""

from monitoring.panels import Board, Panel
from monitoring.queries import CHOSEN, load_per_second, of_release
from podscale import contract

BY_POD = f'sum by (target_pod) (rate({contract.LOAD_REQUESTS}{{{CHOSEN},target_pod=~"$pod"}}[$__rate_interval]))'
QUANTILES = (("p50", "0.5"), ("p90", "0.9"), ("p99", "0.99"))


def _quantile(metric: str, quantile: str) -> str:
    return f'{metric}{{{CHOSEN},quantile="{quantile}"}}'


GENERATOR = (
    Panel(
        "lines",
        "Rate asked and sent",
        "reqps",
        "Open arrivals: both lines are one while the generator keeps up. With closed users nothing is asked, and "
        "what is sent follows from the answers. The measuring window alone counts, so that it is 0 in the warm-up.",
        (
            ("asked", of_release(contract.LOAD_ASKED_PER_SECOND)),
            ("sent", load_per_second(contract.LOAD_SENT)),
            ("good answers", load_per_second(contract.LOAD_GOOD_ANSWERS)),
        ),
    ),
    Panel(
        "lines",
        "Late and dropped per second",
        "reqps",
        "Late: sent more than 10 ms after it was due. Dropped: never sent, too many were in flight. Above a few "
        "percent of the rate, the generator is what is measured: add workers.",
        (("late", load_per_second(contract.LOAD_LATE)), ("dropped", load_per_second(contract.LOAD_DROPPED))),
    ),
    Panel(
        "lines",
        "Users and workers",
        "none",
        "Users that Locust runs (in the open model they idle, one for each worker), and the worker processes. A worker "
        "that is lost makes the stage void.",
        (
            ("users", of_release(contract.LOAD_USERS)),
            ("workers", of_release(contract.LOAD_WORKERS)),
            ("lost workers", of_release(contract.LOAD_LOST_WORKERS)),
        ),
    ),
    Panel(
        "lines",
        "CPU of the generator",
        "percentunit",
        "The busiest worker process, of one core, since the window began. Above 90 % it sends late and measures "
        "itself: add workers.",
        (("busiest worker", of_release(contract.LOAD_CPU_RATIO)),),
        maximum=1,
    ),
    Panel(
        "lines",
        "Throttling of the generator",
        "percentunit",
        "Time for which a CPU limit held the workers back, per second. It should be 0 and no line where it cannot be "
        "read: give Locust no CPU limit.",
        (("throttled", load_per_second(contract.LOAD_THROTTLED_SECONDS)),),
    ),
)

CLIENTS = (
    Panel(
        "lines",
        "Latency that clients see",
        "s",
        "Of good answers, from the time they should have been sent, which a queue cannot hide. Exact to three "
        "digits, of the window so far. Where open arrivals are sent late, that part is the generator's own.",
        (
            *((name, _quantile(contract.LOAD_LATENCY_SECONDS, quantile)) for name, quantile in QUANTILES),
            ("of it late, p99", of_release(contract.LOAD_SEND_LAG_P99_SECONDS)),
        ),
    ),
    Panel(
        "lines",
        "Service time",
        "s",
        "The same from the actual send time. Where it is far below the latency, visits waited in the generator.",
        tuple((name, _quantile(contract.LOAD_SERVICE_SECONDS, quantile)) for name, quantile in QUANTILES),
    ),
    Panel(
        "lines",
        "Failures per second",
        "reqps",
        "Visits that got no good answer, by reason. `client` is the generator's own fault.",
        (("{{error}}", load_per_second(contract.LOAD_ERRORS, "error")),),
    ),
    Panel(
        "stacked",
        "Requests per second by pod",
        "reqps",
        "Who answered, as the clients saw it. Bands of one height are an even spread; `unknown` are failures and "
        "answers without a pod's name.",
        (("{{target_pod}}", BY_POD),),
    ),
)

BOARD = Board(
    uid="podscale-load",
    title="podscale / Load",
    description="Does Locust send what it was asked to, and what do its clients see?",
    pods_from=contract.LOAD_REQUESTS,
    pod_label="target_pod",
    rows={"The generator": GENERATOR, "What clients see": CLIENTS},
)
