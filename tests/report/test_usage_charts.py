"""What the pods used: marks for what is known, a reason for what is not."""

import msgspec

from podscale.report import frame
from podscale.report.usage_charts import memory, throttling
from podscale.sweep.results import Throttled
from tests.report import samples
from tests.report.drawing import texts, tooltips


def test_throttling_is_a_share_of_periods() -> None:
    """Each stage with a quota is a mark; the title is the most of the valid ones."""
    result = samples.mixed()
    quota = Throttled(periods=200, throttled_periods=30, seconds=1.0)
    result.stages = [msgspec.structs.replace(stage, throttled=quota) for stage in result.stages if stage.valid]
    specification = throttling(result, frame.WIDE)
    assert "3 pods, goal: 15.0% throttled" in tooltips(specification)
    assert len(tooltips(specification)) == len(result.stages)
    assert specification["title"]["text"] == ["At most 15% of the quota periods were throttled"]


def test_void_shares_make_no_claim() -> None:
    """A share of a void stage is shown as such, and is no finding."""
    specification = throttling(samples.mixed(), frame.WIDE)
    assert tooltips(specification) == ["2 pods, repeat 1: 66.0% throttled (void)"]
    assert specification["title"]["text"] == ["No stage with a quota is valid: these shares do not count"]


def test_without_a_quota_the_reason_is_told() -> None:
    """Local pods have none; elsewhere there is none, or it could not be read. Never 0%."""
    local = samples.one_size()
    assert "No throttling is known: local pods have no CPU quota." in " ".join(texts(throttling(local, frame.WIDE)))
    elsewhere = samples.one_size()
    elsewhere.asked = elsewhere.asked | {"target": "kubernetes"}
    assert "none that could be read" in " ".join(texts(throttling(elsewhere, frame.WIDE)))


def test_memory_stands_beside_n_times_one_pod() -> None:
    """Each stage whose memory is known is a mark, and the line goes through one pod of the smallest size."""
    specification = memory(samples.mixed(), frame.WIDE)
    assert "4 pods, repeat 2: 136 MB" in tooltips(specification)
    assert specification["title"]["text"] == ["4 pods had 136 MB at most"]
    (line,) = [rows for rows in specification["datasets"].values() if "kind" not in rows[0]]
    assert [(row["size"], round(row["value"], 1)) for row in line] == [(0, 0.0), (4, 136.4)]
