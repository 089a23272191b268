"""What the monitoring values bring: labels for the operator, rules, dashboards and the chart's own Prometheus."""

import re

from tests.chart.helm import CHART, of_kind, only, render, setting, with_values


def test_labels_for_the_operator() -> None:
    """A Prometheus selects monitors and rules by a label of the user's; alerts carry theirs."""
    objects = render(*with_values("monitoring"))
    for kind in ("ServiceMonitor", "PrometheusRule"):
        assert {item["metadata"]["labels"]["release"] for item in of_kind(objects, kind)} == {"prometheus"}
        plain = render(*setting(serviceMonitor__enabled=True, prometheusRule__enabled=True))
        assert all("release" not in item["metadata"]["labels"] for item in of_kind(plain, kind))
    bare = render(*with_values("monitoring"), *setting(prometheusRule__alertLabels__severity=None))
    for given, labels in ((objects, {"severity": "warning"}), (bare, None)):
        recorded, alerts = only(given, "PrometheusRule")["spec"]["groups"]
        assert {str(rule.get("labels")) for rule in alerts["rules"]} == {str(labels)}
        assert {str(rule.get("labels")) for rule in recorded["rules"]} == {"None"}


def test_rules_have_the_values_of_the_release() -> None:
    """Goal, autoscaler's maximum, interval and name stand in them; what needs the autoscaler is there with it."""
    text = only(render(*with_values("prometheus"), release="demo"), "ConfigMap", "demo-podscale-prometheus")
    rules = text["data"]["rules.yaml"]
    for part in ("> 0.25", ">= 4", "[20s]", 'release="demo"', "PodscaleAtMaximum"):
        assert part in rules
    plain = str(only(render(*with_values("monitoring")), "PrometheusRule")["spec"])
    assert "PodscaleAtMaximum" not in plain
    for part in ("> 1'", "[60s]", 'release="podscale"'):
        assert part in plain
    minute = str(only(render(*with_values("monitoring"), *setting(serviceMonitor__interval="1m")), "PrometheusRule"))
    assert "[4m]" in minute
    for given in (rules, plain, minute):
        assert not {"RELEASE", "RATE_WINDOW", "P99_GOAL_SECONDS", "MAX_REPLICAS"} & set(
            re.findall(r"[A-Z0-9_]+", given)
        )


def test_dashboards_arrive_as_they_are() -> None:
    """Braces and all, under the label that a sidecar looks for, in the folder that it is told."""
    objects = render(*with_values("dashboards"))
    for name in ("scaling", "load"):
        given = only(objects, "ConfigMap", f"podscale-{name}")
        file = CHART / "files" / "dashboards" / f"podscale-{name}.json"
        assert given["data"] == {file.name: file.read_text()}
        assert given["metadata"]["labels"]["dashboards"] == "mine"
        assert "grafana_dashboard" not in given["metadata"]["labels"]
        assert given["metadata"]["annotations"] == {"grafana_folder": "Podscale"}
        plain = only(render(*with_values("prometheus")), "ConfigMap", f"podscale-{name}")["metadata"]
        assert plain["labels"]["grafana_dashboard"] == "1"
        assert "annotations" not in plain


def test_prometheus_starts_anew_with_other_rules() -> None:
    """It does not watch its files; a changed rule is a changed pod."""
    before, after = (
        only(render(*with_values("prometheus"), *more), "Deployment", "podscale-prometheus")["spec"]["template"]
        for more in ((), setting(prometheusRule__p99GoalSeconds=0.5))
    )
    assert before["metadata"]["annotations"] != after["metadata"]["annotations"]
    assert before["spec"]["nodeSelector"] == {"pool": "watch"}
