"""The table of settings, and the start of the program with wrong ones."""

import dataclasses
import os
import socket
import subprocess
import sys

import pytest

from podscale.pod.settings import TABLE, Row, SettingError, Settings, describe, from_environment
from podscale.sweep.children import free_port

NUMBERS = [row for row in TABLE if type(row.default) in {int, float}]
NOT_NUMBERS = ["abc", "-1", "", "nan", "inf", "1e400", "1_0", "+5", " 5", "0x10", "\u0665", "9" * 30]


def start(environment: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the pod's program with nothing but these variables, until it ends."""
    return subprocess.run(
        [sys.executable, "-m", "podscale.pod", *arguments],
        env={"PATH": os.environ["PATH"]} | environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_defaults_are_those_of_the_table() -> None:
    """An empty environment gives the table's defaults, and the host's name as the pod's."""
    settings = from_environment({})
    assert dataclasses.replace(settings, pod_name="") == Settings()
    assert settings.pod_name == socket.gethostname()


def test_every_setting_is_read_from_its_variable() -> None:
    """Each row of the table takes its value from the variable of its name."""
    for row in TABLE:
        text = {bool: "1", str: "debug", int: "77", float: "6.5"}[type(row.default)]
        value = getattr(from_environment({row.variable: text}), row.name)
        assert value == type(row.default)(True if text == "1" else text), row


@pytest.mark.parametrize("text", NOT_NUMBERS)
@pytest.mark.parametrize("row", NUMBERS, ids=lambda row: row.name)
def test_numbers_are_plain_and_in_range(row: Row, text: str) -> None:
    """What is no plain number within its bounds is refused by name, value and what is allowed."""
    with pytest.raises(SettingError) as refused:
        from_environment({row.variable: text})
    assert str(refused.value).startswith(f"{row.variable} is ")
    assert row.allowed in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("row", NUMBERS, ids=lambda row: row.name)
def test_bounds_are_exact(row: Row) -> None:
    """A row takes its bounds themselves and nothing beyond."""
    for bound, beyond in ((row.lower, row.lower - 1), (row.upper, row.upper + 1)):
        assert row.read(f"{bound:.0f}") == bound
        with pytest.raises(SettingError):
            row.read(f"{beyond:.0f}")


@pytest.mark.parametrize("row", NUMBERS, ids=lambda row: row.name)
def test_a_bad_number_ends_the_start(row: Row) -> None:
    """The program ends with code 2 and one line on stderr that names the setting and its value."""
    ended = start({row.variable: "abc"})
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"podscale: {row.variable} is 'abc'; it must be ")
    assert ended.stderr.count("\n") == 1
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"PODSCALE_PORT": ""}, "PODSCALE_PORT is ''; it must be a whole number from 1 to 65535"),
        ({"PODSCALE_PORT": "65536"}, "PODSCALE_PORT is '65536'"),
        ({"PODSCALE_POD_NAME": "a\nb"}, r"PODSCALE_POD_NAME is 'a\nb'; it must be text that matches"),
        ({"PODSCALE_REUSE_PORT": "yes"}, "PODSCALE_REUSE_PORT is 'yes'; it must be 0 or 1"),
        ({"PODSCALE_LOG_LEVEL": "loud"}, "PODSCALE_LOG_LEVEL is 'loud'"),
        ({"PODSCALE_PORT": "9100"}, "PODSCALE_PORT and PODSCALE_ADMIN_PORT are both 9100"),
        ({"PODSCALE_DRAIN_SECONDS": "30"}, "PODSCALE_DRAIN_SECONDS is 30; it must be below PODSCALE_GRACE_SECONDS"),
        ({"PODSCALE_QEUE_LENGTH": "1"}, "PODSCALE_QEUE_LENGTH is not a setting; did you mean PODSCALE_QUEUE_LENGTH?"),
    ],
)
def test_other_wrong_settings_are_named(environment: dict[str, str], message: str) -> None:
    """Empty, out of range, not a choice, at odds with another setting, unknown: each says what is wrong."""
    with pytest.raises(SettingError) as refused:
        from_environment(environment)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_kubernetes_service_variables_are_no_settings() -> None:
    """A Service named podscale puts variables like ours into each pod; they count as not set."""
    injected = {
        "PODSCALE_SERVICE_HOST": "10.0.0.1",
        "PODSCALE_SERVICE_PORT": "8000",
        "PODSCALE_SERVICE_PORT_HTTP": "8000",
        "PODSCALE_PORT": "tcp://10.0.0.1:8000",
        "PODSCALE_PORT_8000_TCP": "tcp://10.0.0.1:8000",
        "PODSCALE_PORT_8000_TCP_PROTO": "tcp",
        "PODSCALE_PORT_8000_TCP_PORT": "8000",
        "PODSCALE_PORT_8000_TCP_ADDR": "10.0.0.1",
        "PODSCALE_ADMIN_PORT": "tcp://10.0.0.2:9100",
        "PODSCALE_LOCUST_MASTER_SERVICE_HOST": "10.0.0.3",
        "PODSCALE_LOCUST_MASTER_PORT": "tcp://10.0.0.3:8089",
        "PODSCALE_LOCUST_MASTER_PORT_8089_TCP_ADDR": "10.0.0.3",
    }
    assert from_environment(injected) == from_environment({})


def test_longest_job_follows_the_caps() -> None:
    """The longest legal job is the longest burn, or a computation at a cap that was raised."""
    assert from_environment({}).longest_job_seconds == 10
    assert from_environment({"PODSCALE_MAX_CPU_TIME_MS": "60000"}).longest_job_seconds == 60
    assert from_environment({"PODSCALE_MAX_LIMIT": "600000"}).longest_job_seconds == 40
    assert from_environment({"PODSCALE_MAX_NUMBER": "50000000000"}).longest_job_seconds == 100


def test_help_prints_the_table() -> None:
    """--help names every setting with its default, unit and help."""
    ended = start({}, "--help")
    assert ended.returncode == 0
    assert describe() in ended.stdout
    for row in TABLE:
        assert row.variable in ended.stdout
        assert row.help in ended.stdout


def test_unknown_arguments_are_refused() -> None:
    """Settings are variables, so any other argument is a mistake."""
    ended = start({}, "--port=8000")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "--port=8000" in ended.stderr


@pytest.mark.parametrize("setting", ["PODSCALE_PORT", "PODSCALE_ADMIN_PORT"])
def test_a_taken_port_ends_the_start(setting: str) -> None:
    """A port that is in use ends the start with code 2 and one line that names the setting and the port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        hosts = {"PODSCALE_HOST": "127.0.0.1", "PODSCALE_ADMIN_HOST": "127.0.0.1"}
        ports = {"PODSCALE_PORT": str(free_port()), "PODSCALE_ADMIN_PORT": str(free_port())}
        ended = start(hosts | ports | {setting: str(port)})
    assert ended.returncode == 2
    assert ended.stderr == f"podscale: {setting} is {port}: cannot listen on 127.0.0.1:{port}: Address already in use\n"
