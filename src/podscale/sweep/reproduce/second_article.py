"""The rows of the second article: a forked child for each number, the cheapest route, and what processes cost.

Facts are given in our words. n is the number of cores, or of pods with equal limits on a cluster.
"""

from podscale.sweep.reproduce.row import Article, Burst, Claim, Of, Open, Options, Row, Setup, Step

_EVERY_DIVISOR: Options = {"number": 1_000_000_007, "algorithm": "exhaustive"}
_N_PODS = Setup(pods="n")
_N_WORKERS = Setup(processes="n")
# So little that the load generator is not what is measured.
_LITTLE = Open(rate_per_second=200.0)
_HARDLY_ANY = Open(rate_per_second=20.0)

PRIME = Row(
    name="prime",
    article=Article(
        system="POST a number; a child process tries every divisor of it. 8 requests on 8 connections.",
        headline="all eight answered after 1.02 s, before that after 74 s",
        ratio=74 / 1.02,
    ),
    runs="eight requests at once for a number near 1,000,000,000, to one pod with one child and with n children",
    steps=(
        Step(
            name="one child",
            scenario="prime",
            options=_EVERY_DIVISOR,
            load=Burst(requests=8),
            timeout_seconds=120.0,
            shortened=("number",),
        ),
        Step(
            name="n children",
            setup=Setup(children="n"),
            scenario="prime",
            options=_EVERY_DIVISOR,
            load=Burst(requests=8),
            timeout_seconds=120.0,
            shortened=("number",),
        ),
    ),
    claims=(
        Claim(
            says="all eight are answered n times sooner by n children",
            top=Of("last", "one child"),
            bottom=Of("last", "n children"),
            low=0.7,
            high=1.15,
            power=1,
        ),
    ),
    shows=("median", "last", "cores"),
    why="Children can gain as much as there are cores for them, and at most eight for eight requests. A factor of 73 "
    "is beyond that, so that the article's two runs differ in more than their processes. Our children stay alive; "
    "one that is forked for each request costs its start as well.",
)
TIMESTAMP = Row(
    name="timestamp",
    article=Article(
        system="The cheapest route, the time of day, with and without a cluster. 100,000 requests on 8 connections.",
        headline="all answered after 6.02 s, before that after 12 s",
        ratio=12 / 6.02,
    ),
    runs="a little load on one process and on n workers, and the CPU that each answer takes",
    steps=(
        Step(name="one process", scenario="timestamp", load=_LITTLE, connections="keep"),
        Step(name="n workers", setup=_N_WORKERS, scenario="timestamp", load=_LITTLE, connections="keep"),
    ),
    claims=(
        Claim(
            says="the CPU of n workers is enough for n times as many answers",
            top=Of("capacity", "n workers"),
            bottom=Of("capacity", "one process"),
            low=0.5,
            high=1.5,
            power=1,
        ),
    ),
    shows=("capacity", "median", "p99"),
    why="So cheap an answer costs the one who asks more CPU than the one who answers. A load generator on the same "
    "cores would be what is measured, so ours asks little and counts the CPU of each answer.",
)
MEMORY = Row(
    name="memory",
    article=Article(
        system="What more processes cost in memory: named, and not measured.",
        headline="no figure",
    ),
    runs="memory of one pod, of n pods and of one pod of n workers, under hardly any load",
    steps=(
        Step(name="one pod", scenario="timestamp", load=_HARDLY_ANY, seconds=5.0),
        Step(name="n pods", setup=_N_PODS, scenario="timestamp", load=_HARDLY_ANY, seconds=5.0),
        Step(name="n workers", setup=_N_WORKERS, scenario="timestamp", load=_HARDLY_ANY, seconds=5.0),
    ),
    claims=(
        Claim(
            says="n pods take n times the memory of one",
            top=Of("memory", "n pods"),
            bottom=Of("memory", "one pod"),
            low=0.8,
            high=1.2,
            power=1,
        ),
        Claim(
            says="n workers take more than one pod, and at most 2.5 times as much as n pods",
            top=Of("memory", "n workers"),
            bottom=Of("memory", "n pods"),
            low=0.5,
            high=2.5,
        ),
    ),
    shows=("memory",),
    why="Every process has its own interpreter and libraries, and a pod of workers has a supervisor beside them. On "
    "one machine pages that processes share are counted for each of them; on a cluster they are counted once.",
)

ROWS = (PRIME, TIMESTAMP, MEMORY)
