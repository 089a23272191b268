"""What the rooms agree on: routes, headers, metric names, ports and the stage protocol. Imports nothing of ours.

The pod serves these routes and metrics, the load reads these headers, the sweep scrapes these metrics and
speaks the stage protocol with the Locust master. A name that two rooms need stands here and nowhere else.
"""

from typing import Literal, NotRequired, TypedDict

HTTP_PORT = 8000
ADMIN_PORT = 9100

# Routes on the `http` port.
INDEX = "/"
BLOCKING = "/blocking"
WORKER = "/worker"
PRIMES = "/primes"
PRIME = "/prime"
TIMESTAMP = "/timestamp"

# Routes on the `admin` port.
LIVE = "/live"
READY = "/ready"
METRICS = "/metrics"

# Headers of every answer: who answered, and what it cost ("queue;dur=1.2, cpu;dur=50.0, wall;dur=50.3", in ms).
POD_HEADER = "X-Podscale-Pod"
PROCESS_HEADER = "X-Podscale-Process"
SERVER_TIMING_HEADER = "Server-Timing"
# Opens the stage protocol of a Locust page that has a login: the password of that login.
LOGIN_HEADER = "X-Podscale-Login"

# Metrics of a pod. Counters are named as scraped, with `_total`.
REQUESTS = "http_requests_total"  # method, route, status
REQUEST_SECONDS = "http_request_duration_seconds"  # histogram: route
IN_PROGRESS = "http_requests_in_progress"
QUEUE_LENGTH = "podscale_queue_length"
QUEUE_SECONDS = "podscale_queue_seconds"  # histogram
SHED = "podscale_requests_shed_total"
ABANDONED = "podscale_requests_abandoned_total"
LOOP_LAG_SECONDS = "podscale_event_loop_lag_seconds"
WORKERS_LOST = "podscale_workers_lost_total"  # only where a pod has several workers
INFO = "podscale_info"  # version, python, pod, gil, workers
# From the pod's own cgroup. A value that cannot be read has no series: absent is unknown, never 0.
CGROUP_CPU_SECONDS = "podscale_cgroup_cpu_seconds_total"
CGROUP_CPU_LIMIT_CORES = "podscale_cgroup_cpu_limit_cores"  # +Inf where no limit is set
CGROUP_PERIODS = "podscale_cgroup_cpu_periods_total"
CGROUP_THROTTLED_PERIODS = "podscale_cgroup_cpu_throttled_periods_total"
CGROUP_THROTTLED_SECONDS = "podscale_cgroup_cpu_throttled_seconds_total"
CGROUP_MEMORY_BYTES = "podscale_cgroup_memory_working_set_bytes"
CGROUP_MEMORY_LIMIT_BYTES = "podscale_cgroup_memory_limit_bytes"  # +Inf where no limit is set
PROCESS_CPU_SECONDS = "process_cpu_seconds_total"
PROCESS_MEMORY_BYTES = "process_resident_memory_bytes"
PROCESS_START_SECONDS = "process_start_time_seconds"  # since the epoch

# Metrics of the Locust master: of its newest stage, at METRICS on the port of its page. Counters hold the measuring
# window and begin anew with each stage. What the stage does not know has no series.
LOAD_STAGE_INFO = "podscale_load_stage_info"  # stage, model, state
LOAD_USERS = "podscale_load_users"
LOAD_WORKERS = "podscale_load_workers"
LOAD_LOST_WORKERS = "podscale_load_lost_workers"
LOAD_ASKED_PER_SECOND = "podscale_load_asked_per_second"  # of the open model, while arrivals are due
LOAD_SENT = "podscale_load_sent_total"
LOAD_LATE = "podscale_load_late_total"
LOAD_DROPPED = "podscale_load_dropped_total"
LOAD_GOOD_ANSWERS = "podscale_load_good_answers_total"
LOAD_ERRORS = "podscale_load_errors_total"  # error: each ErrorClass
LOAD_REQUESTS = "podscale_load_requests_total"  # target_pod: `pod` is the label of who is scraped
LOAD_LATENCY_SECONDS = "podscale_load_latency_seconds"  # quantile; of the window so far, as in the StageReport
LOAD_SERVICE_SECONDS = "podscale_load_service_seconds"  # quantile; from the actual send time
LOAD_SEND_LAG_P99_SECONDS = "podscale_load_send_lag_p99_seconds"
LOAD_CPU_RATIO = "podscale_load_busiest_worker_cpu_ratio"  # of one core
LOAD_THROTTLED_SECONDS = "podscale_load_throttled_seconds_total"

