"""The dashboard *Scaling*: do more pods do more, and if not, why?"""

from monitoring.panels import IDEAL, Board, Panel
from monitoring.queries import (
    BALANCE,
    EFFICIENCY,
    IDEAL_RATE,
    POD_CPU,
    POD_RATE,
    POD_THROTTLED,
    REPLICAS,
    TOTAL_RATE,
    of_pods,
    of_release,
    per_second,
    quantile,
)
from podscale import contract

POD = "{{pod}}"


def _answers(status: str) -> str:
    """Per second; 0 where there are answers, but none of these."""
    all_answers = per_second(contract.REQUESTS, by="release")
    return per_second(contract.REQUESTS, f',status=~"{status}"', "release") + f" or {all_answers} * 0"


ANSWER = (
    Panel(
        "stat",
        "Replicas",
        "none",
        "Pods that answer Prometheus. A pod that starts or stops counts for as long as it answers.",
        (("replicas", of_release(REPLICAS.name)),),
        width=5,
    ),
    Panel(
        "stat",
        "Requests per second",
        "reqps",
        "Answers of the chosen pods, good and bad, over the last four scrapes.",
        (("requests", TOTAL_RATE),),
        width=5,
    ),
    Panel(
        "stat",
        "p99",
        "s",
        "99 of 100 requests take at most this long inside a pod, queue included. It is as exact as the histogram's "
        "buckets; the dashboard Load has the exact time that clients saw.",
        (("p99", quantile(0.99)),),
        width=5,
    ),
    Panel(
        "stat",
        "Efficiency",
        "percentunit",
        "Requests per pod, of the most that they were in the time shown. Under full load 100 % is linear scaling; with "
        "less load than the pods can take it falls too, and means nothing.",
        (("efficiency", EFFICIENCY),),
        width=5,
    ),
    Panel(
        "stat",
        "Busiest pod over average",
        "none",
        "Requests of the busiest pod over those of an average one. 1 is even; above 1.5 look at how connections are "
        "kept.",
        (("balance", of_release(BALANCE.name)),),
        width=4,
    ),
)

SCALING = (
    Panel(
        "stacked",
        "Requests per second by pod",
        "reqps",
        "Each band is a pod. The dashed line is the ideal: the replicas times the best that a pod has done in the time "
        "shown, on average. Bands that stay below it while the load is full are what scaling loses.",
        ((POD, of_pods(POD_RATE.name)), (IDEAL, IDEAL_RATE)),
    ),
    Panel(
        "lines",
        "Replicas",
        "none",
        "Pods that answer Prometheus. Purple marks on all panels are the moments when this number changes.",
        (("replicas", of_release(REPLICAS.name)),),
        width=6,
    ),
    Panel(
        "lines",
        "Efficiency",
        "percentunit",
        "Requests per pod, of the most in the time shown. Read it under full load only: a line that falls as replicas "
        "grow is lost work, and throttling, balance and CPU below say to what.",
        (("efficiency", EFFICIENCY),),
        width=6,
    ),
    Panel(
        "lines",
        "Latency in the pods",
        "s",
        "From the arrival of a request to the end of its answer. Lines that part are a queue or throttling; lines that "
        "rise together are longer jobs. Values between two buckets of the histogram are a guess.",
        (("p50", quantile(0.5)), ("p90", quantile(0.9)), ("p99", quantile(0.99))),
    ),
    Panel(
        "lines",
        "Errors per second",
        "reqps",
        "Zero is good. 503 are refused jobs because a queue was full, 499 clients that left before their answer; an "
        "abandoned job was not run since its client had left.",
        (
            ("4xx", _answers("4..")),
            ("5xx", _answers("5..")),
            ("refused, queue full", per_second(contract.SHED, by="release")),
            ("abandoned", per_second(contract.ABANDONED, by="release")),
        ),
    ),
)

CAUSES = (
    Panel(
        "lines",
        "Waiting jobs",
        "none",
        "Jobs in the queue of each pod. Near 0 the pods have time; a line that only grows is more load than they can "
        "take.",
        ((POD, of_pods(contract.QUEUE_LENGTH)),),
    ),
    Panel(
        "lines",
        "Requests in progress",
        "none",
        "Requests that each pod is answering, waiting ones included.",
        ((POD, of_pods(contract.IN_PROGRESS)),),
    ),
    Panel(
        "lines",
        "Balance",
        "none",
        "Requests of the busiest pod over those of an average one; 1 is even. A Service chooses by chance, so that a "
        "little above 1 is usual. Kept connections stay with old pods and raise it.",
        (("busiest over average", of_release(BALANCE.name)),),
    ),
    Panel(
        "lines",
        "Throttled",
        "percentunit",
        "Share of quota periods in which a pod had used up its CPU and had to wait. 0 without a CPU limit. Above 5 % "
        "it shows in the p99: raise or remove resources.limits.cpu.",
        ((POD, of_pods(POD_THROTTLED.name)),),
        maximum=1,
    ),
    Panel(
        "lines",
        "CPU of the limit",
        "percentunit",
        "CPU that each pod uses, of its limit; of one core where it has none, which is what its event loop can use. "
        "Near 100 % the pods are the limit. Below it under full load, the load, a node or a lock is.",
        ((POD, of_pods(POD_CPU.name)),),
    ),
    Panel(
        "lines",
        "Lag of the event loop",
        "s",
        "How late the event loop of each pod is. A job on the loop holds it for as long as it takes.",
        ((POD, of_pods(contract.LOOP_LAG_SECONDS)),),
    ),
    Panel(
        "lines",
        "Memory",
        "bytes",
        "Memory of each pod without file cache. At the limit Kubernetes ends the pod.",
        ((POD, of_pods(contract.CGROUP_MEMORY_BYTES)),),
    ),
    Panel(
        "pods",
        "Heat map of the pods: CPU of the limit",
        "percentunit",
        "A row for each pod, blue is idle and red is at its limit. All red is full load; single red rows among blue "
        "ones are a Service that does not spread; a row that begins late is a new pod.",
        ((POD, of_pods(POD_CPU.name)),),
        maximum=1,
    ),
)

BOARD = Board(
    uid="podscale-scaling",
    title="podscale / Scaling",
    description="Do more pods do more, and if not, why?",
    pods_from=contract.INFO,
    pod_label="pod",
    rows={"The answer": ANSWER, "Scaling": SCALING, "What holds it back": CAUSES},
)
