"""The worker's side: takes its share of a stage from the master and gives Locust's users their part in it."""

import functools
import resource
import time
from collections.abc import Callable
from typing import Any

import gevent
import gevent.event
from gevent.pool import Group
from locust import TaskSet, User
from locust.env import Environment
from locust.rpc import Message
from locust.runners import Runner
from locust.user.task import LOCUST_STATE_WAITING, DefaultTaskSet

from podscale.load.clients import forbid_hidden_retries
from podscale.load.closed_run import ClosedRun
from podscale.load.messages import GO, PREPARE, READY, SNAPSHOT, Ready, Share, Snapshot
from podscale.load.open_run import OpenRun
from podscale.load.visits import is_task_set

# Files that a worker needs for itself: its code, its connection to the master, name lookups.
_OWN_FILES = 100


class Worker:
    """One worker of Locust. It holds the run of the newest stage, and none before the first."""

    def __init__(self, environment: Environment, runner: Runner, clock: Callable[[], float] = time.time) -> None:
        self.run: OpenRun | ClosedRun | None = None
        self._environment = environment
        self._runner = runner
        self._clock = clock
        runner.register_message(PREPARE, self._prepare)
        runner.register_message(GO, self._go)
        environment.events.request.add_listener(self._on_request)
        environment.events.test_stop.add_listener(self._on_test_stop)
        forbid_hidden_retries()
        _lead_users(self)
        _watch_tasks(self)

    def _prepare(self, environment: Environment, msg: Message) -> None:
        if self.run is not None:
            self.run.cut()
        share: Share = msg.data
        soft_limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        share["in_flight_cap"] = max(min(share["in_flight_cap"], soft_limit - _OWN_FILES), 1)
        if share["model"] == "open":
            self.run = OpenRun(share, environment, send=self._send, clock=self._clock)
        else:
            self.run = ClosedRun(share, send=self._send, clock=self._clock)
        ready: Ready = {"stage": share["stage"], "clock_seconds": self._clock()}
        self._runner.send_message(READY, ready)

    def _go(self, environment: Environment, msg: Message) -> None:
        if self.run is not None and self.run.share["stage"] == msg.data["stage"]:
            self.run.go(msg.data)

    def _on_request(
        self,
        response_time: float | None = None,
        response: Any = None,
        exception: BaseException | None = None,
        **_: object,
    ) -> None:
        if self.run is not None:
            self.run.on_request(response_time=response_time, response=response, exception=exception)

    def _on_test_stop(self, **_: object) -> None:
        if self.run is not None:
            self.run.cut()

    def _send(self, snapshot: Snapshot) -> None:
        self._runner.send_message(SNAPSHOT, snapshot)


def _lead_users(worker: Worker) -> None:
    """Let the users that Locust spawns loop in a closed stage only, with the stage's timeout.

    In the open model they idle, however many the start form asked for, and so they do on a worker without a share.
    """
    start = User.start

    @functools.wraps(start)
    def start_or_idle(user: User, group: Group) -> Any:
        if isinstance(worker.run, ClosedRun):
            worker.run.adopt(user)
            return start(user, group)
        # Locust kills a waiting user at once, which is what an idle one needs; it finds the user by the argument.
        user._state = LOCUST_STATE_WAITING
        user._group = group
        user._greenlet = group.spawn(_idle, user)
        return user._greenlet

    User.start = start_or_idle  # type: ignore[method-assign,assignment]  # Locust has no event for it


def _idle(user: User) -> None:
    gevent.event.Event().wait()


def _watch_tasks(worker: Worker) -> None:
    """Make each task of a user's loop a visit in a closed stage."""

    def watched(execute_task: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        @functools.wraps(execute_task)
        def execute(task_set: Any, task: Any) -> None:
            if isinstance(worker.run, ClosedRun) and not is_task_set(task):
                worker.run.visit(task_set.user, lambda: execute_task(task_set, task))
            else:
                execute_task(task_set, task)

        return execute

    # Where a task runs: Locust has no event for it. TaskSet's own method serves all nested ones.
    TaskSet.execute_task = watched(TaskSet.execute_task)  # type: ignore[method-assign]
    DefaultTaskSet.execute_task = watched(DefaultTaskSet.execute_task)  # type: ignore[method-assign]
