"""Tests of what is missing for a size, and why."""

from typing import Any

import msgspec
import pytest

from podscale.sweep.kubernetes.waiting import Seen, identity, missing, terminating, trouble
from tests.sweep.kubernetes.cluster import deployment, pod

WHOLE = Seen(deployment=deployment(replicas=2), pods=[pod("a"), pod("b")], serving={"a", "b"})
ENDING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def seen(**changes: Any) -> Seen:
    """Two pods, Ready and in the Service, but for the changes."""
    return msgspec.structs.replace(WHOLE, **changes)


def test_exactly_as_many_as_asked_ready_and_served() -> None:
    """Nothing is missing; a pod that ends is not counted, and named apart."""
    assert missing(WHOLE, 2) is None
    with_old = seen(pods=[*WHOLE.pods, pod("old", metadata=ENDING)])
    assert missing(with_old, 2) is None
    assert terminating(with_old) == ["old"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"deployment": deployment() | {"metadata": {"generation": 2}}}, "has not seen the new size"),
        ({"pods": [pod("a"), pod("b", ready=False)]}, "1 of 2 pods are Ready"),
        ({"pods": [pod("a"), pod("b"), pod("c")]}, "3 pods match the selector, and 2 were asked for"),
        ({"serving": {"a"}}, "1 Ready pods are not in the Service yet"),
        ({"serving": {"a", "b", "else"}}, "the Service also reaches else"),
        ({"deployment": deployment(replicas=1)}, "1 pods are still of an older version"),
    ],
)
def test_what_is_missing_is_said(changes: dict[str, Any], words: str) -> None:
    """A scaled Deployment is not a serving one: each step between has its sentence."""
    assert words in str(missing(seen(**changes), 2))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (
            {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Full", "message": "0/2 nodes"}]},
            "Full: 0/2 nodes",
        ),
        (
            {"containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]},
            "ImagePullBackOff: no such image",
        ),
        (
            {
                "containerStatuses": [
                    {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 3}}}
                ]
            },
            "CrashLoopBackOff: no message (it ended with exit code 3)",
        ),
    ],
)
def test_the_reason_is_kubernetes_own(status: dict[str, Any], words: str) -> None:
    """Not scheduled, no image, a crash: in the words of scheduler and kubelet, with the pod's name."""
    assert trouble(seen(pods=[pod("bad", status=status)])) == f"bad: {words}"
    passing = {"containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]}
    assert trouble(seen(pods=[pod("new", status=passing)])) is None


def test_a_quota_speaks_through_the_deployment() -> None:
    """Pods that may not even be made leave their reason in its conditions."""
    failure = {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota: small"}
    full = deployment() | {"status": {"observedGeneration": 1, "conditions": [failure]}}
    assert trouble(seen(deployment=full)) == "exceeded quota: small"


def test_a_pod_that_was_started_again_is_another_one() -> None:
    """Same name and id, one restart more."""
    again = pod("a", status={"containerStatuses": [{"restartCount": 1}]})
    assert identity(again) != identity(pod("a"))
