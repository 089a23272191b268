"""The alerts: what is looked at, from when on it is bad, and what to do then. docs/alerts.md is made from this."""

from typing import NamedTuple

from monitoring.queries import (
    BALANCE,
    BY_RELEASE,
    MAX_REPLICAS,
    OF_RELEASE,
    P99,
    P99_GOAL_SECONDS,
    POD_CPU,
    POD_RATE,
    POD_THROTTLED,
    REPLICAS,
)
from podscale import contract

MEASURING = f'and on (namespace, release) {contract.LOAD_STAGE_INFO}{{{OF_RELEASE},state="measuring"}}'


class Alert(NamedTuple):
    """One alert. `value` is a query that has a value under any load, `bad` what must follow it to be alarming."""

    name: str
    value: str
    bad: str
    when: str  # the same in words
    minutes: int  # for which it must last
    summary: str  # of the alert itself; a sentence or two, with Prometheus' templates
    means: str
    todo: str
    needs_autoscaling: bool = False


def _of(name: str) -> str:
    return f"{name}{{{OF_RELEASE}}}"


ALERTS = (
    Alert(
        "PodscaleTargetDown",
        _of("up"),
        "== 0",
        "Prometheus gets no answer",
        2,
        "Prometheus gets no answer from {{ $labels.pod }} of {{ $labels.namespace }}.",
        "The pod, or Locust's master, is not answering on the port of its metrics. All other alerts are blind to it.",
        "Look at the pod with `kubectl describe pod`. If it is well, a NetworkPolicy may hold Prometheus back: name "
        "its namespace in `networkPolicy.metricsFrom`.",
    ),
    Alert(
        "PodscaleThrottled",
        _of(POD_THROTTLED.name),
        "> 0.25",
        "a pod waits in over 25 % of its quota periods",
        5,
        "Pod {{ $labels.pod }} reached its CPU limit in {{ $value | humanizePercentage }} of all periods. "
        "Raise resources.limits.cpu, remove it, or add pods.",
        "In more than a quarter of its quota periods (100 ms each) the pod had used up its CPU and stood still until "
        "the next one. Each job that meets this takes up to a whole period longer, which shows in the p99 first.",
        "Raise `resources.limits.cpu`, or remove it and let the request share out the CPU. More pods help only if the "
        "load is more than the pods can take; a job that needs more than its share of one period is throttled anyway.",
    ),
    Alert(
        "PodscaleQueueGrowing",
        f"sum {BY_RELEASE} (deriv({_of(contract.QUEUE_LENGTH)}[5m]))",
        "> 0.05",
        "queues grow by over 3 jobs a minute",
        5,
        "The queues of {{ $labels.release }} in {{ $labels.namespace }} grow by {{ $value | humanize }} jobs a "
        "second. Add pods.",
        "More jobs arrive than are done. Latency grows with the queue, until it is full and pods refuse jobs with 503.",
        "Add pods, or send less. If CPU of the limit is far below 100 % meanwhile, the pods wait for something else: "
        "look at throttling and at the nodes.",
    ),
    Alert(
        "PodscaleShedding",
        f"sum {BY_RELEASE} (rate({_of(contract.SHED)}[5m]))",
        "> 0",
        "pods refuse jobs",
        5,
        "Pods of {{ $labels.release }} in {{ $labels.namespace }} refuse {{ $value | humanize }} requests a second "
        "with 503: their queues are full. Add pods.",
        "The queue of a pod has its full length, `settings.queueLength`, and each further job is refused.",
        "Add pods. A longer queue only makes clients wait longer. If one pod alone refuses, see PodscaleUnbalanced.",
    ),
    Alert(
        "PodscaleSlow",
        _of(P99.name),
        f"> {P99_GOAL_SECONDS}",
        "p99 inside the pods is above the goal (1 s)",
        5,
        "p99 of {{ $labels.release }} in {{ $labels.namespace }} is {{ $value | humanizeDuration }}, above the goal.",
        "One request in a hundred takes longer inside the pods than `prometheusRule.p99GoalSeconds`. The histogram's "
        "buckets are coarse, so that a goal which is one of them is judged best: 0.1, 0.25, 0.5, 1, 2.5, 5 or 10 s.",
        "Look at the dashboard Scaling: waiting jobs mean too few pods, throttling means a limit that is too small, "
        "one slow pod means a slow node.",
    ),
    Alert(
        "PodscaleUnbalanced",
        _of(BALANCE.name),
        f"> 1.5 and sum {BY_RELEASE} ({_of(POD_RATE.name)}) > 1",
        "a pod gets over 1.5 times the average, at over 1 request/s",
        5,
        "One pod of {{ $labels.release }} in {{ $labels.namespace }} gets {{ $value | humanize }} times its share. "
        "Kept connections stay with old pods: use new ones.",
        "A Service chooses a pod for each connection, not for each request. Clients that keep their connections stay "
        "with the pods that were there when they connected; new pods stay idle.",
        "Let clients open new connections now and then (Locust: *Connections* `new` or a number), or put a proxy in "
        "between that spreads requests.",
    ),
    Alert(
        "PodscaleMemoryNearLimit",
        f"{_of(contract.CGROUP_MEMORY_BYTES)} / {_of(contract.CGROUP_MEMORY_LIMIT_BYTES)}",
        "> 0.9",
        "a pod uses over 90 % of its memory limit",
        5,
        "Pod {{ $labels.pod }} uses {{ $value | humanizePercentage }} of its memory limit. Raise "
        "resources.limits.memory.",
        "At its limit Kubernetes ends the pod, with all jobs that wait in it.",
        "Raise `resources.limits.memory`. Each offloaded job's process takes up to 25 MB: see "
        "`settings.offloadProcesses`.",
    ),
    Alert(
        "PodscaleAtMaximum",
        f"avg {BY_RELEASE} ({_of(POD_CPU.name)})",
        f"> 0.9 and {_of(REPLICAS.name)} >= {MAX_REPLICAS}",
        "pods use over 90 % of their CPU, and there may be no more of them",
        10,
        "{{ $labels.release }} in {{ $labels.namespace }} has as many pods as its autoscaler may make, and they use "
        "{{ $value | humanizePercentage }} of their CPU. Raise autoscaling.maxReplicas.",
        "The autoscaler cannot add pods any more, and those that are there have no CPU left.",
        "Raise `autoscaling.maxReplicas`, if the nodes have room. It is there only with `autoscaling.enabled`.",
        needs_autoscaling=True,
    ),
    Alert(
        "PodscaleGeneratorSaturated",
        _of(contract.LOAD_CPU_RATIO),
        f"> 0.9 {MEASURING}",
        "the busiest Locust worker uses over 90 % of its core",
        1,
        "The busiest Locust worker of {{ $labels.release }} in {{ $labels.namespace }} uses {{ $value | "
        "humanizePercentage }} of its core. Add workers.",
        "A worker process that is this busy sends late and reads answers late: it measures itself.",
        "`kubectl scale deployment/podscale-locust-worker --replicas=2`, one core each, and no CPU limit for them.",
    ),
    Alert(
        "PodscaleGeneratorLate",
        f"sum {BY_RELEASE} (rate({_of(contract.LOAD_LATE)}[1m]) + rate({_of(contract.LOAD_DROPPED)}[1m]))"
        f" / clamp_min(sum {BY_RELEASE} (rate({_of(contract.LOAD_SENT)}[1m]) + "
        f"rate({_of(contract.LOAD_DROPPED)}[1m])), 1e-9)",
        "> 0.05",
        "over 5 % of visits are sent late or never",
        1,
        "Locust of {{ $labels.release }} in {{ $labels.namespace }} sends {{ $value | humanizePercentage }} of its "
        "visits over 10 ms late or not at all. Add workers.",
        "The rate that was asked for is not the rate that was sent, so that latencies are those of another load.",
        "Add workers, as for PodscaleGeneratorSaturated. Visits are dropped when too many are in flight: then the pods "
        "are far beyond what they can take, and a lower rate says more.",
    ),
)
