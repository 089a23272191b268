"""Tests of the verdicts: each rule with a stage that it names, and a clean stage that none of them spoils."""

from typing import Any

import msgspec
import pytest

from podscale.sweep.results import Stage, Throttled
from podscale.sweep.verdict import RULES, Facts, judge
from tests.sweep import builders


def facts(stage: Stage, **changes: Any) -> Facts:
    """Facts of a stage on four cores, one core for each pod."""
    return msgspec.structs.replace(Facts(stage=stage, cores=4, cores_per_pod=1.0), **changes)


def goal(**changes: Any) -> Stage:
    """A goal stage of two pods."""
    return builders.goal_stage(2, 0.1, **changes)


CASES: dict[str, tuple[Facts, str]] = {
    "not_reached": (facts(builders.stage(), not_reached="1 of 2 pods were ready after 30 s"), "1 of 2 pods"),
    "interrupted": (facts(builders.stage(), interrupted="stopped before the window was whole"), "stopped"),
    "worker_lost": (
        facts(builders.stage(generator=builders.generator(lost_workers=1)), void="worker 1 is missing"),
        "1 of 1 Locust workers went missing: worker 1 is missing",
    ),
    "void": (facts(builders.stage(), void="the Locust master does not answer"), "does not answer"),
    "pod_lost": (facts(builders.stage(), lost_pods=("pod-2",)), "pod-2"),
    "generator_saturated": (
        facts(builders.stage(generator=builders.generator(cpu_fraction=0.97))),
        "used 97% of its core; raise --locust-workers",
    ),
    "rate_missed": (facts(goal(arrivals=700)), "58.3 arrivals/s were offered of 70 asked"),
    "no_answer": (facts(builders.stage(latency_seconds=None, throughput_per_second=None)), "not one good answer"),
    "errors_void": (facts(builders.stage(errors={"reset": 9})), "more than 1% of the requests failed"),
    "errors": (facts(goal(errors={"timeout": 84, "refused": 1})), "85 of 840 requests failed (10.12%): 1 refused, 84"),
    "old_pods": (facts(builders.stage(), old_answers=30), "30 of 300 requests were answered by pods that were ending"),
    "missing_pods": (facts(builders.stage(4, requests_by_pod={"pod-1": 600, "pod-2": 600})), "2 of 4 pods answered"),
    "unbalanced": (facts(builders.stage(2, requests_by_pod={"a": 450, "b": 150})), "1.50 times the mean"),
    "throttled": (
        facts(builders.stage(throttled=Throttled(periods=60, throttled_periods=45, seconds=2.0))),
        "stopped pods in 75% of its periods",
    ),
    "starved": (
        facts(builders.stage(8, cpu_seconds=23.0, node_cpu_fraction=0.99)),
        "4.0 of 4 cores busy, and each pod got only 0.48 of a core",
    ),
    "node_full": (facts(builders.stage(4, node_cpu_fraction=0.99)), "4.0 of 4 cores busy"),
    "goal_held": (facts(goal(), slo_p99_seconds=0.2), "p99 100 ms"),
    "goal_missed": (facts(builders.goal_stage(1, 4.3), slo_p99_seconds=0.2), "p99 4,300 ms"),
    "pods_limit": (facts(builders.stage()), "each pod used 0.98 of 1 core"),
    "unread": (facts(builders.stage(cpu_seconds=None), unread="the pods could not be read"), "could not be read"),
    "not_saturated": (facts(builders.stage(cpu_seconds=3.0)), "used only 0.50 of 1 core; raise --users"),
}


@pytest.mark.parametrize("code", [rule.code for rule in RULES])
def test_each_rule_finds_its_case_and_says_the_figures(code: str) -> None:
    """The verdict has the code and the evidence, and the stage is valid only where the rule says so."""
    case, evidence = CASES[code]
    judged = judge(case)
    found = {verdict.code: verdict.evidence for verdict in judged.verdicts}
    assert evidence in found[code]
    voids = {rule.code for rule in RULES if rule.voids}
    assert judged.valid == (not voids & set(found))
    if code in voids:
        assert not judged.valid


def test_clean_stages_are_valid_and_nothing_is_held_against_them() -> None:
    """Capacity at the pods' limit, a goal stage with room, and pods that sleep have no spoiling verdict."""
    assert [v.code for v in judge(facts(builders.stage(3))).verdicts] == ["pods_limit"]
    assert judge(facts(goal())).verdicts == []
    asleep = facts(builders.stage(cpu_seconds=0.1), cores_per_pod=float("inf"), mean_queue_seconds=0.25)
    assert [v.code for v in judge(asleep).verdicts] == ["pods_limit"]


