"""Measures one stage: scale, run the load, read the pods at both ends of the window, judge."""

import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

import msgspec

from podscale.contract import StageOrder, StageReport
from podscale.sweep.locust import LocustError, StageClient
from podscale.sweep.plan import Plan, StagePlan
from podscale.sweep.results import Generator, Latency, Stage
from podscale.sweep.scrape import PodReading, Usage, memory, usage
from podscale.sweep.targets import MachineReading, NotReachedError, Target
from podscale.sweep.verdict import Facts, judge

# The closing reading is begun this long before the window's end, so that it does not see how the load ends: this
# share of the window, and no more than the seconds.
CLOSING_SHARE = 0.05
CLOSING_SECONDS = 0.5
# A reading counts if it was taken this close to the window; one that came late saw idle pods.
EDGE_SHARE = 0.1
# How often counters are read in the window that come with times of their own, some seconds old.
SAMPLE_SECONDS = 5.0


class Interrupted(BaseException):
    """Somebody asked the sweep to stop. Not an Exception, so that no handler for faults swallows it."""


class Load(Protocol):
    """What gives the sweep a Locust master with all its workers."""

    worker_count: int
    more_workers: str  # what to do when the workers are saturated

    def client(self) -> StageClient:
        """The stage protocol; raises LocustError."""

    def close(self) -> None:
        """End what it started."""


class Measured(msgspec.Struct, frozen=True):
    """A stage, and the interruption that cut it short, if any."""

    stage: Stage
    interrupted: Interrupted | None = None


class Disturbance(Protocol):
    """Something that is done to the pods in the midst of a stage."""

    def see(self, report: StageReport) -> None:
        """Hear of the running stage."""

    def describe(self, stage: Stage) -> Stage:
        """The stage with what came of it."""


class Measurer:
    """Measures stages of one plan on one target; `on_report` hears of the running load.

    `bring` makes the target what a stage wants, and returns the seconds until all were ready, None where nothing had
    to start; a sweep scales. `disturb` gives a stage its disturbance, if it has one.
    """

    def __init__(
        self,
        plan: Plan,
        target: Target,
        load: Load,
        *,
        on_report: Callable[[StageReport], None],
        bring: Callable[[StagePlan], float | None] | None = None,
        disturb: Callable[[StagePlan], Disturbance | None] = lambda _: None,
    ) -> None:
        self._plan = plan
        self._target = target
        self._load = load
        self._on_report = on_report
        self._bring = bring or (lambda wanted: target.scale(wanted.size))
        self._disturb = disturb

    def measure(self, wanted: StagePlan) -> Measured:
        """Measure one stage. Faults of the stage become verdicts; raises TargetError when the target is unusable."""
        stage = Stage(
            topology=wanted.topology,
            budget=wanted.budget,
            purpose=wanted.purpose,
            size=wanted.size,
            repeat=wanted.repeat,
            asked=wanted.asked,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            valid=False,
        )
        facts = Facts(
            stage=stage,
            cores_per_pod=self._cores_each(wanted),
            more_workers=self._load.more_workers,
            slo_p99_seconds=self._plan.slo_p99_seconds,
        )
        try:
            ready_seconds = self._bring(wanted)
            # Known for certain only now: a limit, for one, is read from living pods.
            facts = msgspec.structs.replace(facts, cores_per_pod=self._cores_each(wanted))
        except NotReachedError as error:
            return Measured(judge(msgspec.structs.replace(facts, not_reached=str(error))))
        except Interrupted as interrupted:
            return Measured(judge(msgspec.structs.replace(facts, interrupted="stopped while scaling")), interrupted)
        return self._under_load(wanted, facts, msgspec.structs.replace(stage, ready_seconds=ready_seconds))

    def _under_load(self, wanted: StagePlan, facts: Facts, stage: Stage) -> Measured:
        watch = WindowWatch(self._target, wanted.asked.measure_seconds)
        disturbance = self._disturb(wanted)
        before = self._target.read()
        loaded = self._run(wanted, [watch.see, self._on_report, *([disturbance.see] if disturbance else [])])
        after = self._target.read()
        if loaded.report is not None:
            stage = with_load(stage, loaded.report)
        stage = with_pods(stage, before, after, watch)
        if disturbance is not None:
            stage = disturbance.describe(stage)
        facts = msgspec.structs.replace(
            facts,
            stage=stage,
            cores=self._target.cores if watch.cores is None else watch.cores,
            mean_queue_seconds=watch.usage().mean_queue_seconds,
            unread=watch.unread(),
            identified=set(stage.requests_by_pod) != {"unknown"},
            lost_pods=() if disturbance else _lost(before, after),
            void=loaded.void,
            interrupted="stopped before the window was whole" if loaded.interrupted else None,
        )
        return Measured(judge(facts), loaded.interrupted)

    def _cores_each(self, wanted: StagePlan) -> float:
        return self._target.cores_per_pod if wanted.cores_each is None else wanted.cores_each

    def _run(self, wanted: StagePlan, ears: list[Callable[[StageReport], None]]) -> "_Loaded":
        def hear(report: StageReport) -> None:
            for ear in ears:
                ear(report)

        client = None
        try:
            client = self._load.client()
            report = client.run(self._order(wanted), hear)
        except LocustError as error:
            return _Loaded(void=str(error))
        except Interrupted as interrupted:
            return _Loaded(report=_stopped(client), interrupted=interrupted)
        return _Loaded(report=report, void=report["reason"] if report["state"] != "done" else None)

    def _order(self, wanted: StagePlan) -> StageOrder:
        asked = wanted.asked
        order = StageOrder(
            id=uuid.uuid4().hex,
            model=asked.model,
            arrivals=asked.arrivals or "constant",
            rate_per_second=asked.rate_per_second or 0.0,
            users=asked.users or 0,
            connections=asked.connections,
            warmup_seconds=asked.warmup_seconds,
            measure_seconds=asked.measure_seconds,
            timeout_seconds=self._plan.timeout_seconds,
            expect_workers=self._load.worker_count,
            options=asked.options,
        )
        if self._plan.user_class is not None:
            order["scenario"] = self._plan.user_class
        return order


