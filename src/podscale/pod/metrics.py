"""What a serving process counts. Names stand in podscale.contract; each metric has a user: dashboard, HPA or sweep."""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from podscale import contract

# From the shortest useful job to the longest patience of a client, so that no quantile is stuck in the last bucket.
BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60)

UNMATCHED = "unmatched"
# What we serve; every other method is one label value, so that a scanner cannot create series.
METHODS = ("GET", "HEAD", "POST")
OTHER_METHOD = "other"


class Meters:
    """The counters of one serving process.

    With several workers each has its own, in files that the supervisor adds up: gauges then count living workers only.

    Args:
        registry: where the counters are registered.
        routes: the route templates, whose histograms exist from the start.
    """

    def __init__(self, registry: CollectorRegistry, routes: Iterable[str]) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call] # the library has no type for it
        self._requests = Counter(
            contract.REQUESTS, "Requests answered, by route template.", ["method", "route", "status"], registry=registry
        )
        self._request_seconds = Histogram(
            contract.REQUEST_SECONDS,
            "Time from the arrival of a request to the end of its answer, queue included.",
            ["route"],
            registry=registry,
            buckets=BUCKETS_SECONDS,
        )
        self._in_progress = Gauge(
            contract.IN_PROGRESS,
            "Requests being answered, waiting ones included.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._queue_length = Gauge(
            contract.QUEUE_LENGTH,
            "Jobs that wait for the loop or a child process.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._queue_seconds = Histogram(
            contract.QUEUE_SECONDS,
            "Time from the arrival of a request to the start of its job.",
            registry=registry,
            buckets=BUCKETS_SECONDS,
        )
        self._shed = Counter(contract.SHED, "Jobs refused because the queue was full.", registry=registry)
        self._abandoned = Counter(contract.ABANDONED, "Jobs not run because their client had left.", registry=registry)
        self._observers = {route: self._request_seconds.labels(route).observe for route in (*routes, UNMATCHED)}
        # Looking up the child of a metric costs as much as all the rest, so each is looked up once.
        self._count: dict[tuple[str, str, int], Callable[[], None]] = {}
        self.begin = self._in_progress.inc

    def end(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request has ended. `route` is a template or UNMATCHED; `status` is 499 where the client left."""
        self._in_progress.dec()
        self._observers[route](seconds)
        try:
            self._count[method, route, status]()
        except KeyError:
            known = method if method in METHODS else OTHER_METHOD
            count = self._requests.labels(known, route, str(status)).inc
            count()
            if known == method:
                self._count[method, route, status] = count

    def waiting(self, change: int) -> None:
        """So many more (or fewer) jobs wait."""
        self._queue_length.inc(change)

    def waited(self, seconds: float) -> None:
        """A job's turn came after `seconds`."""
        self._queue_seconds.observe(seconds)

    def shed(self) -> None:
        """A job was refused because the queue is full."""
        self._shed.inc()

    def abandoned(self) -> None:
        """A job was not run because its client has left."""
        self._abandoned.inc()
