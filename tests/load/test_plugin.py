"""The plugin with other files and in other places than the shared master has it."""

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from podscale.contract import STAGE_PATH
from tests.load.locusts import LOCUSTFILE, PLUGIN, ROOT, Locusts, TinyServer, locust, running_locust


def test_all_scenarios_at_once_in_one_process(tmp_path: Path, server: TinyServer) -> None:
    """The whole of loadtest/ loads together; a process without workers knows the protocol too and sends its options."""
    files = f"{PLUGIN},{ROOT / 'loadtest'}"
    with running_locust(tmp_path, server.url, "--limit", "77", files=files, workers=0) as single:
        assert httpx.get(single.url + STAGE_PATH, timeout=5).status_code == 404
        assert httpx.delete(single.url + STAGE_PATH, timeout=5).status_code == 404
        options = {"cpu_time_ms": 9, "clock": "sleep", "algorithm": "sqrt"}
        report = single.run(rate_per_second=200, options=options)
        targets = server.read()["targets"]
        refused = single.post(single.order(options={"clock": "moon"}))
    assert report["state"] == "done", report["reason"]
    assert report["errors"] == {}
    assert targets["/blocking"] == "/blocking?cpuTimeMs=9&clock=sleep"
    assert targets["/worker"] == "/worker?cpuTimeMs=9&clock=sleep"
    assert targets["/primes"] == "/primes?limit=77&algorithm=sqrt&offload=none"
    assert {"/prime", "/timestamp"} <= set(targets)
    assert (refused.status_code, refused.text) == (
        400,
        "options.clock is 'moon'; it must be one of cpu, wall, sleep\n",
    )


def test_a_worker_gets_plugin_and_file_from_the_master(locusts: Locusts) -> None:
    """`-f -` on a worker fetches both, as in pods that have no copy of the locustfile."""
    with locusts.one_more_worker(files="-"):
        report = locusts.run(scenario="Delay")
    assert (report["state"], report["errors"]) == ("done", {})
    assert report["generator"]["workers"] == 3


def test_a_worker_without_the_plugin_voids_the_stage(locusts: Locusts, server: TinyServer) -> None:
    """It cannot take its share, which the reason says before any load is sent."""
    before = server.counts().get("/delay", 0)
    with locusts.one_more_worker(files=str(LOCUSTFILE)):
        report = locusts.run(scenario="Delay", model="closed", users=3)
    assert report["state"] == "void"
    assert "does it run with this plugin too?" in report["reason"]
    assert server.counts().get("/delay", 0) == before


LOGIN = """
from flask_login import UserMixin
from locust import FastHttpUser, events, task

class Anybody(FastHttpUser):
    @task
    def ask(self):
        self.client.get("/ok")

@events.init.add_listener
def ask_for_a_login(environment, **_):
    environment.web_ui.app.secret_key = "a test's"
    environment.web_ui.login_manager.user_loader(lambda name: UserMixin())
"""


def test_locusts_login_guards_the_protocol(tmp_path: Path, server: TinyServer) -> None:
    """With --web-login an order from a stranger is sent to the login page and starts nothing."""
    locustfile = tmp_path / "login.py"
    locustfile.write_text(LOGIN)
    before = server.counts().get("/ok", 0)
    with running_locust(tmp_path, server.url, "--web-login", files=f"{PLUGIN},{locustfile}", workers=0) as single:
        for answer in (single.post(single.order()), single.delete(), httpx.get(single.url + STAGE_PATH, timeout=5)):
            assert answer.status_code == 302
            assert "/login" in answer.headers["location"]
    assert server.counts().get("/ok", 0) == before


def test_a_missing_host_is_said_at_once(tmp_path: Path) -> None:
    """Users without an address to ask are refused before any worker is."""
    with running_locust(tmp_path, "", workers=0) as single:
        answer = single.post(single.order(scenario="Delay"))
    assert (answer.status_code, answer.text) == (
        400,
        "Delay has no host; start Locust with --host, or set it in the class\n",
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [(["--rate", "-1"], "argument --rate"), (["--connections", "some"], "argument --connections")],
)
def test_a_bad_argument_ends_the_start(arguments: list[str], line: str) -> None:
    """One line that names the argument, and exit code 2."""
    command = locust("-f", f"{PLUGIN},{LOCUSTFILE}", *arguments)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL)
    assert ended.returncode == 2
    assert line in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_room_tells_where_its_plugin_is() -> None:
    """`python -m podscale.load` prints the path that `locust -f` wants."""
    shown = subprocess.run([sys.executable, "-m", "podscale.load"], capture_output=True, text=True, check=True)
    assert Path(shown.stdout.strip()) == PLUGIN