class _Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """The load's report, why the load itself calls the stage void, and the interruption: each if there is one."""

    report: StageReport | None = None
    void: str | None = None
    interrupted: Interrupted | None = None


class WindowWatch:
    """Reads pods and machine when the measuring window opens and as it closes."""

    def __init__(self, target: Target, measure_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._target = target
        self._measure_seconds = measure_seconds
        self._clock = clock
        self._opened_at: float | None = None
        self._read_at = 0.0
        self._closed = False
        self._window: tuple[float, float] | None = None  # on the clock of the load, seconds since the epoch
        self._pods: list[list[PodReading]] = []
        self._machine: list[MachineReading] = []

    def see(self, report: StageReport) -> None:
        """Hear of the stage's state; reads at the moments that matter."""
        if self._closed or (report["state"] != "measuring" and self._opened_at is None):
            return
        now = self._clock()
        if self._opened_at is None:
            self._opened_at = now
            self._read()
            return
        closing = min(CLOSING_SECONDS, CLOSING_SHARE * self._measure_seconds)
        self._closed = report["state"] != "measuring" or report["seconds_left"] <= closing
        started, ended = report["window_started_at"], report["window_ended_at"]
        if started is not None and ended is not None:
            self._window = started, ended
        if self._closed:
            self._read()
        elif now - self._read_at >= SAMPLE_SECONDS:
            self._sample()

    def usage(self) -> Usage:
        """What the pods used between the first and the last reading of the window."""
        if self._target.sampled:
            found = usage(*sampled_within(self._pods, self._window))
            return msgspec.structs.replace(found, memory_bytes=memory(self._pods[-1]) if self._pods else None)
        return usage(self._pods[0], self._pods[-1]) if len(self._pods) > 1 else Usage(seconds=0.0)

    def node_cpu_fraction(self) -> float | None:
        """Busy share of all cores between the first and the last reading of the window."""
        readings = [each for each in self._machine if each.at_seconds is None or _within(each.at_seconds, self._window)]
        if len(readings) < 2 or readings[-1].total_seconds <= readings[0].total_seconds:
            return None
        busy = readings[-1].busy_seconds - readings[0].busy_seconds
        return busy / (readings[-1].total_seconds - readings[0].total_seconds)

    @property
    def cores(self) -> float | None:
        """Of the machine, or of the nodes that carry the pods."""
        return self._machine[-1].cores if self._machine else None

    def unread(self) -> str | None:
        """Why the pods' figures are unknown although they ran, in words."""
        if not self._closed:
            return None
        if self._target.sampled and not any(sampled_within(self._pods, self._window)):
            return "no counters of the pods fell into the window; they come every 10 to 15 s, a longer window has them"
        if len(self._pods) < 2:
            return "the pods could not be read at both edges of the window, so their CPU is unknown"
        return None

    def _sample(self) -> None:
        """Read again what comes with times of its own, and may fall into the window only now."""
        self._read_at = self._clock()
        if self._target.sampled:
            self._pods.append(self._target.read())
        if self._machine and self._machine[-1].at_seconds is not None:
            self._machine += filter(None, [self._target.machine()])

    def _read(self) -> None:
        self._read_at = self._clock()
        pods, machine = self._target.read(), self._target.machine()
        passed = self._clock() - (self._opened_at or 0.0)
        if passed > (1 + EDGE_SHARE) * self._measure_seconds + CLOSING_SECONDS:
            self._pods = []  # somebody held us up, an API server that was away for one: the load had ended
            return
        self._pods.append(pods)
        if machine is not None:
            self._machine.append(machine)


def sampled_within(
    readings: list[list[PodReading]], window: tuple[float, float] | None
) -> tuple[list[PodReading], list[PodReading]]:
    """Of counters with times of their own: for each pod the first and the last that fall into the window.

    Both lists are empty unless that are two different moments for every pod: a sum over some pods says nothing.
    """
    first: dict[str, PodReading] = {}
    last: dict[str, PodReading] = {}
    for reading in (pod for pods in readings for pod in pods):
        if _within(reading.at_seconds, window):
            first.setdefault(reading.pod, reading)
            last[reading.pod] = reading
    everyone = {pod.pod for pods in readings for pod in pods}
    if not all(pod in first and first[pod].at_seconds < last[pod].at_seconds for pod in everyone):
        return [], []
    return list(first.values()), list(last.values())


def _within(at_seconds: float, window: tuple[float, float] | None) -> bool:
    return window is not None and window[0] <= at_seconds <= window[1] + CLOSING_SECONDS


def with_load(stage: Stage, report: StageReport) -> Stage:
    """The stage with what the load measured."""
    good = report["latency_seconds"] is not None
    return msgspec.structs.replace(
        stage,
        measured_seconds=report["measured_seconds"],
        arrivals=report["arrivals"],
        requests=report["requests"],
        throughput_per_second=report["completed_per_second"] if good else None,
        latency_seconds=msgspec.convert(report["latency_seconds"], Latency | None),
        service_seconds=msgspec.convert(report["naive_latency_seconds"], Latency | None),
        latency_histogram=report["latency_histogram"],
        errors={kind: count for kind, count in report["errors"].items() if count},
        requests_by_pod=report["requests_by_pod"],
        requests_by_process=report["requests_by_process"],
        client_requests=sum(report["total_requests_by_pod"].values()),
        generator=msgspec.convert(report["generator"], Generator),
    )


def with_pods(stage: Stage, before: list[PodReading], after: list[PodReading], watch: WindowWatch) -> Stage:
    """The stage with what the pods and the node used in the window."""
    window = watch.usage()
    cpu_seconds = window.cpu_seconds
    if cpu_seconds is not None and stage.measured_seconds and window.seconds:
        # The two readings stand a poll's length beside the window's edges: keep the rate, not the difference.
        cpu_seconds *= stage.measured_seconds / window.seconds
    per_request = window.cpu_seconds_per_request
    if window.requests is None and cpu_seconds is not None and stage.requests:
        per_request = cpu_seconds / stage.requests  # pods that count nothing: by what the load counted
    return msgspec.structs.replace(
        stage,
        server_requests=usage(before, after).requests,
        cpu_seconds=cpu_seconds,
        cpu_seconds_per_request=per_request,
        throttled=window.throttled,
        memory_bytes=window.memory_bytes,
        node_cpu_fraction=watch.node_cpu_fraction(),
    )


def _stopped(client: StageClient | None) -> StageReport | None:
    """Stop the running stage; what it measured, if the master still says so."""
    try:
        return client.stop() if client is not None else None
    except LocustError:
        return None


def _lost(before: list[PodReading], after: list[PodReading]) -> tuple[str, ...]:
    """Pods that answer no more, and workers that their supervisor had to replace."""
    pods = tuple(sorted(_answering(before) - _answering(after)))
    workers = usage(before, after).workers_lost
    return (*pods, f"{workers} worker{'' if workers == 1 else 's'} of a pod") if workers else pods


def _answering(readings: list[PodReading]) -> set[str]:
    return {reading.pod for reading in readings if reading.alive}
