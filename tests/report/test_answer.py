"""The first screen: four cards that say what was measured, and nothing else."""

import msgspec
import pytest

from podscale.report.answer import cards, standing
from podscale.sweep.results import Advice, Verdict
from tests.report import samples


def shown(name: str) -> dict[str, tuple[str, str]]:
    """Value and note of each card, by label."""
    return {card.label: (card.value, card.note) for card in cards(samples.ALL[name]())}


def test_a_verified_answer_is_four_cards() -> None:
    """Pods with goal and rate, efficiency of the largest size, what limits it, and how far that was verified."""
    assert shown("mixed") == {
        "Pods needed": ("3", "for p99 <= 200 ms at 104 requests/s"),
        "Efficiency": ("97%", "4 pods do 188 requests/s, of 4 times 1 pod"),
        "What limits": ("pods limit", "4 pods: each pod used 0.97 of 1 core"),
        "Standing": ("verified by measurement", "9 of 11 stages count"),
    }
    assert [card.tone for card in cards(samples.mixed())] == ["", "", "", "good"]


@pytest.mark.parametrize("name", samples.ALL)
def test_what_is_not_known_is_said(name: str) -> None:
    """Any result has four cards with a word in each; without a number of pods there is none."""
    found = cards(samples.ALL[name]())
    assert [card.label for card in found] == ["Pods needed", "Efficiency", "What limits", "Standing"]
    assert all(card.value and card.note for card in found)
    advice = samples.ALL[name]().advice
    assert found[0].is_figure == (advice is not None and advice.pods is not None)


def test_one_size_has_no_efficiency() -> None:
    """One alone is not 100%: there is nothing to hold it against."""
    assert shown("one_size")["Efficiency"] == ("unknown", "it takes two sizes with valid capacity stages")
    assert shown("all_void")["What limits"] == ("unknown", "no stage counts")
    assert shown("empty")["Standing"] == ("no number", "no stage was measured")


def test_other_verdicts_stand_beside_the_first() -> None:
    """Pods that do all they can on a machine that is full: both are said."""
    result = samples.one_size()
    both = [
        Verdict(code="pods_limit", evidence="each pod used 0.94 of 1 core"),
        Verdict(code="node_full", evidence="2"),
    ]
    result.stages = [msgspec.structs.replace(stage, verdicts=both) for stage in result.stages]
    assert cards(result)[2].note == "1 pod: each pod used 0.94 of 1 core; also node full"


def test_without_capacity_stages_the_goal_stages_say_what_limits() -> None:
    """An open sweep has goal stages alone."""
    result = samples.mixed()
    result.stages = [stage for stage in result.stages if stage.purpose == "goal"]
    found = {card.label: card for card in cards(result)}
    assert (found["What limits"].value, found["What limits"].note) == ("nothing known", "no rule applied to 3 pods")
    bare = [msgspec.structs.replace(stage, verdicts=[], valid=True) for stage in samples.all_void().stages]
    result.stages = bare
    assert {card.label: card for card in cards(result)}["What limits"].value == "nothing known"


@pytest.mark.parametrize(
    ("advice", "expected"),
    [
        (None, "no number"),
        (Advice(sentence="."), "no number"),
        (Advice(sentence=".", pods=2), "not verified"),
        (Advice(sentence=".", pods=2, verified=True), "verified by measurement"),
    ],
)
def test_the_standing_of_the_advice(advice: Advice | None, expected: str) -> None:
    """Verified, estimated and absent are told apart."""
    result = samples.empty()
    result.advice = advice
    assert standing(result) == expected
