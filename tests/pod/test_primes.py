"""Prime numbers: right answers, exact counts of divisions, short pieces, late imports."""

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from math import isqrt, prod

import pytest

from podscale.pod.primes import (
    LARGEST_LIMIT,
    LARGEST_NUMBER,
    NUMBER_ALGORITHMS,
    PRIMES_ALGORITHMS,
    NumberAlgorithm,
    NumberTest,
    PrimeList,
    PrimesAlgorithm,
    check_number,
    preload,
    primes_up_to,
)

# https://oeis.org/A000040, all below 200.
PRIMES_BELOW_200 = [
    *(2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97),
    *(101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199),
]
# https://oeis.org/A006880 and the count for 10^5.
PRIME_COUNTS = {1: 0, 2: 1, 3: 2, 4: 2, 10: 4, 100: 25, 1000: 168, 10_000: 1229, 100_000: 9592}

# Numbers that tests of primality get wrong, as products; a prime stands alone. The smallest factor named is prime, and
# the loops must stop there.
HARD_NUMBERS: list[tuple[int, ...]] = [
    # Carmichael numbers: https://oeis.org/A002997.
    *((3, 11, 17), (5, 13, 17), (7, 13, 19), (5, 17, 29), (7, 13, 31), (7, 23, 41), (7, 19, 67), (7, 31, 73)),
    # Strong pseudoprimes: to base 2; to 2, 3; to 2, 3, 5; to 2, 3, 5, 7: https://oeis.org/A014233.
    *((23, 89), (829, 1657), (2251, 11251), (151, 751, 28351)),
    # Strong Lucas pseudoprimes, the other half of Baillie-PSW: https://oeis.org/A217255.
    *((53, 103), (53, 109), (73, 149), (89, 181)),
    # Squares and cubes of primes, also beside 2^16, whose square is near 2^32.
    *((7919, 7919), (65521, 65521), (65537, 65537), (1009, 1009, 1009), (46337, 46337)),
    # Products of near primes, at the end of what the roots must reach.
    *((65519, 65521), (65521, 65537), (46337, 46349), (1048571, 1048573), (99989, 99991)),
    # Primes: Fermat's and Mersenne's, around 2^31, 2^32 and 2^40, and the two that the timings use.
    *((65537,), (2**31 - 1,), (2147483659,), (4294967291,), (4294967311,), (2**40 - 87,), (2**40 + 15,)),
    *((100_000_007,), (3_000_000_019,), (1_000_000_007,), (999_999_937,)),
    # Even numbers, powers of two and their neighbours.
    *((2, 2**30), (2, 2**31), (3, 1431655765), (641, 6700417), (2, 3, 5, 7, 11, 13, 17, 19, 23)),
]


def naive_up_to(limit: int, *, to_root: bool) -> PrimeList:
    """The plain loops, one division at a time."""
    primes, divisions = [], 0
    for n in range(2, limit + 1):
        for d in range(2, isqrt(n) + 1 if to_root else n):
            divisions += 1
            if n % d == 0:
                break
        else:
            primes.append(n)
    return PrimeList(primes, divisions)


def naive_number(n: int, *, to_root: bool) -> NumberTest:
    """The plain loop for one number from 2 up."""
    divisions = 0
    for d in range(2, isqrt(n) + 1 if to_root else n):
        divisions += 1
        if n % d == 0:
            return NumberTest(prime=False, divisions=divisions)
    return NumberTest(prime=True, divisions=divisions)


@pytest.mark.parametrize("algorithm", PRIMES_ALGORITHMS)
def test_lists_known_primes(algorithm: PrimesAlgorithm) -> None:
    """Each algorithm gives the table, and the known number of primes."""
    assert primes_up_to(199, algorithm).primes == PRIMES_BELOW_200
    for limit, count in PRIME_COUNTS.items():
        assert len(primes_up_to(limit, algorithm).primes) == count, limit


