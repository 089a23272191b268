"""One visit: one execution of one task of a user, and how its requests find their way back to it."""

import functools
import logging
import random
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import gevent
from locust import TaskSet, User
from locust.env import Environment
from locust.exception import InterruptTaskSet, RescheduleTask, RescheduleTaskImmediately
from locust.user.task import LOCUST_STATE_RUNNING, DefaultTaskSet

from podscale.load.clients import close_connections, set_timeout

_KEY = "podscale_visit"
_TASK_ENDS = (InterruptTaskSet, RescheduleTask, RescheduleTaskImmediately)

logger = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Visit:
    """A visit on its way.

    `counted`: due in the measuring window. `began`: its greenlet has run. `lag_seconds`: from its due time to its task.
    """

    counted: bool = False
    began: bool = False
    lag_seconds: float = 0.0
    requests: int = 0


def current_visit() -> Visit | None:
    """The visit that this greenlet, or the one that spawned it, works for; None in on_start and on_stop."""
    # gevent hands these on to every greenlet that a task spawns; context variables it does not.
    # https://www.gevent.org/api/gevent.greenlet.html#gevent.Greenlet.spawn_tree_locals
    tree = getattr(gevent.getcurrent(), "spawn_tree_locals", None)
    visit: Visit | None = tree.get(_KEY) if tree else None
    return visit


def enter(visit: Visit | None) -> None:
    """From here on, requests of this greenlet belong to `visit`."""
    this_greenlet().spawn_tree_locals = {_KEY: visit}


def this_greenlet() -> "gevent.Greenlet[..., Any]":
    """The greenlet that runs now; Locust's users and our visits never run outside of one."""
    return cast("gevent.Greenlet[..., Any]", gevent.getcurrent())


class Visitor:
    """A user instance that makes one visit when told to, in place of Locust's endless loop.

    Raises what the user's constructor or its on_start raises.
    """

    def __init__(self, user_class: type[User], environment: Environment, timeout_seconds: float) -> None:
        self.user = user_class(environment)
        set_timeout(self.user, timeout_seconds)
        self.visits = 0
        self._root = DefaultTaskSet(self.user)
        self._entered: dict[type[TaskSet], TaskSet] = {}
        # User.wait() in a task looks at both.
        self.user._taskset_instance = self._root
        self.user._state = LOCUST_STATE_RUNNING
        self.user.on_start()

    def next_task(self) -> Callable[[], None]:
        """The next task, chosen by weight; of a nested TaskSet, its next task, after its on_start.

        The task raises StopUser or StopTest where this instance is to make no more visits, and whatever else it likes.
        """
        self.visits += 1
        holder: TaskSet = self._root
        task = holder.get_next_task()
        while is_task_set(task):
            holder = self._enter(task, holder)
            task = holder.get_next_task()
        return functools.partial(self._execute, holder, task)

    def leave(self) -> None:
        """Run on_stop and close the connections."""
        try:
            self.user.on_stop()
        except Exception as error:
            report_error(self.user.environment, self.user, error)
        finally:
            close_connections(self.user)

    def _execute(self, holder: TaskSet, task: Any) -> None:
        try:
            holder.execute_task(task)
        except _TASK_ENDS:
            if self._entered.pop(type(holder), None):
                holder.on_stop()

    def _enter(self, task_set: type[TaskSet], parent: TaskSet) -> TaskSet:
        # Kept between visits, so that a sequence goes on where it stood.
        if task_set not in self._entered:
            owner: Any = self.user if parent is self._root else parent
            self._entered[task_set] = task_set(owner)
            self._entered[task_set].on_start()
        return self._entered[task_set]


class VisitorPool:
    """Idle visitors of some user classes, chosen by weight. A new one is made where none is idle."""

    def __init__(
        self,
        environment: Environment,
        user_classes: Sequence[type[User]],
        *,
        timeout_seconds: float,
        visits_per_connection: int | None,
    ) -> None:
        self._environment = environment
        self._classes = list(user_classes)
        self._weights = [user_class.weight for user_class in user_classes]
        self._timeout_seconds = timeout_seconds
        self._visits_per_connection = visits_per_connection
        self._idle: dict[type[User], list[Visitor]] = {user_class: [] for user_class in user_classes}

    def take(self) -> Visitor:
        """A visitor for one visit; the one that was busy last comes first, as connection pools do it."""
        (user_class,) = random.choices(self._classes, self._weights)
        idle = self._idle[user_class]
        return idle.pop() if idle else Visitor(user_class, self._environment, self._timeout_seconds)

    def give_back(self, visitor: Visitor) -> None:
        """After its visit; closes its connection where the policy says so."""
        if is_due_for_new_connection(visitor.visits, self._visits_per_connection):
            close_connections(visitor.user)
        self._idle[type(visitor.user)].append(visitor)

    def close(self, seconds: float) -> None:
        """Let all idle visitors leave, those with an on_stop at most `seconds` long."""
        leaving = []
        for visitor in (visitor for idle in self._idle.values() for visitor in idle):
            if type(visitor.user).on_stop is User.on_stop:
                close_connections(visitor.user)
            else:
                leaving.append(gevent.spawn(visitor.leave))
        gevent.joinall(leaving, timeout=seconds)
        gevent.killall(leaving, timeout=1)
        for idle in self._idle.values():
            idle.clear()


def is_task_set(task: object) -> bool:
    """Whether a task is a nested TaskSet."""
    return isinstance(task, type) and issubclass(task, TaskSet)


def is_due_for_new_connection(visits: int, visits_per_connection: int | None) -> bool:
    """Whether the connection has served its number of visits."""
    return visits_per_connection is not None and visits % visits_per_connection == 0


def report_error(environment: Environment, user: User | None, error: Exception) -> None:
    """Show an exception of a task where Locust shows it: in the log and on its page."""
    logger.error("%s\n%s", error, "".join(traceback.format_exception(error)))
    environment.events.user_error.fire(user_instance=user, exception=error, tb=error.__traceback__)
