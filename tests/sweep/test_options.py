"""Tests of the options' table."""

import inspect
import math

import pytest

from podscale import cli
from podscale.sweep.options import OPTIONS, OptionError

NUMBERS = [name for name, row in OPTIONS.items() if row.lowest is not None]
CHOICES = [name for name, row in OPTIONS.items() if row.choices]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_outside_its_range_is_refused_by_name(name: str) -> None:
    """Below, above, NaN and infinity are refused with the flag, the value and what is allowed; the ends are not."""
    row = OPTIONS[name]
    assert row.lowest is not None
    assert row.highest is not None
    row.check(row.lowest)
    row.check(row.highest)
    for wrong in (row.lowest - 1, row.highest + 1, math.nan, math.inf, -math.inf):
        with pytest.raises(OptionError, match=rf"^{row.flag}: .* is not between {row.lowest:g} and"):
            row.check(wrong)


@pytest.mark.parametrize("name", CHOICES)
def test_a_word_that_is_no_choice_is_refused_with_the_choices(name: str) -> None:
    """The message lists what may be said."""
    with pytest.raises(OptionError, match="'sideways' is not one of") as caught:
        OPTIONS[name].check("sideways")
    assert all(choice in str(caught.value) for choice in OPTIONS[name].choices)


def test_every_row_is_a_parameter_of_the_command() -> None:
    """The table and the command's signature name the same options."""
    parameters = set(inspect.signature(cli.sweep).parameters)
    assert set(OPTIONS) <= parameters
    assert parameters - set(OPTIONS) == {"sizes", "option", "out", "resume", "dry_run", "restore", "keep", "as_json"}


def test_defaults_pass_their_own_checks() -> None:
    """No row refuses its own default."""
    for row in OPTIONS.values():
        row.check(row.default)
