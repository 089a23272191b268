"""The page: every field of a mixed run is there, nothing is invented, and nothing runs."""

import shlex

import msgspec
import pytest

from podscale.report.page import page, summary
from podscale.sweep.again import command_line
from podscale.sweep.results import Stage
from tests.report import samples
from tests.report.html import Reader


@pytest.fixture(scope="module")
def mixed() -> Reader:
    """The page of a run with good, void and not reached stages."""
    return Reader(page(samples.mixed()))


def test_the_headline_is_the_advice(mixed: Reader) -> None:
    """The first thing to read is how many pods, whether that was verified, and why."""
    assert "3 pods hold p99 <= 200 ms at 104 requests/s (measured 91.5 ms); 2 pods do not (4,310 ms)." in mixed.text
    assert "verified by measurement" in mixed.text
    assert "this rate is 73% of it" in mixed.text


def test_a_good_stage_has_all_its_figures(mixed: Reader) -> None:
    """Asked beside measured, with latency, errors, cost and generator, each in its unit."""
    assert mixed.row("Stages", "2 pods, repeat 2") == {
        "Stage": "2 pods, repeat 2",
        "Load asked": "closed, 32 users",
        "Measured s": "6",
        "Requests": "569",
        "Throughput /s": "94.8",
        "Per pod /s": "47.4",
        "Efficiency of linear": "98%",
        "p99 ms": "883",
        "Errors and share": "0",
        "refused errors": "0",
        "timeout errors": "0",
        "Verdict": "pods limit",
    }
    assert mixed.row("Latency in ms", "2 pods, repeat 2")["p99.9"] == "954"
    assert mixed.row("Latency in ms", "2 pods, repeat 2")["p50 service"] == "327"
    assert mixed.row("Cost", "2 pods, repeat 2") == {
        "Stage": "2 pods, repeat 2",
        "CPU s": "11.6",
        "CPU per request ms": "20.4",
        "Machine busy of all cores": "55%",
        "Throttled of periods": "unknown",
        "Throttled s": "unknown",
        "Memory MB": "68.2",
        "Ready after s": "0.47",
        "Busiest pod of mean": "1",
    }
    generator = mixed.row("Load generator", "2 pods, repeat 2")
    assert (generator["Busiest worker of a core"], generator["Send lag p99 ms"]) == ("10%", "1.1")
    assert (generator["Counted by load whole stage"], generator["Counted by pods whole stage"]) == ("689", "689")


def test_a_void_stage_is_shown_and_marked(mixed: Reader) -> None:
    """Its figures stand there, marked, with errors by class and both verdicts with their evidence."""
    row = mixed.row("Stages", "2 pods, repeat 1")
    assert row["Stage"] == "2 pods, repeat 1 void"
    assert (row["Errors and share"], row["refused errors"], row["timeout errors"]) == ("215 (53.48%)", "180", "35")
    assert row["Verdict"] == "generator saturated, errors void"
    assert mixed.row("Cost", "2 pods, repeat 1")["Throttled of periods"] == "66%"
    assert mixed.row("Load generator", "2 pods, repeat 1")["Dropped sends"] == "12"
    assert mixed.row("Load generator", "2 pods, repeat 1")["Counted by pods whole stage"] == "unknown"
    assert "generator saturated: the busiest Locust worker used 97% of its core" in mixed.text


def test_a_stage_that_was_not_reached_has_no_number(mixed: Reader) -> None:
    """All its measured cells say unknown: not one 0."""
    asked = {"Stage", "Load asked", "Verdict", "Connections", "Started"}
    for table in ("Stages", "Latency in ms", "Cost", "Load generator"):
        row = mixed.row(table, "6 pods, repeat 1")
        assert {value for heading, value in row.items() if heading not in asked} == {"unknown"}
    assert "not reached: 5 of 6 pods were ready after 30 s" in mixed.text


def test_goal_stages_stand_beside_theory(mixed: Reader) -> None:
    """Random choice and one shared queue are printed beside the measured p99; overload never settles."""
    held = mixed.row("Goal beside theory", "3 pods, goal")
    assert held["p99 measured ms"] == "91.5"
    assert held["p99 in theory pod picked at random"].endswith(" ms")
    assert held["p99 in theory one shared queue"].endswith(" ms")
    assert mixed.row("Goal beside theory", "2 pods, goal")["p99 in theory one shared queue"] == "never settles"


def test_stages_are_in_reading_order(mixed: Reader) -> None:
    """They were measured in random order; the table goes by purpose, size and repeat."""
    stages = [row[0].removesuffix(" void") for row in mixed.tables["Stages"][1:]]
    repeats = [f"{size} pod{'s' if size > 1 else ''}, repeat {repeat}" for size in (1, 2, 3, 4) for repeat in (1, 2)]
    assert stages == [*repeats, "6 pods, repeat 1", "2 pods, goal", "3 pods, goal"]


