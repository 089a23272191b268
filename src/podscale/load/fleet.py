"""The workers as Locust's runner knows them; a run without workers is a fleet of one, the process itself."""

from collections.abc import Sequence
from typing import Any

import gevent
from locust import User
from locust.runners import STATE_INIT, STATE_RUNNING, STATE_SPAWNING, STATE_STOPPED, MasterRunner, Runner

# The sender's name in messages of a runner without workers.
_LOCAL = "local"


class Fleet:
    """What the stage needs of a runner, the same for a master with workers and for a single process."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._stopping: Any = None  # a greenlet

    def ready(self) -> list[str]:
        """Workers that could start now."""
        if isinstance(self._runner, MasterRunner):
            return sorted(worker.id for worker in self._runner.clients.ready)
        return [_LOCAL] if self._runner.state in {STATE_INIT, STATE_STOPPED} else []

    def present(self) -> list[str]:
        """Workers that Locust hears from, ready or running."""
        if isinstance(self._runner, MasterRunner):
            states = (STATE_INIT, STATE_SPAWNING, STATE_RUNNING)
            return sorted(worker.id for worker in self._runner.clients.values() if worker.state in states)
        return [_LOCAL]

    def send(self, kind: str, data: Any, worker: str) -> None:
        """A message to one worker."""
        self._runner.send_message(kind, data, worker)

    def is_running(self) -> bool:
        """Whether Locust has spawned all the users it was asked for."""
        return bool(self._runner.state == STATE_RUNNING)

    def users(self) -> int:
        """How many users Locust was asked for last."""
        return self._runner.target_user_count

    def start(self, users: int, user_classes: Sequence[type[User]]) -> None:
        """Spawn users at once, as evenly over the workers as they divide."""
        if self._stopping is not None:
            self._stopping.join()
        self._runner.start(users, spawn_rate=users, user_classes=list(user_classes))

    def stop(self) -> None:
        """Begin to stop Locust's users on all workers; a master sleeps over that, and a stage need not wait for it."""
        self._stopping = gevent.spawn(self._runner.stop)
