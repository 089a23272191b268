"""The rows of the third article: a list of primes on four cores, a process that crashed, and a better algorithm.

Facts are given in our words. n is the number of cores, or of pods with equal limits on a cluster.
"""

from podscale.sweep.reproduce.row import Article, Claim, Closed, Of, Open, Options, Row, Setup, Step

_TRIAL: Options = {"limit": 100_000, "algorithm": "trial"}
# Three times the article's list, the longest that a pod allows by default: a sieve of the shorter one takes less time
# than writing its answer.
_LONG_LIMIT = 300_000
# Who waits for an answer chooses a pod by chance: with ten for each, four pods were idle for a 20th of the time.
_SO_MANY = Closed(users=20)
_N_PODS = Setup(pods="n")
_N_WORKERS = Setup(processes="n")

PRIMES = Row(
    name="primes",
    article=Article(
        system="All primes to 100,000 by trial division, one process against PM2 on 4 cores. 100 requests on 10 "
        "connections.",
        headline="all answered after 56.717 s, before that after 214.98 s; median 6 s, before that 19 s",
        ratio=214.98 / 56.717,
    ),
    runs="the same list from one pod and from n pods, saturated by 20 users for each",
    steps=tuple(
        Step(
            name=name,
            setup=setup,
            scenario="primes",
            options=_TRIAL,
            load=_SO_MANY,
            seconds=60.0,
            timeout_seconds=120.0,
            shortened=("limit",),
        )
        for name, setup in (("one pod", Setup()), ("n pods", _N_PODS))
    ),
    claims=(
        Claim(
            says="n pods answer n times as much as one",
            top=Of("throughput", "n pods"),
            bottom=Of("throughput", "one pod"),
            low=0.75,
            low_with_quota=0.95,
            high=1.1,
            power=1,
        ),
    ),
    shows=("throughput", "median"),
    why="Work that is all CPU grows with the cores. Here the load generator runs on the same cores where there is no "
    "cluster. Ours tries the same divisors in compiled loops, so that a single process is faster; the ratio is what "
    "compares.",
)
RESTART = Row(
    name="restart",
    article=Article(
        system="PM2 starts a crashed process again, from one configuration file.",
        headline="no figure",
    ),
    runs="one pod of n worker processes at 40 % of their CPU, of which one is killed",
    steps=(
        Step(
            name="one killed",
            setup=_N_WORKERS,
            scenario="blocking",
            options={"cpu_time_ms": 20.0, "clock": "cpu"},
            load=Open(utilisation=0.4),
            least_seconds=12.0,
            timeout_seconds=20.0,
            kill=True,
        ),
    ),
    claims=(
        Claim(
            says="all processes serve again within 10 s",
            top=Of("until_full", "one killed"),
            low=0.0,
            high=10.0,
        ),
        Claim(
            says="no more requests are lost than the killed process can have had",
            top=Of("failed", "one killed"),
            low=0.0,
            high=8.0,
        ),
    ),
    shows=("until_full", "failed", "p99"),
    why="Requests that the killed process had accepted are lost with it, there as here; the others wait in the queue "
    "that the workers share.",
)
ALGORITHM = Row(
    name="algorithm",
    article=Article(
        system="The moral: a better algorithm beats more processes.",
        headline="no figure",
    ),
    runs="all primes to 300,000 by trial division, by trial to the square root and by a sieve, from one pod and from n",
    steps=tuple(
        Step(
            name=f"{says}, {pods}",
            setup=setup,
            scenario="primes",
            options={"limit": _LONG_LIMIT, "algorithm": algorithm},
            load=Closed(users=2),
            seconds=seconds,
            least_seconds=least_seconds,
            timeout_seconds=120.0,
        )
        for pods, setup in (("one pod", Setup()), ("n pods", _N_PODS))
        # A slow core needs 5 s for the trial, and a quarter of it 20 s.
        for says, algorithm, seconds, least_seconds in (
            ("trial", "trial", 60.0, 20.0),
            ("root", "sqrt", 20.0, 3.0),
            ("sieve", "sieve", 20.0, 3.0),
        )
    ),
    claims=(
        Claim(
            says="a sieve in one pod answers far more than trial division in n pods",
            top=Of("throughput", "sieve, one pod"),
            bottom=Of("throughput", "trial, n pods"),
            low=200.0,
            power=-1,
        ),
    ),
    shows=("throughput",),
    why="More processes gain as much as there are cores. Less work gains without bound: the gap widens with the limit.",
)

ROWS = (PRIMES, RESTART, ALGORITHM)
