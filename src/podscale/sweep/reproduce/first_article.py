"""The rows of the first article: a blocked event loop, worker threads, a cluster of processes, and pods.

Facts are given in our words. n is the number of cores, or of pods with equal limits on a cluster.
"""

from podscale.sweep.reproduce.row import Article, Burst, Claim, Closed, Of, Open, Options, Row, Setup, Step

# The articles' loops watch the time of day, so the job that imitates them spins for a time, whatever CPU it gets.
_SPIN: Options = {"cpu_time_ms": 10_000.0, "clock": "wall"}
_BURN_20_MS: Options = {"cpu_time_ms": 20.0, "clock": "cpu"}
_BURN_100_MS: Options = {"cpu_time_ms": 100.0, "clock": "cpu"}

_N_PODS = Setup(pods="n")
_N_WORKERS = Setup(processes="n")

BLOCKING = Row(
    name="blocking",
    article=Article(
        system="One Node.js process with a route that spins for a given time on its only thread.",
        headline="three requests of 10 s at once ended after 10, 20 and 27 s",
        ratio=2.7,
    ),
    runs="three requests at once that spin on the event loop of one pod",
    steps=(
        Step(
            name="three at once",
            scenario="blocking",
            options=_SPIN,
            load=Burst(requests=3),
            timeout_seconds=120.0,
            shortened=("cpu_time_ms",),
        ),
    ),
    claims=(
        Claim(
            says="the last takes three jobs",
            top=Of("last", "three at once"),
            bottom=Of("job", "three at once"),
            low=2.8,
            high=3.4,
        ),
        Claim(
            says="the second takes two",
            top=Of("median", "three at once"),
            bottom=Of("job", "three at once"),
            low=1.85,
            high=2.4,
        ),
        Claim(
            says="the first takes one",
            top=Of("first", "three at once"),
            bottom=Of("job", "three at once"),
            low=0.95,
            high=1.4,
        ),
    ),
    shows=("first", "median", "last", "cores"),
    why="One thread does one job at a time, there as here. A request that is sent a little later "
    "than the others waits that much less, which the article's 27 s may well be.",
)
WORKER = Row(
    name="worker",
    article=Article(
        system="The same spinning job in a worker thread for each request.",
        headline="all three ended after about 10 s, with 300 % of CPU",
        ratio=1.0,
    ),
    runs="three requests at once that spin in three child processes of one pod",
    steps=(
        Step(
            name="three at once",
            setup=Setup(children=3),
            scenario="worker",
            options=_SPIN,
            load=Burst(requests=3),
            timeout_seconds=120.0,
            shortened=("cpu_time_ms",),
        ),
    ),
    claims=(
        Claim(
            says="the last takes hardly longer than one job",
            top=Of("last", "three at once"),
            bottom=Of("job", "three at once"),
            low=0.95,
            high=1.5,
        ),
    ),
    shows=("median", "last", "cores"),
    why="A job that spins until a time of day ends on time however little CPU it gets: with fewer than three cores, or "
    "under a quota, three of them still end together, but each does less work. CPU shows it: it cannot exceed the "
    "cores that are there.",
)
CLUSTER = Row(
    name="cluster",
    article=Article(
        system="PM2 in cluster mode, one process for each core, with its list and monitor.",
        headline="16 processes evenly loaded",
        ratio=1.0,
    ),
    runs="one pod of n worker processes, saturated with jobs of 20 ms",
    steps=(
        Step(
            name="n workers",
            setup=_N_WORKERS,
            scenario="blocking",
            options=_BURN_20_MS,
            load=Closed(users=8),
            least_seconds=8.0,
        ),
    ),
    claims=(
        Claim(
            says="the busiest process answers hardly more than the mean",
            top=Of("unevenness", "n workers"),
            low=1.0,
            high=1.25,
        ),
        Claim(says="all of the n processes answer", top=Of("processes", "n workers"), low=1.0, high=1.0, power=1),
    ),
    shows=("throughput", "unevenness", "processes"),
    why="PM2 hands connections out in turn. Our workers take them from one shared queue as each becomes free, which is "
    "even while all are busy; with kept connections or little load neither way stays even.",
)
ARRIVALS = Row(
    name="arrivals",
    article=Article(
        system="50 arrivals a second for 60 s, 100 ms of work each, against 16 processes of a cluster.",
        headline="median and mean while the cluster copes; no figure",
    ),
    runs="one pod of n worker processes at the same load for each process (31 % of its CPU), open arrivals",
    steps=(
        Step(
            name="n workers",
            setup=_N_WORKERS,
            scenario="blocking",
            options=_BURN_100_MS,
            load=Open(utilisation=50 * 0.1 / 16),
            seconds=60.0,
        ),
    ),
    claims=(
        Claim(
            says="the median is near the work itself",
            top=Of("median", "n workers"),
            bottom=Of("job", "n workers"),
            low=0.95,
            low_with_quota=0.2,
            high=1.6,
        ),
        Claim(
            says="and so is the mean",
            top=Of("mean", "n workers"),
            bottom=Of("job", "n workers"),
            low=0.95,
            low_with_quota=0.2,
            high=1.8,
        ),
    ),
    shows=("median", "mean", "p99"),
    why="The share of CPU that is asked for is the same, not the number of processes: with fewer of them a request "
    "finds all of them busy more often. Ours is timed from when a request was due.",
)
PODS = Row(
    name="pods",
    article=Article(
        system="The same by pods of Kubernetes: named, and not shown.",
        headline="no figure",
    ),
    runs="n pods of one process against one pod, saturated; then against n workers of one pod at 60 % of their CPU",
    steps=(
        Step(name="one pod", scenario="blocking", options=_BURN_20_MS, load=Closed(users=16), least_seconds=8.0),
        Step(
            name="n pods",
            setup=_N_PODS,
            scenario="blocking",
            options=_BURN_20_MS,
            load=Closed(users=16),
            least_seconds=8.0,
        ),
        Step(
            name="n pods at 60 %",
            setup=_N_PODS,
            scenario="blocking",
            options=_BURN_20_MS,
            load=Open(utilisation=0.6),
            seconds=30.0,
            least_seconds=8.0,
        ),
        Step(
            name="n workers at 60 %",
            setup=_N_WORKERS,
            scenario="blocking",
            options=_BURN_20_MS,
            load=Open(utilisation=0.6),
            seconds=30.0,
            least_seconds=8.0,
        ),
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
        Claim(
            says="at 60 % their p99 is no better than that of n workers",
            top=Of("p99", "n pods at 60 %"),
            bottom=Of("p99", "n workers at 60 %"),
            low=0.9,
        ),
    ),
    shows=("throughput", "median", "p99", "p99_by_queueing"),
    why="Each connection goes to a pod by chance, and waits there while another pod may be idle; workers share one "
    "queue, in which evenly spaced arrivals hardly wait. With a CPU quota for each pod the tail of pods grows further, "
    "since a pod may use no CPU that another leaves: what is beyond the p99 that queueing gives is the quota's.",
)

ROWS = (BLOCKING, WORKER, CLUSTER, ARRIVALS, PODS)