def test_fits_show_coefficients_or_the_refusal() -> None:
    """With 4 sizes all three laws are fitted; with one, each says what is missing."""
    fitted = Reader(page(samples.mixed())).tables["Scaling laws"]
    assert [row[0].partition(":")[0] for row in fitted[1:]] == ["Linear", "Amdahl", "USL"]
    assert fitted[2][1].startswith("lambda = 47.8/s, sigma = ")
    refused = Reader(page(samples.one_size())).tables["Scaling laws"]
    assert all("refused: " in row[1] and "add 2" in row[1] for row in refused[1:])


def test_plan_and_environment_are_printed(mixed: Reader) -> None:
    """Every key and value of both; an absent option is not set, an absent fact unknown."""
    plan, environment = dict(mixed.tables["Plan"]), dict(mixed.tables["Environment"])
    assert plan["sizes"] == "1, 2, 3, 4, 6"
    assert plan["locustfile"] == "not set"
    assert environment["memory_bytes"] == "16,541,913,088"
    assert environment["uvloop"] == "unknown"
    assert set(plan) == set(samples.mixed().asked)
    assert set(environment) == set(samples.mixed().environment)


def test_an_aborted_run_says_so() -> None:
    """The reason stands at the top, and no advice is invented."""
    text = Reader(page(samples.aborted())).text
    assert "Ended early: interrupted with Ctrl-C" in text
    assert "No advice: the sweep did not come that far." in text


@pytest.mark.parametrize("name", samples.ALL)
def test_every_result_makes_a_small_page_without_network(name: str) -> None:
    """Under 3 MB, no script, nothing that is loaded from elsewhere, and the parser finds no tag left open."""
    text = page(samples.ALL[name]())
    assert len(text.encode()) < 3_000_000
    reader = Reader(text)
    assert "script" not in {tag for tag, _ in reader.tags}
    links = [value for _, attributes in reader.tags for key, value in attributes.items() if key in {"src", "href"}]
    assert [link for link in links if not (link or "").startswith("#")] == ["data:,"]
    anchors = {attributes["id"] for _, attributes in reader.tags if "id" in attributes}
    assert {link[1:] for link in links if link and link.startswith("#")} <= anchors
    assert text.rstrip().endswith("</html>")


def test_markup_in_names_is_text() -> None:
    """Pods, errors, verdicts, plan, environment and advice may contain markup: it is shown, not read."""
    text = page(samples.hostile())
    assert "<script" not in text
    assert "<b>pod" not in text
    assert '<script>alert("1")</script>&' in Reader(text).text


def test_the_summary_counts_stages_and_verdicts() -> None:
    """How many count, and what limited how many."""
    assert summary(samples.mixed().stages) == (
        "9 of 11 stages count. Verdicts: pods limit (8), generator saturated (1), errors void (1) and not reached (1)."
    )
    assert summary([]) == "No stage was measured."
    bare: list[Stage] = [msgspec.structs.replace(samples.capacity_stage(1, 1), verdicts=[])]
    assert summary(bare) == "1 of 1 stages count."


def test_the_time_beside_measuring_is_told() -> None:
    """How much of the wall time was scaling, waiting and warm-up stands on the page; nothing where it is unknown."""
    told = "32% of the time was outside of measuring windows"
    assert told not in page(samples.mixed())
    assert told in page(msgspec.structs.replace(samples.mixed(), overhead_fraction=0.32))


def test_the_command_that_measures_again_is_printed(mixed: Reader) -> None:
    """As a shell takes it; a result without a plan says that it is unknown, and how to write the page again."""
    command = command_line(samples.mixed().asked)
    assert command is not None
    assert shlex.join(command) in mixed.text
    assert "podscale report ." in mixed.text
    assert "The command is unknown" in Reader(page(samples.empty())).text


def test_each_chart_is_told_in_words(mixed: Reader) -> None:
    """Its finding stands below it, and a picture has a text for those who do not see it."""
    assert "4 pods do 188 requests/s, 97% of 4 times 1 pod. Throughput of saturated pods." in mixed.text
    pictures = [attributes for tag, attributes in mixed.tags if tag == "svg" and attributes.get("role") == "img"]
    assert len(pictures) >= 6 * 2 + 10
    assert all(len(attributes["aria-label"] or "") > 40 for attributes in pictures)


def test_a_chart_without_data_is_a_sentence() -> None:
    """Local pods have no quota: that is said, and there is no empty picture."""
    result = samples.result(stages=[samples.capacity_stage(1, 1)])
    text = page(result)
    assert "No throttling is known: local pods have no CPU quota." in Reader(text).text
    assert text.count('class="chart"') == 3  # no throttling, and no balance of one pod
    nothing = Reader(page(samples.empty())).text
    assert "No capacity stage has a throughput" in nothing
    assert "This result has no timeline" in nothing


def test_the_timeline_is_told_stage_by_stage(mixed: Reader) -> None:
    """The least and the most of the window's seconds, failures too; an older result says that it has none."""
    assert mixed.text.count("In the window: ") == 10
    assert "In the window: 0 to 40 answers/s, p99 of a second 600 to 900 ms, 215 failures." in mixed.text
    older = samples.mixed()
    older.stages = [msgspec.structs.replace(stage, timeline=None) for stage in older.stages]
    assert "This result has no timeline" in Reader(page(older)).text
