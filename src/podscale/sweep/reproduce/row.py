"""What a row of the articles' table is made of. Pure data: whatever a row does is said with these words alone."""

from typing import Literal

import msgspec

FigureName = Literal[
    "throughput",
    "capacity",
    "job",
    "first",
    "median",
    "mean",
    "p99",
    "p99_by_queueing",
    "last",
    "cores",
    "memory",
    "unevenness",
    "processes",
    "until_full",
    "failed",
]
# How many: a number, or as many as the machine has cores (on a cluster, as the plan says).
Count = int | Literal["n"]
Options = dict[str, str | int | float]


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What stands: pods, serving processes of each, and children of each process for jobs that are handed on.

    A pod has a share of CPU for each of its processes, or for each child where it has more of them.
    """

    pods: Count = 1
    processes: Count = 1
    children: Count = 1


class Burst(msgspec.Struct, frozen=True, kw_only=True, tag="burst"):
    """So many requests at once, and then none."""

    requests: int


class Closed(msgspec.Struct, frozen=True, kw_only=True, tag="closed"):
    """Users who wait for their answers; `users` for each serving process."""

    users: int


class Open(msgspec.Struct, frozen=True, kw_only=True, tag="open"):
    """Arrivals, whatever the pods do: at a rate, or at a share of what the CPU of all processes can do (0 to 1).

    `utilisation` needs a scenario whose work is `cpu_time_ms`.
    """

    utilisation: float | None = None
    rate_per_second: float | None = None
    arrivals: Literal["constant", "poisson"] = "constant"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement of a row. `name` tells it from the others, and says what stands or what is asked.

    `shortened` are options that a quick run multiplies as it does times; no window gets shorter than `least_seconds`.
    `kill`: one serving process is killed in the window.
    """

    name: str
    setup: Setup = Setup()
    scenario: str
    options: Options = {}
    load: Burst | Closed | Open
    connections: str = "new"
    seconds: float = 20.0
    least_seconds: float = 4.0
    timeout_seconds: float = 30.0
    shortened: tuple[str, ...] = ()
    kill: bool = False


class Of(msgspec.Struct, frozen=True):
    """A figure of a step, by their names."""

    figure: FigureName
    step: str


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What must be true of a row: `top` over `bottom` is at least `low` and at most `high`.

    Both bounds are multiplied by n to the `power`: 1 where they are for one of n. None is no bound. `low_with_quota`
    stands for `low` where each pod has an equal quota of CPU, and no load generator takes of it.
    """

    says: str
    top: Of
    bottom: Of | float = 1.0
    low: float | None = None
    high: float | None = None
    low_with_quota: float | None = None
    power: Literal[-1, 0, 1] = 0

    def bounds(self, n: int, *, quota: bool = False) -> tuple[float | None, float | None]:
        """Least and most for n processes, where pods have a `quota` or not."""
        times = float(n) ** self.power
        low = self.low_with_quota if quota and self.low_with_quota is not None else self.low
        return (
            None if low is None else low * times,
            None if self.high is None else self.high * times,
        )


class Article(msgspec.Struct, frozen=True, kw_only=True):
    """What the article built, its headline, and that as the ratio of the row's first claim; None where it has none."""

    system: str
    headline: str
    ratio: float | None = None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One system of the articles. The first claim carries the row's ratio; `runs` says in words what we do.

    `shows` are the figures that are told of every step.
    """

    name: str
    article: Article
    runs: str
    steps: tuple[Step, ...]
    claims: tuple[Claim, ...]
    shows: tuple[FigureName, ...]
    why: str
