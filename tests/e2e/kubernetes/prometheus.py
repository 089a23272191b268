"""Asks the Prometheus of a release, with the variables of the dashboards filled in."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from monitoring.queries import RATE_WINDOW, RECORDED, RELEASE
from monitoring.render import BOARDS, DASHBOARDS
from tests.e2e.kubernetes.release import Release

# Labels and value.
Sample = tuple[dict[str, str], float]


@dataclass(frozen=True)
class Prometheus:
    """Its HTTP API, through the API server. `scrape_seconds` is its interval."""

    release: Release
    scrape_seconds: int

    def ask(self, path: str, **parameters: object) -> Any:
        """The data of an answer."""
        query = urlencode({name: str(value) for name, value in parameters.items()})
        service = f"{self.release.deployment}-prometheus"
        answer = json.loads(self.release.ask(f"/api/v1/{path}?{query}", service=service, port="web"))
        assert answer["status"] == "success", answer
        return answer["data"]

    def values(self, query: str, at: float | None = None, rate_seconds: int | None = None) -> list[Sample]:
        """What a query gives at a time (now, if not said), without what is not a number."""
        moment = {} if at is None else {"time": at}
        rows = self.ask("query", query=self.filled(query, rate_seconds), **moment)["result"]
        return [(row["metric"], value) for row in rows if not math.isnan(value := float(row["value"][1]))]

    def value(self, query: str, at: float | None = None) -> float:
        """The only value."""
        ((_, value),) = self.values(query, at)
        return value

    def over(self, query: str, seconds: int, at: float) -> dict[str, float]:
        """What a panel would show if all its rates were over this time; by pod, "" for the one without.

        Recorded series in it are replaced by what is recorded, with that window.
        """
        for rule in reversed(RECORDED):
            query = re.sub(f"{rule.name}{{[^}}]*}}", f"({rule.query})", query)
        query = query.replace(RELEASE, self.release.name).replace(RATE_WINDOW, f"{seconds}s")
        return {labels.get("pod", ""): value for labels, value in self.values(query, at, rate_seconds=seconds)}

    def happened(self, query: str, start: float, end: float) -> bool:
        """Whether a query had a value at any time between, as an annotation looks for it."""
        step = self.scrape_seconds
        return bool(self.ask("query_range", query=self.filled(query), start=start, end=end, step=step)["result"])

    def filled(self, query: str, rate_seconds: int | None = None) -> str:
        """A query of a dashboard as Grafana asks it, for all pods of the release."""
        for name, value in {
            "$__rate_interval": f"{rate_seconds or 4 * self.scrape_seconds}s",
            "$__interval": f"{self.scrape_seconds}s",
            "$__range": "5m",
            "$namespace": self.release.namespace,
            "$release": self.release.name,
            "$pod": ".+",
        }.items():
            query = query.replace(name, value)
        return query


def dashboards() -> list[dict[str, Any]]:
    """The committed files."""
    return [json.loads((DASHBOARDS / f"{board.uid}.json").read_text()) for board in BOARDS]


def panels(dashboard: dict[str, Any]) -> dict[str, dict[str, str]]:
    """The queries of each panel, by its title and their legend; a title may stand twice, as a number and as lines."""
    return {
        f"{dashboard['title']} / {panel['type']} / {panel['title']}": {
            target["legendFormat"]: target["expr"] for target in panel["targets"]
        }
        for panel in dashboard["panels"]
        if panel["type"] != "row"
    }
