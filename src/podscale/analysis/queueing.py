"""Queueing: how long jobs of one fixed length take in steady state, first come first served.

Letters as in the books: D is the service time in seconds, lambda the arrival rate per second, c the number of
servers. A Service that picks a pod at random makes a queue before each pod; one accept queue in front of n
processes is a single queue with n servers. Arrivals are Poisson (M/D/c) or evenly spaced (D/D/c). Times are in
seconds; `math.inf` means that there is no steady state, or none that a measurement could meet.

Sources: L. Kleinrock, Queueing Systems I, 1975 (Pollaczek-Khinchine, Lindley); H. C. Tijms, A First Course in
Stochastic Models, 2003, section 9.6 (M/D/c); G. J. Franx, "A simple solution for the M/D/c waiting time
distribution", Oper. Res. Lett. 29, 2001, https://doi.org/10.1016/S0167-6377(01)00108-0
"""

import functools
import math
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import lambertw
from scipy.stats import poisson

Arrivals = Literal["constant", "poisson"]
Floats = npt.NDArray[np.float64]

# A queue settles within about 1/(1-u)^2 service times: at 0.99 that is 10,000 jobs, more than a stage has.
HIGHEST_UTILISATION = 0.99
# Evenly spaced arrivals, dealt to that many pods at random, come to each of them all but as a Poisson stream.
_POISSON_FROM_PODS = 32
_SIMULATED_ARRIVALS = 2**20
_SEED = 1909  # the year of Erlang's first paper; a fixed seed gives the same figure every time


def random_choice_quantile(
    quantile: float, rate_per_second: float, service_seconds: float, pods: int, arrivals: Arrivals = "poisson"
) -> float:
    """Quantile of the response time (waiting and service) if each request goes to one of `pods` at random.

    Poisson arrivals: exact, since a Poisson stream split at random is `pods` independent Poisson streams, each before
    a queue M/D/1. Evenly spaced arrivals: simulated, a few per cent exact up to a utilisation of 0.9.
    """
    if pods >= _POISSON_FROM_PODS:
        arrivals = "poisson"
    if arrivals == "poisson" or pods == 1:
        return shared_queue_quantile(quantile, rate_per_second / pods, service_seconds, 1, arrivals)
    _check_quantile(quantile)
    if utilisation(rate_per_second, service_seconds, pods) > HIGHEST_UTILISATION:
        return math.inf
    if rate_per_second == 0:
        return service_seconds
    waits = _waits_behind_a_random_split(1 / rate_per_second, service_seconds, pods)
    return service_seconds + float(np.quantile(waits, quantile))


def shared_queue_quantile(
    quantile: float, rate_per_second: float, service_seconds: float, servers: int, arrivals: Arrivals = "poisson"
) -> float:
    """Quantile of the response time of one queue before `servers`: exact.

    D/D/c never waits while the servers keep up. M/D/c follows from `wait_probability`.
    """
    _check_quantile(quantile)
    if utilisation(rate_per_second, service_seconds, servers) > HIGHEST_UTILISATION:
        return math.inf

    def excess(wait_seconds: float) -> float:
        return wait_probability(wait_seconds, rate_per_second, service_seconds, servers) - quantile

    if arrivals == "constant" or excess(0) >= 0:
        return service_seconds
    beyond = service_seconds
    while excess(beyond) < 0:
        beyond *= 2
    return service_seconds + float(brentq(excess, 0, beyond, xtol=service_seconds * 1e-6))


def utilisation(rate_per_second: float, service_seconds: float, servers: int = 1) -> float:
    """The busy share of `servers`, if they can keep up: lambda D / c. Above 1 the queue grows without end."""
    if not (rate_per_second >= 0 and service_seconds > 0 and servers >= 1):
        raise ValueError(f"no queue: {rate_per_second} per second, {service_seconds} s of service, {servers} servers")
    return rate_per_second * service_seconds / servers


def md1_mean_wait_seconds(rate_per_second: float, service_seconds: float) -> float:
    """Mean waiting time in M/D/1: u D / (2 (1 - u)) (Pollaczek-Khinchine)."""
    busy = utilisation(rate_per_second, service_seconds)
    return busy * service_seconds / (2 * (1 - busy)) if busy < 1 else math.inf


def wait_probability(wait_seconds: float, rate_per_second: float, service_seconds: float, servers: int = 1) -> float:
    """P(waiting time <= `wait_seconds`) in M/D/c.

    Franx: for (k-1) D <= t < kD it is the sum over j < kc of P(at most kc-1-j jobs in the queue) times the Poisson
    probability of j arrivals in kD - t. All terms are positive, so that long waits stay exact, where Crommelin's and
    Erlang's alternating series lose all digits.
    """
    if utilisation(rate_per_second, service_seconds, servers) > HIGHEST_UTILISATION:
        raise ValueError(f"no steady state within reach: {rate_per_second * service_seconds / servers:.3f} busy")
    queued = _queue_length_distribution(rate_per_second * service_seconds, servers)
    services = math.floor(wait_seconds / service_seconds) + 1
    terms = services * servers
    arrivals = poisson.pmf(np.arange(terms), rate_per_second * (services * service_seconds - wait_seconds))
    at_most = queued[np.minimum(np.arange(terms)[::-1], len(queued) - 1)]
    return float(np.sum(arrivals * at_most))


@functools.lru_cache(maxsize=64)
def _queue_length_distribution(offered: float, servers: int) -> Floats:
    """P(at most m jobs wait), m = 0, 1, ..., in M/D/c with `offered` = lambda D below `servers`.

    What is in service at a moment is gone D later, what waits moves up, and a Poisson number has come (Crommelin
    1932): a Markov chain, whose stationary vector is solved for, cut where its tail is below 1e-10. The tail falls
    by a fixed ratio r from state to state, the root above 1 of c ln r = offered (r - 1) (Tijms).
    """
    if offered == 0:
        return np.ones(1)
    busy = offered / servers
    ratio = -float(lambertw(-busy * math.exp(-busy), -1).real) / busy
    length = servers + math.ceil(math.log(1e10) / math.log(ratio)) + 10
    left = np.maximum(np.arange(length) - servers, 0)
    arrived = np.arange(length)[:, None] - left[None, :]
    flow = np.where(arrived >= 0, poisson.pmf(np.arange(length), offered)[np.maximum(arrived, 0)], 0.0)
    balance = flow - np.eye(length)
    balance[0] = 1.0  # one balance equation follows from the others: the sum of all probabilities takes its place
    in_system = np.linalg.solve(balance, np.eye(length)[0])
    return np.asarray(np.minimum(np.cumsum(in_system)[servers:], 1.0), np.float64)


def _waits_behind_a_random_split(spacing_seconds: float, service_seconds: float, pods: int) -> Floats:
    """Waiting times at one of `pods` queues, if evenly spaced arrivals are dealt to them at random.

    Lindley: the work left before arrival k is the distance of the walk sum(D or 0) - k * spacing from its lowest point.
    """
    mine = np.random.default_rng(_SEED).random(_SIMULATED_ARRIVALS) < 1 / pods
    walk = np.cumsum(np.where(mine, service_seconds, 0.0) - spacing_seconds)
    before = np.concatenate([[0.0], walk[:-1]])
    work = before - np.minimum.accumulate(before)
    settled = slice(_SIMULATED_ARRIVALS // 16, None)
    return np.asarray(work[settled][mine[settled]])


def _check_quantile(quantile: float) -> None:
    if not 0 < quantile < 1:
        raise ValueError(f"a quantile lies between 0 and 1, not {quantile}")
