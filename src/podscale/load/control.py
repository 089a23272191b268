"""The stage that runs on a master, or ran last: started by an order over HTTP, or by hand on Locust's page."""

import itertools
import logging
import time
from collections.abc import Callable
from typing import Any

import gevent
from locust import FastHttpUser, HttpUser, User, argument_parser
from locust.env import Environment
from locust.rpc import Message
from locust.runners import Runner

from podscale.contract import StageOrder, StageReport
from podscale.load.fleet import Fleet
from podscale.load.messages import READY, SNAPSHOT
from podscale.load.orders import OrderError, read_order
from podscale.load.stage import Stage

BY_HAND = "by-hand"
# The plugin's own fields of the start form; an order has fields of its own for them.
OWN_OPTIONS = ("rate", "arrivals", "connections")
WORKERS_SECONDS = 10.0
# Of a stage that is told to stop: Locust's own stop, a second, and the last reports.
STOP_SECONDS = 10.0

logger = logging.getLogger(__name__)


class Busy(RuntimeError):  # noqa: N818  # not an error of ours: somebody else is at it
    """Another stage, or load that was started by hand, is running."""


class Control:
    """Starts, stops and shows stages. Its runner is Locust's master, or a single process without workers."""

    def __init__(self, environment: Environment, runner: Runner) -> None:
        self.newest: Stage | None = None
        self.fleet = Fleet(runner)
        self._environment = environment
        self._options: Any = environment.parsed_options
        self._keys = itertools.count(1)
        self._starting_by_order = False
        self._options_at_start = dict(vars(self._options))
        self._host_at_start = environment.host
        runner.register_message(READY, self._to_stage(Stage.on_ready))
        runner.register_message(SNAPSHOT, self._to_stage(Stage.on_snapshot))
        environment.events.test_start.add_listener(self._on_test_start)
        environment.events.test_stopping.add_listener(self._on_test_stopping)

    def start(self, payload: object) -> StageReport:
        """Begin the stage that is ordered in `payload`, decoded JSON.

        Raises:
            OrderError: it is not a legal order.
            Busy: another one is running.
        """
        user_classes, options = self._user_classes(), self._locustfile_options()
        order = read_order(payload, user_classes=user_classes, options=options)
        if self.newest is not None and not self.newest.ended:
            raise Busy(f"stage {self.newest.order['id']} is running; stop it first, or wait until it has ended")
        scenario = order.get("scenario")
        chosen = [user_class for name, user_class in user_classes.items() if scenario in {None, name}]
        # What an earlier order or a person has set does not count.
        self._environment.host = order.get("host", self._host_at_start)
        self._check_host(chosen)
        at_start = {name: self._options_at_start[name] for name in options}
        vars(self._options).update(at_start | order.get("options", {}))
        return self._begin(order, chosen)

    def stop(self, reason: str) -> StageReport | None:
        """Stop the stage that runs and return its report; None before the first one."""
        if self.newest is None:
            return None
        if not self.newest.ended:
            stage = self.newest
            stage.stop(reason)
            deadline = time.monotonic() + STOP_SECONDS
            while not stage.ended and time.monotonic() < deadline:
                gevent.sleep(0.02)
        return self.newest.report()

    def _begin(self, order: StageOrder, user_classes: list[type[User]], *, by_hand: bool = False) -> StageReport:
        self.newest = Stage(
            order,
            key=f"{next(self._keys)}/{order['id']}",
            fleet=self.fleet,
            user_classes=user_classes,
            in_flight_cap=self._options.in_flight_cap,
            # Locust's own option, which it looks at in headless runs only; there 0 is no limit.
            workers_seconds=self._options.expect_workers_max_wait or WORKERS_SECONDS,
            by_hand=by_hand,
        )
        gevent.spawn(self._run, self.newest)
        return self.newest.report()

    def user_classes(self) -> list[str]:
        """Names that an order's `scenario` may have."""
        return sorted(self._user_classes())

    def _check_host(self, user_classes: list[type[User]]) -> None:
        if self._environment.host:
            return
        for user_class in user_classes:
            if issubclass(user_class, HttpUser | FastHttpUser) and not user_class.host:
                raise OrderError(f"{user_class.__name__} has no host; start Locust with --host, or set it in the class")

    def _run(self, stage: Stage) -> None:
        stage.run()
        report = stage.report()
        if report["reason"]:
            logger.warning("Stage %s is %s: %s", report["order"]["id"], report["state"], report["reason"])

    def _on_test_start(self, **_: object) -> None:
        """Locust is about to spawn users. Where no stage asked for it, a person did, and the form is the order.

        Returns once each worker has its share, for users must not be spawned before.
        """
        if self.newest is not None and not self.newest.ended:
            return
        options = self._options
        try:
            order = read_order(
                {
                    "id": BY_HAND,
                    "model": "open" if options.rate else "closed",
                    "arrivals": options.arrivals,
                    "rate_per_second": options.rate,
                    "users": max(self.fleet.users(), 1),
                    "connections": options.connections,
                    "warmup_seconds": 0,
                    # A person ends it, not the clock.
                    "measure_seconds": 1,
                    "timeout_seconds": options.timeout_seconds,
                    "expect_workers": 1,
                },
                user_classes=(),
                options={},
            )
        except OrderError as error:
            logger.error("%s; no load is sent", error)  # noqa: TRY400  # a person's slip needs no traceback
            return
        order["measure_seconds"] = 0.0
        self._begin(order, list(self._user_classes().values()), by_hand=True)
        while self.newest is not None and self.newest.report()["state"] == "starting":
            gevent.sleep(0.01)

    def _on_test_stopping(self, **_: object) -> None:
        if self.newest is not None and not self.newest.ended:
            self.newest.on_test_stopping()

    def _to_stage(self, tell: Callable[[Stage, str, Any], None]) -> Callable[..., None]:
        """Hand a message on to the stage that it speaks of; one for an earlier stage is dropped."""

        def listener(environment: Environment, msg: Message) -> None:
            if self.newest is not None and self.newest.key == msg.data["stage"]:
                tell(self.newest, msg.node_id, msg.data)

        return listener

    def _user_classes(self) -> dict[str, type[User]]:
        return self._environment.user_classes_by_name

    def _locustfile_options(self) -> dict[str, dict[str, Any]]:
        """The custom arguments that the start form shows, without the plugin's own."""
        rows = argument_parser.ui_extra_args_dict()
        return {name: row for name, row in rows.items() if name not in OWN_OPTIONS}
