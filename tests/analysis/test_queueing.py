"""Response times against closed forms, textbook series and an independent simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from podscale.analysis.queueing import (
    HIGHEST_UTILISATION,
    Arrivals,
    md1_mean_wait_seconds,
    random_choice_quantile,
    shared_queue_quantile,
    utilisation,
    wait_probability,
)

SERVICE_SECONDS = 0.05


def erlang_md1(wait_seconds: float, rate_per_second: float, service_seconds: float) -> float:
    """Erlang's series of 1909 for P(wait <= t) in M/D/1: right for short waits, useless for long ones."""
    terms = range(math.floor(wait_seconds / service_seconds) + 1)
    ages = [rate_per_second * (k * service_seconds - wait_seconds) for k in terms]
    series = sum(age**k / math.factorial(k) * math.exp(-age) for k, age in zip(terms, ages, strict=True))
    return (1 - rate_per_second * service_seconds) * series


def erlang_c(offered: float, servers: int) -> float:
    """P(wait > 0) in M/M/c, by the recursion of Erlang's loss formula."""
    blocked = 1.0
    for count in range(1, servers + 1):
        blocked = offered * blocked / (count + offered * blocked)
    return blocked / (1 - offered / servers * (1 - blocked))


def cosmetatos_mean_wait(offered: float, servers: int) -> float:
    """Cosmetatos's approximation of the mean wait in M/D/c, in service times."""
    busy = offered / servers
    markov = erlang_c(offered, servers) / (servers - offered)
    return (1 + (1 - busy) * (servers - 1) * (math.sqrt(4 + 5 * servers) - 2) / (16 * busy * servers)) * markov / 2


def mean_wait(rate_per_second: float, service_seconds: float, servers: int) -> float:
    """The mean that our distribution has: the integral of P(wait > t), service time by service time."""
    total = 0.0
    for k in range(200):
        total += quad(
            lambda t: 1 - wait_probability(t, rate_per_second, service_seconds, servers),
            k * service_seconds,
            (k + 1) * service_seconds,
        )[0]
    return total


def simulated_responses(
    rng: np.random.Generator, arrivals: Arrivals, busy: float, pods: int, shared: bool
) -> list[float]:
    """Response times in service times of 200,000 requests, by following each pod's next free moment."""
    count, free = 200_000, [0.0] * pods
    spacing = 1 / (busy * pods)
    gaps = rng.exponential(spacing, count) if arrivals == "poisson" else np.full(count, spacing)
    dealt = rng.integers(0, pods, count)
    responses = []
    for moment, pod in zip(np.cumsum(gaps), dealt, strict=True):
        chosen = min(range(pods), key=free.__getitem__) if shared else int(pod)
        free[chosen] = max(free[chosen], float(moment)) + 1
        responses.append(free[chosen] - float(moment))
    return responses


