"""Where the rows come from: the protocol, pods on this machine that are started here, and pods at given addresses."""

import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import httpx
import msgspec

from podscale import contract
from podscale.sweep.local import LocalPod, LocalTarget
from podscale.sweep.targets import TargetError
from podscale.sweep.watch.counts import Counts, parse
from podscale.sweep.watch.errands import side_by_side
from podscale.sweep.watch.rates import Seen

# The admin port answers at once even under full load; the table must not stand still for one that does not.
ANSWER_SECONDS = 2.0
READERS = 16


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """What a source has seen at one moment. `pods` is None where they could not be listed."""

    pods: list[Seen] | None
    wanted: int | None = None  # how many are asked for; None where nobody asks
    notes: list[str] = []


class Source(Protocol):
    """Something whose pods can be watched, and maybe scaled."""

    what: str  # in words, for the title
    asks_first: bool  # whether a person is to confirm a new size

    def look(self) -> Glance:
        """All pods, now; raises nothing that passes by itself."""

    def check_scaling(self) -> int:
        """How many pods are asked for now; raises TargetError where this is not to be changed from here."""

    def scale(self, size: int) -> None:
        """Ask for `size` pods instead of what `check_scaling` found, and wait for nothing; raises TargetError."""

    def close(self) -> None:
        """End what was started here."""


class AdminPages:
    """Reads pages of admin ports on this machine or elsewhere, side by side."""

    def __init__(self) -> None:
        self._client = httpx.Client(timeout=ANSWER_SECONDS)

    def read(self, urls: Sequence[str]) -> list[Counts | None]:
        """The counts of each, None where nothing of ours answers."""
        return side_by_side(self._read, urls, READERS)

    def ready(self, urls: Sequence[str]) -> list[bool | None]:
        """Whether each says that it is ready, None where it says nothing."""
        return side_by_side(self._ready, urls, READERS)

    def close(self) -> None:
        """Let connections go."""
        self._client.close()

    def _read(self, url: str) -> Counts | None:
        answer = self._get(url + contract.METRICS)
        if answer is None or answer.status_code != 200 or contract.IN_PROGRESS not in answer.text:
            return None
        return parse(answer.text, time.monotonic(), own_cgroup=False)

    def _ready(self, url: str) -> bool | None:
        answer = self._get(url + contract.READY)
        return None if answer is None else answer.status_code == 200

    def _get(self, url: str) -> httpx.Response | None:
        try:
            return self._client.get(url)
        except (httpx.HTTPError, httpx.InvalidURL):
            return None


class Addresses:
    """Pods that run already, each by the URL of its admin port."""

    asks_first = False

    def __init__(self, urls: Sequence[str]) -> None:
        self.what = f"{len(urls)} admin ports"
        self._urls = [url.rstrip("/") for url in urls]
        self._pages = AdminPages()
        if not any(self._pages.read(self._urls)):
            self.close()
            raise TargetError(
                f"--url: no pod of podscale answers at {self._urls[0]}{contract.METRICS}; "
                f"name the pod's admin port, {contract.ADMIN_PORT} by default"
            )

    def look(self) -> Glance:
        """A row for each address."""
        readings, states = self._pages.read(self._urls), self._pages.ready(self._urls)
        found = zip(self._urls, readings, states, strict=True)
        return Glance(pods=[seen_at(url.partition("://")[2], url, counts, good) for url, counts, good in found])

    def check_scaling(self) -> int:
        """Nobody knows here how they are started."""
        raise TargetError("pods named by --url were not started here; watch --start N starts pods that + and - scale")

    def scale(self, size: int) -> None:
        """Not from here."""
        del size
        self.check_scaling()

    def close(self) -> None:
        """Let connections go."""
        self._pages.close()


class Started:
    """Pods that this command starts on this machine, and ends with it. `folder` takes their logs."""

    asks_first = False

    def __init__(self, size: int, folder: Path, most: int) -> None:
        check_size(size, most)
        self._target = LocalTarget(folder, one_core_each=False)
        self._pages = AdminPages()
        self._most = most
        self._node = platform.node()
        self.what = f"local pods, {self._target.url}"
        self._target.resize(size)

    def look(self) -> Glance:
        """A row for each pod that is to run, or still ends."""
        pods = self._target.everyone
        urls = [pod.admin_url for pod in pods]
        found = zip(pods, self._pages.read(urls), self._pages.ready(urls), strict=True)
        seen = [self._seen(pod, counts, ready) for pod, counts, ready in found]
        ended = [pod for pod in pods if not pod.child.running() and not self._target.ends(pod)]
        notes = [f"{pod.name} ended: {pod.child.last_words()}" for pod in ended]
        return Glance(pods=seen, wanted=self._target.size, notes=notes)

    def check_scaling(self) -> int:
        """They are ours."""
        return self._target.size

    def scale(self, size: int) -> None:
        """Start or stop the difference."""
        check_size(size, self._most)
        self._target.resize(size)

    def close(self) -> None:
        """End every pod."""
        self._target.close()
        self._pages.close()

    def _seen(self, pod: LocalPod, counts: Counts | None, ready: bool | None) -> Seen:
        seen = seen_at(pod.name, pod.admin_url, counts, ready)
        runs, ends = pod.child.running(), self._target.ends(pod)
        state = "ended" if not runs else "stopping" if ends else seen.state
        return msgspec.structs.replace(
            seen,
            node=self._node,
            state="starting" if state == NO_ANSWER and counts is None else state,
            ready=seen.ready and state == READY,
            runs=runs and (counts is not None or not ends),
            restarts=0,  # nobody starts them again
        )


READY, NOT_READY, NO_ANSWER = "Ready", "NotReady", "no answer"


def seen_at(name: str, url: str, counts: Counts | None, ready: bool | None) -> Seen:
    """What is known of a pod by its admin port alone."""
    began = None if counts is None else counts.started_at_seconds
    return Seen(
        pod=name,
        key=f"{url} {began}",
        state=NO_ANSWER if ready is None else READY if ready else NOT_READY,
        ready=bool(ready),
        uptime_seconds=None if began is None else max(0.0, time.time() - began),
        counts=() if counts is None else (counts,),
    )


def check_size(size: int, most: int) -> None:
    """Raise TargetError for what the keys must not reach."""
    if size < 1:
        raise TargetError("one pod is the fewest")
    if size > most:
        raise TargetError(f"{most} pods are the most; --max-pods raises that")