# The stage protocol, on the Locust master beside its own web page:
#   POST   STAGE_PATH  with a StageOrder    -> 202 and the StageReport; 409 while another stage runs; 400 bad order
#   GET    STAGE_PATH                       -> 200 and the StageReport of the newest stage; 404 before the first
#   DELETE STAGE_PATH                       -> 200 and the StageReport: stops the stage, keeps what was measured
#   GET    WORKERS_PATH                     -> 200 and a LoadReport
# Behind a login of Locust's page each of them is redirected (302), unless LOGIN_HEADER has the password.
STAGE_PATH = "/podscale/stage"
WORKERS_PATH = "/podscale/workers"

Model = Literal["open", "closed"]
Arrivals = Literal["constant", "poisson"]
StageState = Literal["starting", "warmup", "measuring", "draining", "done", "void", "stopped"]
# Why a request failed, from the client's side. `client` is the generator's own fault (no ports, no files left).
ErrorClass = Literal["refused", "reset", "timeout", "dns", "client", "http_4xx", "http_5xx", "other"]


class StageOrder(TypedDict):
    """One stage of load, as the sweep asks for it.

    `users` counts closed users over all workers; `rate_per_second` is the arrival rate of all workers together.
    `connections` is "new" (one for each visit), "keep", or a number: visits before a connection is closed.
    `options` are custom arguments of the locustfile, as its start form has them (`{"cpu_time_ms": 50}`).
    `host` is what to load, as `http://name:port`; what Locust was started with where absent.
    """

    id: str
    model: Model
    arrivals: Arrivals
    rate_per_second: float
    users: int
    connections: str
    warmup_seconds: float
    measure_seconds: float
    timeout_seconds: float
    expect_workers: int
    scenario: NotRequired[str]  # name of the user class to run; all of the locustfile's where absent
    options: NotRequired[dict[str, str | int | float]]
    host: NotRequired[str]


class LoadReport(TypedDict):
    """What the master has to send load with: workers that are ready, and the user classes of its locustfile."""

    workers: int
    user_classes: list[str]


class Quantiles(TypedDict):
    """Latencies in seconds, exact to three digits."""

    p50: float
    p90: float
    p99: float
    p999: float
    max: float
    mean: float


class GeneratorReport(TypedDict):
    """How well the generator did its own work in the measuring window.

    `cpu_fraction`: busiest worker process, of one core. `late`: arrivals sent more than 10 ms after their intended
    time. `dropped`: arrivals never sent: too many were in flight, or the window had passed before the generator came
    to them. `throttled_seconds`: of the generator's own cgroups, None where unknown.
    """

    workers: int
    lost_workers: int
    cpu_fraction: float | None
    late: int
    dropped: int
    send_lag_p99_seconds: float | None
    throttled_seconds: float | None


class TimelineReport(TypedDict):
    """A stage step by step, all workers together: lists of equal length, one entry for each step.

    `start_seconds` is where the first step begins, counted from the opening of the window: below 0 is warm-up. Answers
    and failures belong to the step in which they ended; quantiles are those of the good answers, from when each
    was due, within 1 %.
    """

    start_seconds: float
    step_seconds: float
    answers: list[int]
    failures: list[int]
    p50_seconds: list[float | None]
    p99_seconds: list[float | None]


class StageReport(TypedDict):
    """What the master knows of a stage; figures are whole once the state is done, void or stopped.

    The window holds the visits that were due in it (open: by intended send time; closed: by their end).
    `requests` counts all answers and failures of the window, `errors` those that failed, by ErrorClass.
    `total_requests_by_pod` counts the whole stage, warm-up and drain included, so that it can be held against the
    pods' own counters; the key "unknown" holds answers without a pod header, and failures.
    """

    order: StageOrder
    state: StageState
    reason: str  # why a stage is void or stopped, else ""
    seconds_left: float
    window_started_at: float | None  # seconds since the epoch
    window_ended_at: float | None
    measured_seconds: float
    arrivals: int  # open: visits that were due in the window; closed: visits begun in it
    requests: int
    completed_per_second: float  # good answers that ended within the window, over its length
    latency_seconds: Quantiles | None  # of good answers, from the intended send time
    naive_latency_seconds: Quantiles | None  # of good answers, from the actual send time ("service time")
    latency_histogram: str | None  # HdrHistogram V2, base64, in microseconds
    errors: dict[str, int]
    requests_by_pod: dict[str, int]
    requests_by_process: dict[str, int]
    total_requests_by_pod: dict[str, int]
    generator: GeneratorReport
    timeline: NotRequired[TimelineReport | None]  # once the stage has ended, with an end set before it began
