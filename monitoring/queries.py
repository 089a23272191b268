"""Every query, once: panels, rules and docs/alerts.md take them from here.

Each series carries the labels that its Prometheus gives to the target: namespace, release and pod. `RATE_WINDOW` is
four scrapes (over fewer a rate has gaps), which the chart knows; a panel's own rates use Grafana's `$__rate_interval`.
"""

from typing import NamedTuple

from podscale import contract

# What the chart puts in when it renders the rules.
RELEASE = "RELEASE"
RATE_WINDOW = "RATE_WINDOW"
P99_GOAL_SECONDS = "P99_GOAL_SECONDS"
MAX_REPLICAS = "MAX_REPLICAS"

OF_RELEASE = f'release="{RELEASE}"'
BY_RELEASE = "by (namespace, release)"
BY_POD = "by (namespace, release, pod)"
BY_RELEASE_AND_BUCKET = "by (namespace, release, le)"
BY_POD_AND_BUCKET = "by (namespace, release, pod, le)"
# What a panel shows: the variables of the dashboard.
CHOSEN = 'namespace="$namespace",release="$release"'
CHOSEN_PODS = f'{CHOSEN},pod=~"$pod"'


class Recorded(NamedTuple):
    """A recording rule, for what would be heavy in a panel: sums over pods, routes and buckets."""

    name: str
    query: str
    says: str


def _rate(metric: str, *, of: str = OF_RELEASE, window: str = RATE_WINDOW) -> str:
    return f"rate({metric}{{{of}}}[{window}])"


REPLICAS = Recorded(
    "podscale:replicas",
    f"count {BY_RELEASE} (count {BY_POD} ({contract.INFO}{{{OF_RELEASE}}}))",
    "Pods that answer Prometheus, without the help of kube-state-metrics.",
)
POD_RATE = Recorded(
    "podscale:pod_requests:rate",
    f"sum {BY_POD} ({_rate(contract.REQUESTS)})",
    "Requests per second that a pod answers.",
)
POD_BUCKETS = Recorded(
    "podscale:pod_request_seconds_bucket:rate",
    f"sum {BY_POD_AND_BUCKET} ({_rate(f'{contract.REQUEST_SECONDS}_bucket')})",
    "The latency histogram of a pod, all routes together.",
)
# Without a limit the quota is infinite, and one core is what the event loop of a pod can use.
POD_CPU = Recorded(
    "podscale:pod_cpu:of_limit",
    f"sum {BY_POD} ({_rate(contract.CGROUP_CPU_SECONDS)}) / sum {BY_POD} ("
    f"{contract.CGROUP_CPU_LIMIT_CORES}{{{OF_RELEASE}}} < Inf"
    f" or clamp_max({contract.CGROUP_CPU_LIMIT_CORES}{{{OF_RELEASE}}}, 1))",
    "CPU that a pod uses, of its limit; of one core where it has none.",
)
# A pod without a quota has no periods, and is never throttled: 0, not the NaN of 0 / 0.
POD_THROTTLED = Recorded(
    "podscale:pod_throttled:share",
    f"sum {BY_POD} ({_rate(contract.CGROUP_THROTTLED_PERIODS)})"
    f" / clamp_min(sum {BY_POD} ({_rate(contract.CGROUP_PERIODS)}), 1e-9)",
    "Share of its quota periods in which a pod had to wait.",
)
RATE_PER_POD = Recorded(
    "podscale:requests_per_pod:rate",
    f"sum {BY_RELEASE} ({POD_RATE.name}{{{OF_RELEASE}}}) / {REPLICAS.name}{{{OF_RELEASE}}}",
    "Requests per second of an average pod.",
)
P99 = Recorded(
    "podscale:request_seconds:p99",
    f"histogram_quantile(0.99, sum {BY_RELEASE_AND_BUCKET} ({POD_BUCKETS.name}{{{OF_RELEASE}}}))",
    "p99 from the arrival of a request to the end of its answer, as exact as the buckets.",
)
BALANCE = Recorded(
    "podscale:balance",
    f"max {BY_RELEASE} ({POD_RATE.name}{{{OF_RELEASE}}}) / avg {BY_RELEASE} ({POD_RATE.name}{{{OF_RELEASE}}})",
    "Requests of the busiest pod over those of an average one; 1 is even.",
)
# In this order: later ones read earlier ones.
RECORDED = (REPLICAS, POD_RATE, POD_BUCKETS, POD_CPU, POD_THROTTLED, RATE_PER_POD, P99, BALANCE)


def of_pods(name: str) -> str:
    """A metric or recorded series of the chosen pods."""
    return f"{name}{{{CHOSEN_PODS}}}"


def of_release(name: str) -> str:
    """A metric or recorded series of the chosen release."""
    return f"{name}{{{CHOSEN}}}"


def per_second(metric: str, more: str = "", by: str = "pod") -> str:
    """The rate of a counter of the chosen pods."""
    return f"sum by ({by}) (rate({metric}{{{CHOSEN_PODS}{more}}}[$__rate_interval]))"


def load_per_second(metric: str, by: str = "release") -> str:
    """The rate of a counter of Locust's master."""
    return f"sum by ({by}) (rate({metric}{{{CHOSEN}}}[$__rate_interval]))"


def quantile(share: float) -> str:
    """A quantile of the latency of the chosen pods."""
    return f"histogram_quantile({share:g}, sum by (le) ({of_pods(POD_BUCKETS.name)}))"


TOTAL_RATE = f"sum({of_pods(POD_RATE.name)})"
# The best that a pod has done, on average over the pods, in the time that the dashboard shows.
BEST_PER_POD = f"max_over_time({of_release(RATE_PER_POD.name)}[$__range] @ end())"
IDEAL_RATE = f"{of_release(REPLICAS.name)} * {BEST_PER_POD}"
EFFICIENCY = f"{of_release(RATE_PER_POD.name)} / {BEST_PER_POD}"
REPLICAS_CHANGE = f"{of_release(REPLICAS.name)} - {of_release(REPLICAS.name)} offset $__interval != 0"
