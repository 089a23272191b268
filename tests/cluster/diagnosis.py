"""What the cluster says about a namespace in which a test has failed."""

import subprocess

from tests.cluster.cluster import Cluster

MOST_PODS = 20
LOG_LINES = 50
QUESTIONS = (
    ("pods", "get pods --output=wide"),
    ("events", "get events --sort-by=.lastTimestamp"),
    ("workloads", "get deployments,replicasets,jobs,horizontalpodautoscalers,services,endpointslices --output=wide"),
)


def diagnose(cluster: Cluster, namespace: str) -> str:
    """Pods, events, workloads, why containers wait or ended, and the ends of their logs. Never fails itself."""
    parts = [_part(cluster, namespace, title, question) for title, question in QUESTIONS]
    try:
        names = cluster.kubectl("get", "pods", f"--namespace={namespace}", "--output=name").split()
    except (RuntimeError, OSError, subprocess.SubprocessError):
        names = []
    for name in names[:MOST_PODS]:
        states = "-o jsonpath={range.status.containerStatuses[*]}{.name}{.state}{.lastState}{end}"
        parts.append(_part(cluster, namespace, f"state of {name}", f"get {name} {states}"))
        logs = f"logs {name} --all-containers --prefix --tail={LOG_LINES}"
        parts.append(_part(cluster, namespace, f"log of {name}", logs))
    return "\n".join(parts)


def _part(cluster: Cluster, namespace: str, title: str, question: str) -> str:
    try:
        answer = cluster.kubectl(*question.split(), f"--namespace={namespace}", seconds=20)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        answer = str(error)
    return f"--- {title}\n{answer.rstrip()}\n"