def test_algorithms_list_the_same_primes() -> None:
    """All algorithms list the same primes up to 100,000, the fast ones also over several segments of numbers."""
    trial, sqrt, sieve = (primes_up_to(100_000, algorithm).primes for algorithm in PRIMES_ALGORITHMS)
    assert trial == sqrt == sieve
    assert all(type(prime) is int for prime in trial)
    million = primes_up_to(1_000_000, "sieve").primes
    assert len(million) == 78_498
    assert primes_up_to(1_000_000, "sqrt").primes == million


def test_segments_join(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut into segments of any size, the lists and counts stay the same, at squares and primes on the seams too."""
    whole = [primes_up_to(2000, algorithm) for algorithm in PRIMES_ALGORITHMS]
    for size in (1, 2, 23, 24, 25, 121, 1000):
        monkeypatch.setattr("podscale.pod.primes._SEGMENT", size)
        assert [primes_up_to(2000, algorithm) for algorithm in PRIMES_ALGORITHMS] == whole, size


def test_list_divisions_are_those_of_the_plain_loops() -> None:
    """For every limit up to 300 and some up to 2,000 the divisions are those of the loops, one by one."""
    for limit in (*range(-1, 301), 961, 1000, 1369, 1999, 2000):
        assert primes_up_to(limit, "trial") == naive_up_to(limit, to_root=False), limit
        assert primes_up_to(limit, "sqrt") == naive_up_to(limit, to_root=True), limit
        assert primes_up_to(limit, "sieve").divisions == 0, limit


def test_list_divisions_to_one_hundred_thousand() -> None:
    """The articles' request, primes to 100,000 by trial division, takes 455,189,150 divisions."""
    assert primes_up_to(100_000, "trial").divisions == 455_189_150


@pytest.mark.parametrize("algorithm", PRIMES_ALGORITHMS)
@pytest.mark.parametrize("limit", [-(10**30), -1, 0, 1])
def test_no_primes_below_two(algorithm: PrimesAlgorithm, limit: int) -> None:
    """Below 2 there is nothing to list and nothing to divide."""
    assert primes_up_to(limit, algorithm) == PrimeList([], 0)


@pytest.mark.parametrize("algorithm", NUMBER_ALGORITHMS)
def test_numbers_to_ten_thousand(algorithm: NumberAlgorithm) -> None:
    """Each algorithm knows every number up to 10,000 as the sieve does."""
    primes = set(primes_up_to(10_000, "sieve").primes)
    assert {n for n in range(-5, 10_001) if check_number(n, algorithm).prime} == primes


def test_number_divisions_are_those_of_the_plain_loops() -> None:
    """For every number up to 2,000 the divisions are those of the loops; `exhaustive` makes n - 2 of them."""
    for n in range(2, 2001):
        assert check_number(n, "trial") == naive_number(n, to_root=False), n
        assert check_number(n, "sqrt") == naive_number(n, to_root=True), n
        assert check_number(n, "exhaustive").divisions == n - 2, n
        assert check_number(n, "fast").divisions == 0, n


@pytest.mark.parametrize("algorithm", NUMBER_ALGORITHMS)
@pytest.mark.parametrize("number", [-(2**70), -7, -1, 0, 1])
def test_below_two_is_not_prime(algorithm: NumberAlgorithm, number: int) -> None:
    """0, 1 and negative numbers are not prime, without a division."""
    assert check_number(number, algorithm) == NumberTest(prime=False, divisions=0)


def test_hard_numbers() -> None:
    """Primes, semiprimes and numbers that fool weaker tests: all algorithms give the truth and their own count.

    `sqrt` and `fast` try all. `trial` tries composites, where it stops at the least factor, and primes below 200
    million. `exhaustive` tries numbers below 50 million. The largest of these take a tenth of a second each.
    """
    assert len({prod(factors) for factors in HARD_NUMBERS}) >= 40
    for factors in HARD_NUMBERS:
        number, prime = prod(factors), len(factors) == 1
        to_least_factor = min(factors) - 1
        assert check_number(number, "fast") == NumberTest(prime, 0), number
        assert check_number(number, "sqrt") == NumberTest(prime, isqrt(number) - 1 if prime else to_least_factor)
        if not prime or number < 200_000_000:
            assert check_number(number, "trial") == NumberTest(prime, number - 2 if prime else to_least_factor)
        if number < 50_000_000:
            assert check_number(number, "exhaustive") == NumberTest(prime, number - 2), number


def test_largest_numbers() -> None:
    """Close to 2^53 the float64 quotients are still exact: large factors are found, and none where there is none."""
    largest_prime = 2**53 - 111
    assert check_number(largest_prime, "sqrt") == NumberTest(prime=True, divisions=isqrt(largest_prime) - 1)
    assert check_number(largest_prime, "fast").prime
    primes = [n for n in range(94_906_000, isqrt(2**53) + 1) if check_number(n, "fast").prime]
    for number, factor in ((primes[-1] ** 2, primes[-1]), (primes[-1] * primes[-2], primes[-2])):
        assert 2**53 - number < 10**12
        assert check_number(number, "sqrt") == NumberTest(prime=False, divisions=factor - 1)
        assert not check_number(number, "fast").prime
    for number in range(LARGEST_NUMBER - 200, LARGEST_NUMBER + 1):
        least_factor = next((d for d in range(2, 10_000) if number % d == 0), None)
        if least_factor:
            assert check_number(number, "sqrt") == NumberTest(prime=False, divisions=least_factor - 1)


def test_refuses_what_is_not_exact() -> None:
    """Beyond exact arithmetic, and for a name that does not exist, there is an error with the limit and no answer."""
    with pytest.raises(ValueError, match=f"up to {LARGEST_LIMIT} at most"):
        primes_up_to(LARGEST_LIMIT + 1, "sieve")
    with pytest.raises(ValueError, match=f"up to {LARGEST_NUMBER} at most"):
        check_number(LARGEST_NUMBER + 1, "fast")
    with pytest.raises(ValueError, match="choose one of trial, sqrt, sieve"):
        primes_up_to(10, "fast")  # type: ignore[arg-type]  # the mistake is the point
    with pytest.raises(ValueError, match="choose one of exhaustive, trial, sqrt, fast"):
        check_number(10, "sieve")  # type: ignore[arg-type]  # the mistake is the point


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(lambda: primes_up_to(100_000, "trial"), id="primes-trial"),
        pytest.param(lambda: primes_up_to(2_000_000, "sqrt"), id="primes-sqrt"),
        pytest.param(lambda: primes_up_to(10_000_000, "sieve"), id="primes-sieve"),
        pytest.param(lambda: check_number(100_000_007, "exhaustive"), id="number-exhaustive"),
        pytest.param(lambda: check_number(2**53 - 111, "sqrt"), id="number-sqrt"),
    ],
)
def test_other_threads_get_their_turn(job: Callable[[], object]) -> None:
    """While a job computes, another thread runs at least every 50 ms.

    Other programs can only widen the gaps, so the best of some tries tells; a call that holds the interpreter for
    longer shows in all of them.
    """
    preload()
    assert any(longest_gap_seconds(job) < 0.05 for _ in range(5))


def longest_gap_seconds(job: Callable[[], object]) -> float:
    """The longest time during `job` in which a thread that wakes each millisecond did not run."""
    moments: list[float] = []
    done = threading.Event()

    def observe() -> None:
        while not done.is_set():
            moments.append(time.perf_counter())
            time.sleep(0.001)

    observer = threading.Thread(target=observe)
    observer.start()
    start = time.perf_counter()
    job()
    end = time.perf_counter()
    done.set()
    observer.join()
    during = [start, *(moment for moment in moments if start < moment < end), end]
    return max(later - earlier for earlier, later in itertools.pairwise(during))


def test_imports_late() -> None:
    """Importing the module brings neither numpy nor gmpy2; preload brings both, with no threads of a BLAS."""
    code = """
import os, sys
from podscale.pod import primes
assert not {"numpy", "gmpy2"} & set(sys.modules)
primes.preload()
assert {"numpy", "gmpy2"} <= set(sys.modules)
assert len(os.listdir("/proc/self/task")) == 1
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)
