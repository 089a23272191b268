"""Writes helm/podscale/files/rules.yaml: groups of Prometheus rules; the chart fills in what is in capitals."""

import yaml

from monitoring.alerts import ALERTS, Alert
from monitoring.queries import RECORDED

HEAD = "# Made from monitoring/ by `make render`; not to be edited. The chart puts values in for what is in capitals.\n"
AUTOSCALING = "podscale-autoscaling"


def as_yaml() -> str:
    """The file. What needs the autoscaler has a group of its own, which the chart can leave out."""
    groups = [
        # One group: its rules are evaluated one after the other, and later ones read earlier ones.
        {"name": "podscale", "rules": [{"record": rule.name, "expr": rule.query} for rule in RECORDED]},
        {"name": "podscale-alerts", "rules": [_alert(alert) for alert in ALERTS if not alert.needs_autoscaling]},
        {"name": AUTOSCALING, "rules": [_alert(alert) for alert in ALERTS if alert.needs_autoscaling]},
    ]
    return HEAD + yaml.safe_dump({"groups": groups}, sort_keys=False, width=118)


def _alert(alert: Alert) -> dict[str, object]:
    return {
        "alert": alert.name,
        "expr": f"{alert.value} {alert.bad}",
        "for": f"{alert.minutes}m",
        "annotations": {"summary": alert.summary, "runbook": f"docs/alerts.md#{alert.name.lower()}"},
    }
