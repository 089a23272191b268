"""The rules as a release has them, in the hands of Prometheus' own promtool."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from monitoring.alerts import ALERTS
from monitoring.queries import RECORDED
from tests.chart.helm import only, render, setting

CASES = Path(__file__).with_name("cases.yaml")
Promtool = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def promtool(program_path: Callable[[str], Path]) -> Promtool:
    """Runs it in a folder."""
    program_path("helm")
    tool = program_path("promtool")

    def run(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([tool, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=60)

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Has the rules of a release named demo, with an autoscaler, in rules.yaml, and the cases beside them."""
    options = setting(prometheus__enabled=True, autoscaling__enabled=True, autoscaling__maxReplicas=2)
    rules = only(render(*options, release="demo"), "ConfigMap", "demo-podscale-prometheus")["data"]["rules.yaml"]
    (tmp_path / "rules.yaml").write_text(rules)
    (tmp_path / "cases.yaml").write_text(CASES.read_text())
    return tmp_path


def test_promtool_takes_the_rules(promtool: Promtool, folder: Path) -> None:
    """It finds each of them and no fault, not even a doubled one."""
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", "rules.yaml", folder=folder)
    assert done.returncode == 0, done.stderr
    assert f"{len(RECORDED) + len(ALERTS)} rules found" in done.stdout


def test_promtool_takes_the_configuration(promtool: Promtool, tmp_path: Path) -> None:
    """The chart's own Prometheus would start with it."""
    data = only(render(*setting(prometheus__enabled=True)), "ConfigMap")["data"]
    for name, text in data.items():
        (tmp_path / name).write_text(text.replace("/etc/prometheus/", ""))
    done = promtool("check", "config", "prometheus.yaml", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_alerts_go_off_when_they_should_and_stay_silent_else(promtool: Promtool, folder: Path) -> None:
    """Each alert has a case in which it goes off, with the words that people get, and one in which it does not."""
    done = promtool("test", "rules", "cases.yaml", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = {alert.name: {False, True} for alert in ALERTS}
    found: dict[str, set[bool]] = {name: set() for name in outcomes}
    for case in yaml.safe_load(CASES.read_text())["tests"]:
        for asked in case.get("alert_rule_test", []):
            found[asked["alertname"]].add(bool(asked["exp_alerts"]))
    assert found == outcomes


def test_a_wrong_rule_fails_its_case(promtool: Promtool, folder: Path) -> None:
    """The cases notice a threshold that has moved."""
    rules = folder / "rules.yaml"
    rules.write_text(rules.read_text().replace("> 0.25", "> 0.75"))
    done = promtool("test", "rules", "cases.yaml", folder=folder)
    assert done.returncode != 0
    assert "PodscaleThrottled" in done.stderr + done.stdout
