"""Adds podscale's load to any plain locustfile. Name it before the locustfile, on the master and on all workers.

`locust -f <this file>,locustfile.py`: the start form gets a rate, arrivals and a connection policy, and the master
serves the stage protocol of `podscale.contract`. The locustfile needs no import of ours.
"""

import argparse
from pathlib import Path
from typing import Any

from locust import events
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment
from locust.runners import MasterRunner, Runner, WorkerRunner
from locust.web import WebUI

from podscale.load.control import Control
from podscale.load.orders import is_connections
from podscale.load.routes import add_metrics, add_routes, add_tab
from podscale.load.worker import Worker


def _at_least_zero(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a rate of at least 0")
    return value


def _connections(text: str) -> str:
    if not is_connections(text):
        raise argparse.ArgumentTypeError(f"{text} is none of new, keep and a number above 0")
    return text


# The first three are fields of the start form too.
ARGUMENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "--rate",
        {
            "type": _at_least_zero,
            "default": 0.0,
            "help": "Arrival rate, requests per second over all workers; 0: closed model, "
            "each user waits for its answer",
        },
    ),
    (
        "--arrivals",
        {"choices": ["constant", "poisson"], "default": "constant", "help": "With a rate: evenly spaced, or by chance"},
    ),
    (
        "--connections",
        {
            "type": _connections,
            "default": "keep",
            "help": "new: a connection for each visit; keep: reuse them; a number: visits before one is closed",
        },
    ),
    (
        "--timeout-seconds",
        {
            "type": float,
            "default": 60.0,
            "include_in_web_ui": False,
            "help": "How long a request waits, when load is started by hand",
        },
    ),
    (
        "--in-flight-cap",
        {
            "type": int,
            "default": 5000,
            "include_in_web_ui": False,
            "help": "With a rate: visits in flight on one worker, beyond which arrivals are dropped and counted",
        },
    ),
)


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser, **_: object) -> None:
    """Locust asks for them at the start, and again whenever it shows the start form."""
    for name, row in ARGUMENTS:
        parser.add_argument(name, **row)


@events.init.add_listener
def begin(environment: Environment, runner: Runner, web_ui: WebUI | None = None, **_: object) -> None:
    """Take the worker's part, the master's, or both in a run without workers."""
    if not isinstance(runner, WorkerRunner):
        control = Control(environment, runner)
        if web_ui is not None:
            options: Any = environment.parsed_options
            base_path = options.web_base_path or ""
            add_routes(web_ui, control, base_path)
            add_metrics(web_ui, control, base_path)
            add_tab(web_ui, control, base_path)
        # Locust's page is titled by the first file, which is this one.
        environment.locustfile = Path((environment.parsed_locustfiles or [__file__])[-1]).name
    if not isinstance(runner, MasterRunner):
        Worker(environment, runner)
