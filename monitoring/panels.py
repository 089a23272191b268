"""From rows of data to Grafana's JSON, by the builders of grafana-foundation-sdk."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from grafana_foundation_sdk.builders import common as common_builders
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.builders import prometheus, stat, statushistory, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common, dashboard

from monitoring.queries import CHOSEN, REPLICAS_CHANGE

Builder: TypeAlias = stat.Panel | statushistory.Panel | timeseries.Panel

SOURCE = dashboard.DataSourceRef(type_val="prometheus", uid="${datasource}")
HEIGHTS = {"stat": 4, "lines": 8, "stacked": 8, "pods": 8}
# Stacked below it stands what it is compared with.
IDEAL = "ideal"


@dataclass(frozen=True)
class Panel:
    """One panel.

    Args:
        kind: stat shows the newest value; lines and stacked are over time; pods has a row for each series, coloured.
        unit: one of Grafana's, as https://github.com/grafana/grafana/blob/main/packages/grafana-data/src/valueFormats/categories.ts
            names them; "none" for a pure number.
        description: how to read it.
        queries: legend and query; a legend may name labels, as {{pod}}.
        width: of 24.
    """

    kind: Literal["stat", "lines", "stacked", "pods"]
    title: str
    unit: str
    description: str
    queries: tuple[tuple[str, str], ...]
    width: int = 12
    maximum: float | None = None


@dataclass(frozen=True)
class Board:
    """A dashboard: rows of panels, each with a title."""

    uid: str
    title: str
    description: str
    pods_from: str  # a metric with the labels namespace, release and `pod_label`
    pod_label: str
    rows: dict[str, tuple[Panel, ...]] = field(default_factory=dict)

    @property
    def panels(self) -> list[Panel]:
        """All of them, in order."""
        return [panel for row in self.rows.values() for panel in row]


def as_json(board: Board) -> str:
    """The dashboard as a file for Grafana 11.6 or later."""
    made = (
        builders.Dashboard(board.title)
        .uid(board.uid)
        .description(board.description)
        .tags(["podscale"])
        .refresh("10s")
        .time("now-30m", "now")
        .timezone(common.TimeZoneBrowser)
        .readonly()
        .tooltip(dashboard.DashboardCursorSync.CROSSHAIR)
        .link(
            builders.DashboardLink("podscale")
            .type(dashboard.DashboardLinkType.DASHBOARDS)
            .tags(["podscale"])
            .include_vars(True)
            .keep_time(True)
        )
        .annotation(
            builders.AnnotationQuery()
            .name("Replicas change")
            .datasource(SOURCE)
            .expr(REPLICAS_CHANGE)
            .icon_color("purple")
            .enable(True)
        )
    )
    for variable in _variables(board):
        made = made.with_variable(variable)
    numbers = itertools.count(1)
    for title, panels in board.rows.items():
        made = made.with_row(builders.Row(title).id(next(numbers)))
        for panel in panels:
            made = made.with_panel(_panel(panel).id(next(numbers)))
    return JSONEncoder(sort_keys=True, indent=1).encode(made.build()) + "\n"


def _variables(board: Board) -> list[builders.DatasourceVariable | builders.QueryVariable]:
    source = board.pods_from
    return [
        builders.DatasourceVariable("datasource").label("Data source").type("prometheus"),
        _query_variable("namespace", f"label_values({source}, namespace)"),
        _query_variable("release", f'label_values({source}{{namespace="$namespace"}}, release)'),
        _query_variable("pod", f"label_values({source}{{{CHOSEN}}}, {board.pod_label})")
        .multi(True)
        .include_all(True)
        .all_value(".+"),
    ]


def _query_variable(name: str, query: str) -> builders.QueryVariable:
    return (
        builders.QueryVariable(name)
        .label(name.capitalize())
        .datasource(SOURCE)
        .query({"query": query, "refId": name})
        .refresh(dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(dashboard.VariableSort.ALPHABETICAL_ASC)
    )


def _panel(panel: Panel) -> Builder:
    start: Builder = _KINDS[panel.kind]()
    made = (
        start.title(panel.title)
        .description(panel.description)
        .unit(panel.unit)
        .datasource(SOURCE)
        .span(panel.width)
        .height(HEIGHTS[panel.kind])
        .min(0)
    )
    if panel.maximum is not None:
        made = made.max(panel.maximum)
    for index, (legend, query) in enumerate(panel.queries):
        target = prometheus.Dataquery().expr(query).legend_format(legend).ref_id(chr(ord("A") + index))
        made = made.with_target(target.instant() if panel.kind == "stat" else target.range())
    return made


def _stat() -> stat.Panel:
    newest = common_builders.ReduceDataOptions().calcs(["lastNotNull"])
    made = stat.Panel().graph_mode(common.BigValueGraphMode.NONE).color_mode(common.BigValueColorMode.NONE)
    return made.reduce_options(newest)


def _lines() -> timeseries.Panel:
    legend = common_builders.VizLegendOptions().display_mode(common.LegendDisplayMode.LIST)
    return (
        timeseries.Panel()
        .legend(legend.placement(common.LegendPlacement.BOTTOM).show_legend(True))
        .tooltip(common_builders.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI))
        .show_points(common.VisibilityMode.NEVER)
        .line_width(1)
    )


def _stacked() -> timeseries.Panel:
    """All but the ideal are stacked."""
    alone = [
        dashboard.DynamicConfigValue("custom.stacking", {"mode": "none"}),
        dashboard.DynamicConfigValue("custom.fillOpacity", 0),
        dashboard.DynamicConfigValue("custom.lineStyle", {"dash": [10, 10], "fill": "dash"}),
        dashboard.DynamicConfigValue("color", {"mode": "fixed", "fixedColor": "text"}),
    ]
    stacking = common_builders.StackingConfig().mode(common.StackingMode.NORMAL)
    return _lines().stacking(stacking).fill_opacity(50).override_by_name(IDEAL, alone)


def _pods() -> statushistory.Panel:
    colours = builders.FieldColor().mode(dashboard.FieldColorModeId.CONTINUOUS_BL_YL_RD)
    made = statushistory.Panel().color_scheme(colours).show_value(common.VisibilityMode.NEVER)
    return made.fill_opacity(70).line_width(1)


_KINDS: dict[str, Callable[[], Builder]] = {"stat": _stat, "lines": _lines, "stacked": _stacked, "pods": _pods}
