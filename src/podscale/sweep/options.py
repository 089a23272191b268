"""The options of a sweep: one table that feeds the flags, their help, the checks and the docs."""

import math
from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from podscale.contract import Arrivals, Model


class Scenario(msgspec.Struct, frozen=True):
    """One of our own locustfiles: its user class, and which of the sweep's work options it understands.

    `one_core`: the work runs on the pod's event loop, which fills one core at most; else in child processes.
    """

    user_class: str | None
    work_options: tuple[str, ...] = ()
    one_core: bool = True


OWN = "own"
SCENARIOS: Mapping[str, Scenario] = {
    "blocking": Scenario("Blocking", ("cpu_time_ms", "clock")),
    "worker": Scenario("Worker", ("cpu_time_ms", "clock"), one_core=False),
    "primes": Scenario("Primes"),
    "prime": Scenario("Prime", one_core=False),
    "timestamp": Scenario("Timestamp"),
    # On a cluster, where Locust runs a locustfile that the sweep does not have.
    OWN: Scenario(None, one_core=False),
}


# Where no rate is asked for. Two pods hold ten service times at p99 with room (M/D/1 at 0.6: under six), and one
# fewer of two is well beyond what it can do.
DEFAULT_GOAL_UTILISATION = 0.6


class OptionError(Exception):
    """An option is wrong or two do not fit together; the message names the option, its value and what is allowed."""


class Option(msgspec.Struct, frozen=True):
    """One row: `name` as in the plan, the flag as people type it, and what is allowed.

    `default_note` is shown where the default follows from something else; `default` is None then.
    """

    name: str
    flag: str
    default: Any
    help: str
    lowest: float | None = None
    highest: float | None = None
    choices: tuple[str, ...] = ()
    default_note: str = ""

    def help_line(self) -> str:
        """Help with the choices and the default."""
        shown = self.default_note or (f"{self.default:g}" if isinstance(self.default, float) else self.default)
        choices = f" One of: {', '.join(self.choices)}." if self.choices else ""
        return f"{self.help}{choices}" + (f"  [default: {shown}]" if shown not in {None, ""} else "")

    def check(self, value: Any) -> None:
        """Raise OptionError unless the value is allowed; None stands for a default that is filled in later."""
        if value is None:
            return
        if self.choices and value not in self.choices:
            raise OptionError(f"{self.flag}: {value!r} is not one of {', '.join(self.choices)}")
        if self.lowest is None or self.highest is None:
            return
        if not (math.isfinite(value) and self.lowest <= value <= self.highest):
            raise OptionError(f"{self.flag}: {value:g} is not between {self.lowest:g} and {self.highest:g}")


OPTIONS: dict[str, Option] = {
    row.name: row
    for row in (
        Option("repeats", "--repeats", 2, "How often each size is measured, in random order.", 1, 100),
        Option(
            "scenario",
            "--scenario",
            "blocking",
            "What a request does; own: all of Locust's own locustfile.",
            choices=tuple(SCENARIOS),
        ),
        Option("locustfile", "--locustfile", None, "Your own locustfile instead of a scenario."),
        Option(
            "model",
            "--model",
            "closed",
            "closed: users wait for their answers; open: requests arrive at --rate.",
            choices=get_args(Model),
        ),
        Option(
            "rate_per_second",
            "--rate",
            None,
            "Arrivals per second, all pods together; in the closed model, the rate to plan for.",
            0.1,
            100_000,
            default_note=f"{DEFAULT_GOAL_UTILISATION:.0%} of what the largest size can do",
        ),
        Option(
            "arrivals",
            "--arrivals",
            "poisson",
            "Arrivals of the open model: as strangers come, or evenly spaced.",
            choices=get_args(Arrivals),
        ),
        Option("users_per_pod", "--users", 16, "Users of the closed model, for each pod.", 1, 10_000),
        Option("stage_seconds", "--stage-seconds", 6.0, "Measuring window of a stage.", 1, 3600),
        Option("warmup_seconds", "--warmup-seconds", 2.0, "Load before the window, not measured.", 0, 600),
        Option(
            "timeout_seconds", "--timeout-seconds", 10.0, "A request without an answer by then has failed.", 0.1, 600
        ),
        Option(
            "slo_p99_ms",
            "--slo-p99-ms",
            None,
            "The latency goal, for the 99th percentile.",
            0.1,
            600_000,
            default_note="10 x --cpu-time-ms",
        ),
        Option("cpu_time_ms", "--cpu-time-ms", 20.0, "Work of a request (blocking, worker).", 0.1, 10_000),
        Option(
            "clock",
            "--clock",
            "cpu",
            "cpu: exact CPU time; wall: spin for a time; sleep: block only.",
            choices=("cpu", "wall", "sleep"),
        ),
        Option(
            "connections", "--connections", "new", "A connection for each request (new), for ever (keep), or for k."
        ),
        Option(
            "locust_workers",
            "--locust-workers",
            None,
            "Locust processes; each fills one core at most.",
            1,
            64,
            default_note="one a free core, 1 to 4",
        ),
        Option("goal", "--goal/--no-goal", True, "Check how many pods hold the latency goal at the rate."),
        Option("url", "--url", None, "Measure this running service as it is, at one size."),
        Option(
            "target",
            "--target",
            None,
            "Where the pods are.",
            choices=("local", "kubernetes"),
            default_note="local; kubernetes with --deployment",
        ),
        Option("deployment", "--deployment", None, "The Deployment to scale; any one will do."),
        Option(
            "context",
            "--context",
            None,
            "Of the kubeconfig.",
            default_note="the current one, or this pod's own cluster",
        ),
        Option("namespace", "--namespace", None, "Of the Deployment.", default_note="the context's"),
        Option(
            "service", "--service", None, "The Service in front of it.", default_note="the one that selects its pods"
        ),
        Option("port", "--port", None, "Port of the Service.", 1, 65535, default_note="its only one, or http"),
        Option("container", "--container", None, "The container that works.", default_note="the first"),
        Option(
            "locust",
            "--locust",
            None,
            "Locust's release, as NAME or NAMESPACE/NAME.",
            default_note="the Deployment's own",
        ),
        Option("host", "--host", None, "What Locust loads.", default_note="the Service"),
        Option("ready_seconds", "--ready-seconds", 120.0, "How long new pods may take to be Ready.", 1, 3600),
        Option("wait_seconds", "--wait-seconds", 0.0, "How long Locust may take to answer at all.", 0, 3600),
        Option("max_pods", "--max-pods", 64, "Refuse larger sizes.", 1, 10_000),
        Option("max_rate", "--max-rate", 2000.0, "On a cluster: refuse a higher --rate.", 0.1, 100_000),
        Option("max_minutes", "--max-minutes", 60.0, "On a cluster: refuse a sweep that takes longer.", 0.1, 10_000),
        Option("seed", "--seed", 1, "For the random order of the sizes.", 0, 2**31),
    )
}
