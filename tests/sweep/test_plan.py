"""Tests of the plan: options that fit together, and the stages that follow."""

import itertools
from pathlib import Path
from typing import Any

import msgspec
import pytest

from podscale.sweep.options import OWN, SCENARIOS, OptionError
from podscale.sweep.plan import Plan, capacity_stages, default_sizes, estimate_seconds, goal_stage, make_plan
from tests.sweep.builders import plan


def test_default_sizes_reach_the_cores_and_end_within_three_minutes() -> None:
    """From 2 to 16 cores the sizes start at one, come near the cores, and the plan takes under three minutes."""
    for cores in range(2, 17):
        sizes = default_sizes(cores)
        assert sizes[0] == 1
        assert cores / 2 < sizes[-1] <= cores
        assert estimate_seconds(make_plan(cores=cores)) < 180


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sizes": []}, "--sizes is empty"),
        ({"sizes": [0]}, "0 is not between 1 and 64"),
        ({"sizes": [65]}, "65 is not between 1 and 64"),
        ({"sizes": [-2]}, "-2 is not between"),
        ({"sizes": [2, 1, 2]}, "names a size twice: 1,2,2"),
        ({"model": "open"}, "--model open needs --rate"),
        ({"connections": "sometimes"}, "'sometimes' is not new, keep or a number"),
        ({"connections": "0"}, "'0' is not new"),
        ({"connections": "٣"}, "is not new"),
        ({"locustfile": "/no/such/file.py"}, "there is no file /no/such/file.py"),
        ({"url": "localhost:8000"}, "does not start with http"),
        ({"url": "http://127.0.0.1:1", "sizes": [1]}, "leave --sizes out"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_words(given: dict[str, Any], message: str) -> None:
    """Each mistake is named with its value and what is allowed."""
    with pytest.raises(OptionError, match=message):
        plan(**given)


def test_every_repeat_has_every_size_in_an_order_of_its_own() -> None:
    """Sizes are shuffled within each repeat, by the seed, so that a drift of the machine does not look like scaling."""
    stages = list(capacity_stages(plan(sizes=[1, 2, 3, 4, 5, 6], repeats=4)))
    by_repeat = [[stage.size for stage in stages if stage.repeat == repeat] for repeat in range(1, 5)]
    assert all(sorted(sizes) == [1, 2, 3, 4, 5, 6] for sizes in by_repeat)
    assert len({tuple(sizes) for sizes in by_repeat}) > 1
    assert stages == list(capacity_stages(plan(sizes=[1, 2, 3, 4, 5, 6], repeats=4)))


def test_closed_users_grow_with_the_pods_and_an_open_rate_does_not() -> None:
    """Users are for each pod, the rate is of all pods together."""
    closed = {stage.size: stage.asked.users for stage in capacity_stages(plan(sizes=[1, 4], users_per_pod=10))}
    assert closed == {1: 10, 4: 40}
    opened = list(capacity_stages(plan(sizes=[1, 4], model="open", rate_per_second=30.0)))
    assert {stage.asked.rate_per_second for stage in opened} == {30.0}
    assert {stage.purpose for stage in opened} == {"goal"}


def test_a_goal_stage_is_open_and_longer() -> None:
    """It offers the rate with the plan's arrivals, over twice the window of a capacity stage."""
    stage = goal_stage(plan(stage_seconds=4.0), 2, 35.0)
    assert (stage.asked.model, stage.asked.arrivals, stage.asked.rate_per_second) == ("open", "poisson", 35.0)
    assert stage.asked.users is None
    assert stage.asked.measure_seconds == 8.0


def test_work_options_reach_only_the_scenarios_that_know_them() -> None:
    """`--cpu-time-ms` goes to blocking and worker; a locustfile of one's own gets `--option` alone."""
    assert plan(cpu_time_ms=5.0).work == {"cpu_time_ms": 5.0, "clock": "cpu"}
    assert plan(scenario="timestamp").work == {}
    assert plan(scenario="primes", options={"limit": 2000}).work == {"limit": 2000}
    own = plan(locustfile=__file__, options={"x": "y"})
    assert own.work == {"x": "y"}
    assert own.user_class is None


def test_every_scenario_is_a_locustfile_with_its_class() -> None:
    """The scenario table names files and classes that exist."""
    for name, scenario in SCENARIOS.items():
        if scenario.user_class is None:
            assert name == OWN  # it is Locust's own file
            continue
        text = (Path(__file__).parents[2] / "loadtest" / f"{name}.py").read_text()
        assert f"class {scenario.user_class}(" in text


def test_locust_gets_the_cores_that_pods_leave() -> None:
    """One worker for each free core, between one and four."""
    assert plan(cores=2, sizes=[1, 2]).locust_workers == 1
    assert plan(cores=8, sizes=[1, 4]).locust_workers == 4
    assert plan(cores=8, sizes=[1, 6]).locust_workers == 2
    assert plan(cores=8, sizes=[1, 6], locust_workers=7).locust_workers == 7


def test_a_plan_survives_its_way_through_the_result_file() -> None:
    """A resumed sweep reads the very plan that was written."""
    first = plan(sizes=[1, 3], options={"limit": 5}, slo_p99_ms=250.0)
    assert msgspec.json.decode(msgspec.json.encode(first), type=Plan) == first


def test_a_deployment_is_scaled_on_a_cluster_and_options_that_do_not_fit_are_refused() -> None:
    """--deployment alone means kubernetes; what belongs to another target is refused with the way that fits."""
    found = plan(deployment="shop")
    assert (found.target, found.sizes, found.locust_workers) == ("kubernetes", [1, 2, 4], 0)
    assert plan().target == "local"
    for given, message in (
        ({"target": "kubernetes"}, "needs --deployment"),
        ({"deployment": "shop", "target": "local"}, "--deployment is for --target kubernetes"),
        ({"deployment": "shop", "url": "http://x"}, "leave out --target and --deployment"),
        ({"deployment": "shop", "locustfile": "/dev/null"}, "set-file locust.locustfile"),
        ({"deployment": "shop", "locust_workers": 2}, "scale Locust's Deployment"),
        ({"deployment": "shop", "model": "open", "rate_per_second": 5000.0}, "--max-rate raises"),
        ({"deployment": "shop", "stage_seconds": 3600.0}, "--max-minutes raises"),
        ({"deployment": "shop", "sizes": [100]}, "--max-pods raises"),
        ({"scenario": "own"}, "--scenario own is for --deployment"),
    ):
        with pytest.raises(OptionError, match=message):
            plan(**given)
    assert plan(deployment="shop", sizes=[100], max_pods=100).sizes == [100]


def test_on_a_cluster_sizes_fall_and_each_takes_every_place() -> None:
    """A pod that comes costs seconds and one that goes none: one step up in a repeat, at another place each time."""
    stages = list(capacity_stages(plan(deployment="shop", sizes=[1, 2, 3, 4], repeats=4)))
    rounds = [[stage.size for stage in stages[first : first + 4]] for first in (0, 4, 8, 12)]
    for sizes in rounds:
        assert sorted(sizes) == [1, 2, 3, 4]
        assert sum(after > before for before, after in itertools.pairwise(sizes)) <= 1
    assert all(sorted(place) == [1, 2, 3, 4] for place in zip(*rounds, strict=True))