def test_what_is_unknown_is_never_a_finding() -> None:
    """A stage of a foreign service, with no CPU, no pods and no generator figures, is valid and says nothing."""
    bare = builders.stage(
        cpu_seconds=None, node_cpu_fraction=None, requests_by_pod={"unknown": 300}, generator=None, memory_bytes=None
    )
    judged = judge(facts(bare, identified=False, cores_per_pod=float("inf")))
    assert judged.verdicts == []
    assert judged.valid


def test_chance_alone_is_not_called_unbalanced() -> None:
    """Few requests spread unevenly by chance; the rule asks for more than four standard deviations."""
    few = builders.stage(2, requests_by_pod={"a": 14, "b": 8}, requests=22)
    assert "unbalanced" not in {v.code for v in judge(facts(few)).verdicts}


def test_late_sends_void_an_open_stage_alone() -> None:
    """A closed user has no schedule to be late for."""
    late = builders.generator(late=100)
    assert "generator_saturated" in {v.code for v in judge(facts(goal(generator=late))).verdicts}
    assert "generator_saturated" not in {v.code for v in judge(facts(builders.stage(generator=late))).verdicts}
    burst = goal(generator=late, purpose="burst")
    assert "generator_saturated" not in {v.code for v in judge(facts(burst)).verdicts}


def test_errors_are_a_finding_for_a_goal_and_void_a_capacity() -> None:
    """One pod too few answers with timeouts: that is the proof that it does not hold, not a broken stage."""
    assert judge(facts(goal(errors={"timeout": 400}))).valid
    assert not judge(facts(builders.stage(errors={"timeout": 100}))).valid


@pytest.mark.parametrize(("arrivals", "missed"), [("poisson", False), ("constant", True)])
def test_what_chance_takes_from_poisson_arrivals_is_no_fault(arrivals: str, missed: bool) -> None:
    """52 of 64 arrivals: within three standard deviations of a Poisson stream, but missed by evenly spaced ones."""
    asked = builders.asked(model="open", arrivals=arrivals, rate_per_second=16.0, users=None, measure_seconds=4)
    stage = builders.stage(1, purpose="load", asked=asked, measured_seconds=4.0, arrivals=52, requests=52)
    codes = {verdict.code for verdict in judge(facts(stage)).verdicts}
    assert ("rate_missed" in codes) is missed


def test_nodes_that_nobody_may_ask_are_full_when_the_pods_alone_fill_them() -> None:
    """What pods used is the least that was busy; where that says nothing, the doubt is printed and no core invented."""
    full = facts(builders.stage(4, cpu_seconds=23.0, node_cpu_fraction=None))
    assert "node_full" in {v.code for v in judge(full).verdicts}
    idle = judge(facts(builders.stage(2, cpu_seconds=4.0, node_cpu_fraction=None)))
    assert "unless the nodes were full" in idle.verdicts[-1].evidence
    unknown = facts(builders.stage(4, cpu_seconds=23.0, node_cpu_fraction=None), cores=None)
    assert "node_full" not in {v.code for v in judge(unknown).verdicts}


def test_a_quarter_core_pod_is_the_limit_and_so_is_its_quota() -> None:
    """Both verdicts stand beside each other: the pods are busy, and the quota is what stops them."""
    throttled = Throttled(periods=60, throttled_periods=50, seconds=3.0)
    stage = builders.stage(4, cpu_seconds=5.8, throttled=throttled, node_cpu_fraction=None)
    assert [v.code for v in judge(facts(stage, cores_per_pod=0.25)).verdicts] == ["throttled", "pods_limit"]


def test_pods_that_a_quota_stops_now_and_then_are_not_saturated() -> None:
    """Stopped in some periods and idle in others: few users, or a node that gives less; either way it is said."""
    throttled = Throttled(periods=60, throttled_periods=20, seconds=1.0)
    stage = builders.stage(4, cpu_seconds=1.7, throttled=throttled, node_cpu_fraction=None)
    assert [v.code for v in judge(facts(stage, cores_per_pod=0.25)).verdicts] == ["throttled", "not_saturated"]


def test_pods_whose_jobs_sleep_are_not_judged_by_their_cpu() -> None:
    """They use none, however busy they are: what tells is how long requests wait."""
    asked = msgspec.structs.replace(builders.asked(users=16), options={"clock": "sleep"})
    stage = builders.stage(1, asked=asked, cpu_seconds=0.1)
    assert [v.code for v in judge(facts(stage, mean_queue_seconds=1.0)).verdicts] == ["pods_limit"]
