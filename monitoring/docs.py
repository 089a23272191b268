"""Writes docs/alerts.md."""

import textwrap

from monitoring.alerts import ALERTS, Alert
from monitoring.queries import MAX_REPLICAS, P99_GOAL_SECONDS, RATE_WINDOW, RECORDED, RELEASE

# As a release named podscale has it with default values.
DEFAULTS = {
    RELEASE: "podscale",
    RATE_WINDOW: "60s",
    P99_GOAL_SECONDS: "1",
    MAX_REPLICAS: "10",
}
_PAGE = """\
<!-- Made from monitoring/ by `make render`; not to be edited. -->
# Alerts

With `prometheusRule.enabled` (Prometheus operator) or `prometheus.enabled` (a small Prometheus of the chart's own)
these rules look at the pods and at Locust. All of them are of one release, by the label `release` that the chart's
monitors put on each series. Below they stand as a release named podscale has them.

| alert | bad when | for |
| --- | --- | --- |
{rows}
{alerts}
## Recorded series

Panels and alerts read these instead of summing over all pods, routes and buckets each time. A rate is over four
scrapes; over fewer it has gaps.

| series | is |
| --- | --- |
{recorded}

Queries: `helm/podscale/files/rules.yaml`.
"""
_ALERT = """
## {alert.name}

{means}

{todo}

```promql
{query}
```
"""


def as_markdown() -> str:
    """The page."""
    return _PAGE.format(
        rows="\n".join(
            f"| [{alert.name}](#{alert.name.lower()}) | {alert.when} | {alert.minutes} min |" for alert in ALERTS
        ),
        alerts="".join(map(_section, ALERTS)),
        recorded="\n".join(f"| `{rule.name}` | {rule.says} |" for rule in RECORDED),
    )


def _section(alert: Alert) -> str:
    means, todo = (textwrap.fill(text, 118) for text in (alert.means, f"**What to do.** {alert.todo}"))
    return _ALERT.format(alert=alert, means=means, todo=todo, query=_filled(f"{alert.value} {alert.bad}"))


def _filled(text: str) -> str:
    """A rule's text with the default values."""
    for name, value in DEFAULTS.items():
        text = text.replace(name, value)
    return text
