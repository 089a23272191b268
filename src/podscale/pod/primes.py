"""Prime numbers by honest hard work: the divisions of the plainest loops, done many at a time and counted.

The plainest loop divides each number n by d = 2, 3, 4, ... below n and stops at the first divisor. Here numpy divides
many numbers by one d at once; the work is a real quotient for each pair (n, d), no pair is left out and none is added.
Every numpy call takes well under a millisecond, so other threads of the process get their turn.

numpy and gmpy2 are imported on first use: a pod that never computes primes does not carry their memory.
"""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    UInt32s = NDArray[np.uint32]

PrimesAlgorithm = Literal["trial", "sqrt", "sieve"]
NumberAlgorithm = Literal["exhaustive", "trial", "sqrt", "fast"]
PRIMES_ALGORITHMS: tuple[PrimesAlgorithm, ...] = get_args(PrimesAlgorithm)
NUMBER_ALGORITHMS: tuple[NumberAlgorithm, ...] = get_args(NumberAlgorithm)

# Above these the arithmetic below would no longer be exact: uint32 for lists, float64 for single numbers.
LARGEST_LIMIT = 2**32 - 1
LARGEST_NUMBER = 2**53 - 1

# Numbers of a list that are worked on together, and divisions in one numpy call. With 65,536 the buffers (a third of a
# megabyte) stay in the second-level cache, and the cost of calling numpy is small beside the divisions.
_SEGMENT = 1 << 18
_BLOCK = 1 << 16
# A single number's divisors come in blocks that grow from _FIRST_BLOCK to _NUMBER_BLOCK, so that a number with a small
# divisor costs few divisions beyond it.
_FIRST_BLOCK = 1 << 6
_NUMBER_BLOCK = 1 << 15


@dataclass(frozen=True, slots=True)
class PrimeList:
    """All primes up to a limit, rising, and how many divisions the algorithm's loop takes to find them."""

    primes: list[int]
    divisions: int


@dataclass(frozen=True, slots=True)
class NumberTest:
    """Whether a number is prime, and how many divisions the algorithm's loop takes to tell."""

    prime: bool
    divisions: int


def preload() -> None:
    """Import numpy and gmpy2 by a tiny job each, so that no later job's CPU seconds hold the cost of the import."""
    # Importing numpy makes OpenBLAS start a thread for each core of the node, which costs memory and can exceed a
    # container's limit of threads (https://github.com/numpy/numpy/issues/17856). Nothing here uses BLAS.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    primes_up_to(2, "trial")
    check_number(2, "fast")


def primes_up_to(limit: int, algorithm: PrimesAlgorithm) -> PrimeList:
    """All primes from 2 to `limit`; none where `limit` is below 2.

    Args:
        limit: at most LARGEST_LIMIT, else ValueError.
        algorithm: `trial` divides each number by every smaller one from 2 until the first divisor; `sqrt` the same up
            to the square root; `sieve` is Eratosthenes', which crosses out multiples and divides nothing: its
            `divisions` are 0.
    """
    if limit > LARGEST_LIMIT:
        raise ValueError(f"limit is {limit}: primes are listed up to {LARGEST_LIMIT} at most")
    if algorithm == "sieve":
        return PrimeList(_sieve(limit), 0)
    if algorithm not in PRIMES_ALGORITHMS:
        raise ValueError(f"unknown algorithm {algorithm!r}: choose one of {', '.join(PRIMES_ALGORITHMS)}")
    primes: list[int] = []
    divisions = 0
    for low in range(2, limit + 1, _SEGMENT):
        segment = _divide_segment(low, min(low + _SEGMENT, limit + 1), to_root=algorithm == "sqrt")
        primes += segment.primes
        divisions += segment.divisions
    return PrimeList(primes, divisions)


def check_number(number: int, algorithm: NumberAlgorithm) -> NumberTest:
    """Whether `number` is prime. 0, 1 and negative numbers are not; 2 and 3 are.

    Args:
        number: at most LARGEST_NUMBER, else ValueError.
        algorithm: `exhaustive` divides by every d from 2 to number - 1 without an early stop (number - 2 divisions);
            `trial` stops at the first divisor; `sqrt` stops there or at the square root; `fast` is gmpy2's strong
            Baillie-PSW test, which divides nothing in this sense: its `divisions` are 0.

    `trial` and `sqrt` count the divisions up to the first divisor; the block in which it lies is finished, which is at
    most as many again.
    """
    if number > LARGEST_NUMBER:
        raise ValueError(f"number is {number}: numbers are tested up to {LARGEST_NUMBER} at most")
    if algorithm not in NUMBER_ALGORITHMS:
        raise ValueError(f"unknown algorithm {algorithm!r}: choose one of {', '.join(NUMBER_ALGORITHMS)}")
    if number < 2:
        return NumberTest(prime=False, divisions=0)
    if algorithm == "fast":
        return NumberTest(_passes_baillie_psw(number), 0)
    stop = math.isqrt(number) + 1 if algorithm == "sqrt" else number
    return _divide_number(number, stop, every_divisor=algorithm == "exhaustive")


