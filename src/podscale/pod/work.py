"""The units of work that a request asks for: each runs on the loop or in a child, and says what it cost."""

from podscale.pod.jobs import Clock, Cost, burn, measured
from podscale.pod.primes import (
    NumberAlgorithm,
    NumberTest,
    PrimeList,
    PrimesAlgorithm,
    check_number,
    preload,
    primes_up_to,
)


def burn_for(seconds: float, clock: Clock) -> tuple[None, Cost]:
    """Keep the CPU busy."""
    return measured(lambda: burn(seconds, clock))


def list_primes(limit: int, algorithm: PrimesAlgorithm) -> tuple[PrimeList, Cost]:
    """All primes up to `limit`; loading the libraries is not part of the cost."""
    preload()
    return measured(lambda: primes_up_to(limit, algorithm))


def try_number(number: int, algorithm: NumberAlgorithm) -> tuple[NumberTest, Cost]:
    """Whether `number` is prime; loading the libraries is not part of the cost."""
    preload()
    return measured(lambda: check_number(number, algorithm))
