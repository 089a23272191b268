"""The charts by name: one definition each, for page, SVG and PNG."""

from collections.abc import Callable
from typing import Any

from podscale.report.balance_chart import balance
from podscale.report.latency_chart import latency
from podscale.report.load_chart import load
from podscale.report.scaling_chart import scaling
from podscale.report.usage_charts import memory, throttling
from podscale.sweep.results import Result

# (result, width in pixels, background colour) -> Vega-Lite specification
Chart = Callable[[Result, int, str], dict[str, Any]]
CHARTS: dict[str, Chart] = {
    "scaling": scaling,
    "latency": latency,
    "load": load,
    "balance": balance,
    "throttling": throttling,
    "memory": memory,
}