def _divide_segment(low: int, high: int, *, to_root: bool) -> PrimeList:
    """The primes n with low <= n < high, by dividing all n that have no divisor yet by d = 2, 3, 4, ... at once.

    A number is done when d reaches its end: n itself, or one past its root. As numbers and ends rise, those that are
    done stand in front. Up to the root of the largest number one d is taken at a time, so that a number leaves at its
    first divisor; beyond it no number can leave, and several d share a call without a division more or less.
    """
    import numpy as np  # noqa: PLC0415 - an idle pod does without numpy

    numbers = np.arange(low, high, dtype=np.uint32)
    # float64 roots of 32-bit numbers are exact when floored.
    ends = np.sqrt(numbers).astype(np.uint32) + np.uint32(1) if to_root else numbers
    root = math.isqrt(high - 1)
    size = max(_BLOCK, numbers.size)
    quotients, hits = np.empty(size, np.uint32), np.empty(size, np.bool_)
    primes: list[int] = []
    divisions, d = 0, 2
    while numbers.size:
        if ends[0] <= d:
            done = int(np.searchsorted(ends, np.uint32(d), side="right"))
            primes += numbers[:done].tolist()
            numbers, ends = numbers[done:], ends[done:]
            continue
        rows = 1 if d <= root else max(1, min(_BLOCK // numbers.size, int(ends[0]) - d))
        divided = _divides(numbers, d, rows, quotients, hits)
        divisions += rows * numbers.size
        if divided.any():
            undivided = ~divided.any(axis=0)
            numbers, ends = numbers[undivided], ends[undivided]
        d += rows
    return PrimeList(primes, divisions)


def _divides(
    numbers: "UInt32s", first: int, rows: int, quotients: "UInt32s", hits: "NDArray[np.bool_]"
) -> "NDArray[np.bool_]":
    """Whether first, first + 1, ... (`rows` of them) divide each number: shape (rows, numbers), a view of `hits`.

    numpy divides a whole row by one divisor with vector instructions, which it does not where each element has a
    divisor of its own: https://github.com/numpy/numpy/pull/18178.
    """
    import numpy as np  # noqa: PLC0415 - an idle pod does without numpy

    shape = rows, numbers.size
    divisors = np.arange(first, first + rows, dtype=np.uint32)[:, np.newaxis]
    quotient, hit = (buffer[: rows * numbers.size].reshape(shape) for buffer in (quotients, hits))
    np.floor_divide(numbers, divisors, out=quotient)
    np.multiply(quotient, divisors, out=quotient)
    return np.equal(quotient, numbers, out=hit)


def _sieve(limit: int) -> list[int]:
    """The sieve of Eratosthenes, segment by segment: each call is short, and only the list grows with the limit."""
    import numpy as np  # noqa: PLC0415 - an idle pod does without numpy

    base = _sieve(math.isqrt(limit)) if limit >= 4 else []
    primes: list[int] = []
    for low in range(2, limit + 1, _SEGMENT):
        is_prime = np.ones(min(_SEGMENT, limit + 1 - low), np.bool_)
        for prime in base:
            # Smaller multiples of the prime have a smaller factor, which has crossed them out.
            first = max(prime * prime, -(-low // prime) * prime)
            is_prime[first - low :: prime] = False
        primes += (np.flatnonzero(is_prime) + low).tolist()
    return primes


def _divide_number(number: int, stop: int, *, every_divisor: bool) -> NumberTest:
    """Divide `number` by d = 2, 3, ... below `stop`: to the end, or to the first divisor.

    d divides n where the float64 quotient is whole. Below 2^53 that is exact: a quotient that is not whole lies at
    least 1/d from the next whole number, and rounding moves it by at most n/d * 2^-53 < 1/d.
    """
    import numpy as np  # noqa: PLC0415 - an idle pod does without numpy

    quotients, floors = np.empty(_NUMBER_BLOCK), np.empty(_NUMBER_BLOCK)
    hits = np.empty(_NUMBER_BLOCK, np.bool_)
    offsets = np.arange(_NUMBER_BLOCK, dtype=np.float64)
    divisors = np.empty(_NUMBER_BLOCK)
    prime = True
    for first, count in _blocks(2, stop):
        block = slice(count)
        np.add(offsets[block], float(first), out=divisors[block])
        np.divide(float(number), divisors[block], out=quotients[block])
        np.floor(quotients[block], out=floors[block])
        np.equal(quotients[block], floors[block], out=hits[block])
        if hits[block].any():
            prime = False
            if not every_divisor:
                divisor = first + int(hits[block].argmax())
                return NumberTest(prime, divisor - 1)
    return NumberTest(prime, max(0, stop - 2))


def _blocks(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Cut start <= d < stop into (first, count), with counts that double up to _NUMBER_BLOCK."""
    first, count = start, _FIRST_BLOCK
    while first < stop:
        count = min(count, stop - first)
        yield first, count
        first += count
        count = min(2 * count, _NUMBER_BLOCK)


def _passes_baillie_psw(number: int) -> bool:
    """A strong Baillie-PSW test, which no composite below 2^64 passes: https://arxiv.org/abs/2006.14425 (section 1).

    gmpy2 before 2.2 left out the strong half: https://github.com/aleaxit/gmpy/issues/423.
    """
    import gmpy2  # type: ignore[import-untyped]  # noqa: PLC0415 - has no types; an idle pod does without gmpy2

    return bool(gmpy2.is_strong_bpsw_prp(number))
