"""Measures one stage: scale, run the load, read the pods at both ends of the window, judge."""

import uuid
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Protocol

import msgspec

from podscale.contract import StageOrder, StageReport
from podscale.sweep.locust import LocustError, StageClient
from podscale.sweep.plan import Plan, StagePlan
from podscale.sweep.results import Generator, Latency, Stage
from podscale.sweep.scrape import PodReading, usage
from podscale.sweep.targets import NotReachedError, Target
from podscale.sweep.timeline import Timeline
from podscale.sweep.verdict import Facts, judge
from podscale.sweep.window import WindowWatch


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
        ears = [self._on_report, *([disturbance.see] if disturbance else [])]
        loaded = self._run(wanted, ears if wanted.purpose == "burst" else [watch.see, *ears])
        after = self._target.read()
        if loaded.report is not None:
            stage = with_load(stage, loaded.report, {reading.pod for reading in before})
        stage = with_pods(stage, before, after, watch)
        if disturbance is not None:
            stage = disturbance.describe(stage)
        facts = msgspec.structs.replace(
            facts,
            stage=stage,
            cores=self._target.cores if watch.cores is None else watch.cores,
            mean_queue_seconds=watch.usage().mean_queue_seconds,
            unread=watch.unread(),
            # A pod that takes the place of a killed one is new, and meant to answer.
            old_answers=0 if disturbance else old_answers(stage.requests_by_pod, {reading.pod for reading in before}),
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


def with_load(stage: Stage, report: StageReport, pods: AbstractSet[str] = frozenset()) -> Stage:
    """The stage with what the load measured.

    Of its requests, those that pods of an earlier stage have answered are left out of `client_requests`: the counters
    of `pods`, against which that is held, do not have them.
    """
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
        client_requests=sum(report["total_requests_by_pod"].values())
        - old_answers(report["total_requests_by_pod"], pods),
        generator=msgspec.convert(report["generator"], Generator),
        timeline=msgspec.convert(report.get("timeline"), Timeline | None),
    )


def old_answers(requests_by_pod: Mapping[str, int], pods: AbstractSet[str]) -> int:
    """Answers of pods that name themselves and are none of `pods`: such as end, and were still sent requests."""
    if not pods & set(requests_by_pod):
        return 0
    return sum(count for pod, count in requests_by_pod.items() if pod not in pods and pod != "unknown")


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
    whole = usage(before, after)
    return msgspec.structs.replace(
        stage,
        server_requests=whole.requests,
        total_cpu_seconds=whole.cpu_seconds,
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