@pytest.mark.parametrize("busy", [0.1, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("wait", [0.0, 0.3, 1.0, 1.7, 4.2])
def test_md1_agrees_with_erlangs_series(busy: float, wait: float) -> None:
    """Where the textbook's alternating series is still exact, both give the same probability."""
    assert wait_probability(wait, busy, 1.0) == pytest.approx(erlang_md1(wait, busy, 1.0), abs=1e-9)


@pytest.mark.parametrize("busy", [0.2, 0.5, 0.8, 0.9])
def test_md1_has_the_mean_of_pollaczek_and_khinchine(busy: float) -> None:
    """The distribution integrates to the closed form of the mean."""
    rate = busy / SERVICE_SECONDS
    assert mean_wait(rate, SERVICE_SECONDS, 1) == pytest.approx(md1_mean_wait_seconds(rate, SERVICE_SECONDS), rel=1e-4)


@pytest.mark.parametrize("servers", [2, 4, 8])
@pytest.mark.parametrize("busy", [0.6, 0.8, 0.9])
def test_mdc_has_the_mean_of_cosmetatos(busy: float, servers: int) -> None:
    """The mean of the shared queue is within 2 % of the well-known approximation, which is no better than that."""
    expected = cosmetatos_mean_wait(busy * servers, servers)
    assert mean_wait(busy * servers, 1.0, servers) == pytest.approx(expected, rel=0.02)


def test_a_long_wait_keeps_its_digits() -> None:
    """At 60 service times, where the alternating series has lost all, the tail still falls by its fixed ratio."""
    tail = [1 - wait_probability(wait, 0.9, 1.0) for wait in (58.0, 59.0, 60.0)]
    assert 0 < tail[2] < tail[1] < tail[0] < 1e-4
    assert tail[2] / tail[1] == pytest.approx(tail[1] / tail[0], rel=1e-3)
    assert abs(1 - erlang_md1(60.0, 0.9, 1.0)) > 1


@pytest.mark.parametrize("arrivals", ["poisson", "constant"])
@pytest.mark.parametrize(("pods", "busy"), [(2, 0.7), (4, 0.8)])
def test_a_simulation_of_its_own_gives_the_same_p99(arrivals: Arrivals, pods: int, busy: float) -> None:
    """Random choice and shared queue agree with pods followed one by one, for both kinds of arrivals."""
    rng = np.random.default_rng(20)
    rate = busy * pods
    for shared, ours in (
        (False, random_choice_quantile(0.99, rate, 1.0, pods, arrivals)),
        (True, shared_queue_quantile(0.99, rate, 1.0, pods, arrivals)),
    ):
        theirs = float(np.quantile(simulated_responses(rng, arrivals, busy, pods, shared=shared), 0.99))
        assert ours == pytest.approx(theirs, rel=0.08)


def test_evenly_spaced_arrivals_never_wait_while_servers_keep_up() -> None:
    """D/D/1 and D/D/c: the response time is the service time."""
    assert random_choice_quantile(0.99, 19, SERVICE_SECONDS, 1, "constant") == SERVICE_SECONDS
    assert shared_queue_quantile(0.999, 76, SERVICE_SECONDS, 4, "constant") == SERVICE_SECONDS


@pytest.mark.parametrize("arrivals", ["poisson", "constant"])
def test_one_shared_queue_beats_random_choice(arrivals: Arrivals) -> None:
    """At 80 % load on 8 servers the p99 of random choice is several times that of one queue."""
    rate = 0.8 * 8 / SERVICE_SECONDS
    chosen = random_choice_quantile(0.99, rate, SERVICE_SECONDS, 8, arrivals)
    shared = shared_queue_quantile(0.99, rate, SERVICE_SECONDS, 8, arrivals)
    assert chosen > 3 * shared


def test_an_idle_queue_takes_the_service_time() -> None:
    """With no or next to no arrivals nobody waits."""
    for rate in (0.0, 1e-300, 1e-6):
        assert shared_queue_quantile(0.99, rate, SERVICE_SECONDS, 2) == SERVICE_SECONDS
        assert random_choice_quantile(0.99, rate, SERVICE_SECONDS, 2, "constant") == pytest.approx(SERVICE_SECONDS)


@pytest.mark.parametrize("arrivals", ["poisson", "constant"])
@pytest.mark.parametrize("busy", [HIGHEST_UTILISATION + 0.001, 1.0, 3.0])
def test_overload_has_no_quantile(arrivals: Arrivals, busy: float) -> None:
    """At and just below the capacity no queue settles within a measurement: without end, not a number."""
    rate = busy * 4 / SERVICE_SECONDS
    assert random_choice_quantile(0.99, rate, SERVICE_SECONDS, 4, arrivals) == math.inf
    assert shared_queue_quantile(0.99, rate, SERVICE_SECONDS, 4, arrivals) == math.inf
    with pytest.raises(ValueError, match="no steady state"):
        wait_probability(0.1, rate, SERVICE_SECONDS, 4)


def test_the_mean_wait_of_an_overloaded_queue_is_without_end() -> None:
    """Pollaczek-Khinchine ends at a utilisation of 1."""
    assert md1_mean_wait_seconds(20, SERVICE_SECONDS) == math.inf


@settings(max_examples=50, deadline=None)  # the first example compiles nothing, but a busy machine may stall any
@given(busy=st.floats(0.01, 0.97), servers=st.integers(1, 16), share=st.floats(0.05, 0.999))
def test_quantile_and_probability_are_inverse(busy: float, servers: int, share: float) -> None:
    """P(response <= quantile) is the quantile's share, or more where even an instant answer is likelier than that."""
    rate = busy * servers / SERVICE_SECONDS
    response = shared_queue_quantile(share, rate, SERVICE_SECONDS, servers)
    reached = wait_probability(response - SERVICE_SECONDS, rate, SERVICE_SECONDS, servers)
    assert reached >= share - 1e-4
    if response > SERVICE_SECONDS:
        assert reached == pytest.approx(share, abs=1e-4)


def test_the_same_question_has_the_same_answer() -> None:
    """The simulated figure is seeded: a report written twice says the same."""
    first, second = (random_choice_quantile(0.99, 56, SERVICE_SECONDS, 4, "constant") for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("rate", "service", "servers"), [(-1.0, 1.0, 1), (1.0, 0.0, 1), (1.0, 1.0, 0), (math.nan, 1.0, 1)]
)
def test_an_impossible_queue_is_an_error(rate: float, service: float, servers: int) -> None:
    """Negative rates, no service time and no servers are mistakes of the caller."""
    with pytest.raises(ValueError, match="no queue"):
        utilisation(rate, service, servers)


@pytest.mark.parametrize("quantile", [0.0, 1.0, 99.0])
def test_a_quantile_lies_between_0_and_1(quantile: float) -> None:
    """99 instead of 0.99 is refused, for both kinds of queue."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        shared_queue_quantile(quantile, 1.0, 0.1, 1)
    with pytest.raises(ValueError, match="between 0 and 1"):
        random_choice_quantile(quantile, 1.0, 0.1, 2, "constant")
