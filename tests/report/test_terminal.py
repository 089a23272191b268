"""What the terminal shows, at 80 columns."""

import io

import pytest
from rich.console import Console, RenderableType

from podscale.report import terminal
from podscale.report.terminal import PlanRow
from tests.report import samples


def shown(renderable: RenderableType, width: int = 80) -> list[str]:
    """The lines as printed, without colours."""
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(renderable)
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_the_result_table_has_one_line_for_each_stage() -> None:
    """Size, run, throughput, efficiency, quantiles, errors and verdict, in reading order."""
    lines = shown(terminal.result_table(samples.mixed()))
    assert lines[0].split() == ["Pods", "Run", "Answers/s", "Eff.", "p50", "ms", "p99", "ms", "Errors", "Verdict"]
    assert lines[3].split() == ["2", "1", "31.2", "32%", "328", "883", "215", "void:", "generator", "saturated"]
    assert lines[4].split() == ["2", "2", "94.8", "98%", "327", "883", "0", "pods", "limit"]
    assert lines[10].split() == ["2", "goal", "95.3", "2,241", "4,310", "0", "pods", "limit"]
    assert lines[12] == "? is unknown"


def test_void_stages_are_explained_below() -> None:
    """Each with all its verdicts and their evidence, indented where the text goes on."""
    text = shown(terminal.result_table(samples.mixed()))
    start = text.index("- void: 2 pods, repeat 1: generator saturated: the busiest Locust worker used")
    assert text[start + 1].startswith("  97% of its core; errors void: more than 1%")
    assert text[-1] == "- void: 6 pods, repeat 1: not reached: 5 of 6 pods were ready after 30 s"


@pytest.mark.parametrize("name", samples.ALL)
def test_nothing_is_wider_than_80_columns(name: str) -> None:
    """Whatever the result: no broken row, no heading cut short, nothing a plain terminal cannot print."""
    result = samples.ALL[name]()
    lines = shown(terminal.result_table(result)) + shown(terminal.advice(result))
    assert max(map(len, lines)) <= 80
    assert all(line.isascii() for line in lines)
    if result.stages:
        assert lines[0].split() == ["Pods", "Run", "Answers/s", "Eff.", "p50", "ms", "p99", "ms", "Errors", "Verdict"]
        assert len(lines[1].split()) >= 7


def test_unknown_is_not_zero() -> None:
    """A stage without figures shows question marks, and the table says what they mean."""
    lines = shown(terminal.result_table(samples.nothing_known()))
    assert lines[1].split() == ["1", "1", "?", "?", "?", "?", "?", "void:", "none"]
    assert "? is unknown" in lines


def test_no_stage_is_said() -> None:
    """An empty result is a sentence, not an empty table."""
    assert shown(terminal.result_table(samples.empty())) == ["No stage was measured."]


def test_the_advice_with_its_reasons() -> None:
    """The sentence first, then the reasons as a list."""
    lines = shown(terminal.advice(samples.mixed()))
    assert lines[0] == "3 pods hold p99 <= 200 ms at 104 requests/s (measured 91.5 ms); 2 pods do not"
    assert lines[2] == "- 3 pods can do about 142 requests/s (47.5 requests/s per pod): this rate is 73%"
    assert lines[3] == "  of it."


def test_an_aborted_sweep_says_why() -> None:
    """The reason, and that there is no advice."""
    assert shown(terminal.advice(samples.aborted())) == [
        "Ended early: interrupted with Ctrl-C; go on with --resume",
        "No advice: the sweep did not come that far.",
    ]


def test_brackets_are_text() -> None:
    """Square brackets, which rich would read as markup, are printed as they are."""
    result = samples.one_size()
    result.aborted = "[bold]stop[/] [/nonsense]"
    assert "Ended early: [bold]stop[/] [/nonsense]" in shown(terminal.advice(result))


def test_the_plan_lists_stages_and_the_whole_time() -> None:
    """One line for each stage in the order of measuring, and the sum."""
    rows = [
        PlanRow("capacity", 2, 1, "closed, 32 users", 9.5),
        PlanRow("goal", 2, 1, "open, 70% of the capacity measured until then", 15.5),
    ]
    lines = shown(terminal.plan_table(rows, 161))
    assert lines[1].split() == ["1", "2", "1", "capacity", "closed,", "32", "users", "10", "s"]
    assert lines[-1] == "2 stages, about 2 min 41 s."
    assert max(map(len, lines)) <= 80


def test_progress_counts_down_the_plan() -> None:
    """One line within 80 columns: position, what goes on, a bar, and the time that the plan still needs."""
    console = Console(width=80, file=io.StringIO(), record=True)
    bar = terminal.progress(console)
    description = terminal.progress_description(12, 36, "64 pods, capacity", "waiting until the pods are ready")
    bar.update(bar.add_task(description, total=161), completed=40)
    console.print(bar.get_renderable())
    text = console.export_text()
    assert text.count("\n") == 1
    assert "12/36  64 pods, capacity: waiting" in text
    assert "2 min 1 s left" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (161, "2 min 41 s"), (7200, "120 min 0 s")]
)
def test_a_duration_is_read_at_a_glance(seconds: float, text: str) -> None:
    """Minutes only where there are some."""
    assert terminal.duration(seconds) == text
