"""Tests of the result file: what goes in comes out, and a broken file is told in words."""

import json
from pathlib import Path

import jsonschema
import pytest

from podscale.sweep import results
from podscale.sweep.results import Result, ResultError
from tests.sweep import builders


def sample() -> Result:
    """A result with a valid, a failed and an unreached stage."""
    unreached = builders.stage(4, valid=False, requests=None, latency_seconds=None, throughput_per_second=None)
    return Result(
        id="sample",
        started_at="2026-01-01T00:00:00+00:00",
        asked={"sizes": [1, 2, 4]},
        environment={"cores": 2},
        stages=[builders.stage(), builders.goal_stage(2, 0.2, errors={"timeout": 3}), unreached],
    )


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    """A result comes back equal, and no half-written file is left beside it."""
    results.save(sample(), tmp_path)
    assert results.load(tmp_path) == sample()
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_the_file_follows_its_schema_and_unknown_is_null(tmp_path: Path) -> None:
    """The written JSON is valid by the published schema; a value that is not known is null, not 0."""
    path = results.save(sample(), tmp_path)
    data = json.loads(path.read_text())
    jsonschema.validate(data, results.json_schema())
    assert data["schema_version"] == results.SCHEMA_VERSION
    assert data["stages"][2]["throughput_per_second"] is None
    assert data["stages"][0]["throttled"] == {"periods": None, "throttled_periods": None, "seconds": None}


def test_a_result_from_before_the_timeline_is_read(tmp_path: Path) -> None:
    """A field that came later is None in an older file, and the version stays."""
    path = results.save(sample(), tmp_path)
    data = json.loads(path.read_text())
    for stage in data["stages"]:
        del stage["timeline"]
    path.write_text(json.dumps(data))
    assert [stage.timeline for stage in results.load(tmp_path).stages] == [None] * 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no result in .*; a sweep writes it there"),
        ("", "is not a podscale result"),
        ("[]", "is not a podscale result"),
        ('{"schema_version": 99}', "has schema version 99, this podscale reads 1"),
        ('{"id": "x"}', "has schema version None"),
        ('{"schema_version": 1}', "is not a podscale result: .*id"),
    ],
)
def test_a_broken_file_is_told_in_words(tmp_path: Path, content: str | None, message: str) -> None:
    """Missing, empty, foreign or newer files are refused with a sentence."""
    if content is not None:
        (tmp_path / "result.json").write_text(content)
    with pytest.raises(ResultError, match=message):
        results.load(tmp_path)
