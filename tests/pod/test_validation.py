"""What is read from a request, and in which words it is refused."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from podscale.pod.errors import BadInputError
from podscale.pod.validation import Choice, Decimal, Parameter, Whole, read_json, read_query

LIMIT = Whole("limit", 0, 1000, 7)
MS = Decimal("ms", 0, 10, 1.5)
WORD = Choice("word", ("red", "blue"), "blue")
NEEDED = Whole("number", 0, 2**53 - 1)
PARAMETERS: tuple[Parameter[Any], ...] = (LIMIT, MS, WORD)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def refusal(read: Any, *arguments: Any) -> str:
    """The line with which `read` refuses; it is one short printable line."""
    with pytest.raises(BadInputError) as refused:
        read(*arguments)
    line = str(refused.value)
    assert line.isprintable()
    assert line.isascii()
    assert len(line) < 400
    return line


def test_a_query_gives_values_and_defaults() -> None:
    """Given parameters are read by their kind, the others take their default."""
    values = read_query(b"limit=1000&word=red", PARAMETERS)
    assert (values[LIMIT], values[MS], values[WORD]) == (1000, 1.5, "red")
    assert read_query(b"ms=0.25", PARAMETERS)[MS] == 0.25
    assert read_query(b"&&", PARAMETERS)[LIMIT] == 7


@pytest.mark.parametrize(
    ("query", "line"),
    [
        (b"limit=1001", "limit is '1001'; it must be a whole number from 0 to 1000"),
        (b"limit=-1", "limit is '-1'; it must be a whole number from 0 to 1000"),
        (b"limit=", "limit is ''; it must be a whole number from 0 to 1000"),
        (b"limit=007", "limit is '007'; it must be a whole number from 0 to 1000"),
        (b"limit=5.0", "limit is '5.0'; it must be a whole number from 0 to 1000"),
        (b"limit=1_0", "limit is '1_0'; it must be a whole number from 0 to 1000"),
        (b"limit=+5", "limit is ' 5'; it must be a whole number from 0 to 1000"),
        (b"limit=%2B5", "limit is '+5'; it must be a whole number from 0 to 1000"),
        (b"limit=%D9%A5", r"limit is '\u0665'; it must be a whole number from 0 to 1000"),
        (b"limit=%FF", r"limit is '\ufffd'; it must be a whole number from 0 to 1000"),
        (b"limit=5%0A", r"limit is '5\n'; it must be a whole number from 0 to 1000"),
        (b"ms=1e1", "ms is '1e1'; it must be a number from 0 to 10"),
        (b"ms=nan", "ms is 'nan'; it must be a number from 0 to 10"),
        (b"ms=10.000000001", "ms is '10.000000001'; it must be a number from 0 to 10"),
        (b"ms=.5", "ms is '.5'; it must be a number from 0 to 10"),
        (b"word=green", "word is 'green'; it must be one of red, blue"),
        (b"word=RED", "word is 'RED'; it must be one of red, blue"),
        (b"limit=1&limit=1", "limit is given more than once; give it once"),
        (b"Limit=1", "unknown parameter 'Limit'; known here: limit, ms, word"),
        (b"limit=" + b"9" * 100, f"limit is '{'9' * 40}'...; it must be a whole number from 0 to 1000"),
        (b"&".join(b"p%d=1" % i for i in range(17)), "the query has more than 16 parameters"),
    ],
)
def test_a_bad_query_is_refused_by_name_value_and_limit(query: bytes, line: str) -> None:
    """Each refusal names the parameter, shows the value shortened, and says what is allowed."""
    assert refusal(read_query, query, PARAMETERS) == line


def test_a_route_without_parameters_says_so() -> None:
    """Where nothing can be asked, an unknown parameter is still an error."""
    assert refusal(read_query, b"a=1", ()) == "unknown parameter 'a'; this route takes none"


def test_whole_numbers_in_json_may_have_a_fraction_of_zero() -> None:
    """JSON makes no difference between 5, 5.0 and 5e0."""
    for text in (b"5", b"5.0", b"5e0", b"0.5e1"):
        assert read_json(b'{"number": %s}' % text, (NEEDED, WORD))[NEEDED] == 5


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b'{"number": %s}' % value, f"number is {shown}; it must be a whole number from 0 to 9007199254740991")
        for value, shown in [
            (b"-1", "-1"),
            (b"5.5", "5.5"),
            (b'"7"', "'7'"),
            (b"true", "true"),
            (b"null", "null"),
            (b"[]", "a list"),
            (b"[7]", "a list"),
            (b"{}", "an object"),
            (b"1e400", "Infinity"),
            (b"-1e400", "-Infinity"),
            (b"9007199254740992", "9007199254740992"),
            (b"9007199254740992.0", "9007199254740992.0"),
            (b"9" * 60, f"{'9' * 40}..."),
        ]
    ],
)
def test_a_bad_member_is_refused_by_name_value_and_limit(body: bytes, line: str) -> None:
    """What is not a whole number in JSON is shown as the client wrote it."""
    assert refusal(read_json, body, (NEEDED, WORD)) == line


@pytest.mark.parametrize(
    ("body", "begins"),
    [
        (b"", "the body is not a JSON object: "),
        (b"{", "the body is not a JSON object: "),
        (b"\xff", "the body is not UTF-8: byte 0 is 0xff"),
        (b'\xef\xbb\xbf{"number": 7}', "the body is not a JSON object: Unexpected UTF-8 BOM"),
        ('{"number": 7}'.encode("utf-16"), "the body is not UTF-8"),
        (b'{"number": NaN}', "the body is not a JSON object: NaN is not a JSON number"),
        (b'{"number": -Infinity}', "the body is not a JSON object: -Infinity is not a JSON number"),
        (b'{"number": 07}', "the body is not a JSON object: "),
        (b"[7]", "the body is a list, not a JSON object; send "),
        (b"7", "the body is 7, not a JSON object; send "),
        (b"null", "the body is null, not a JSON object; send "),
        (b'{"number": 7, "number": 7}', "number is given more than once"),
        (b'{"number": 7, "word": 1}', "word is 1; it must be one of red, blue"),
        (b'{"number": 7, "nmber": 8}', "unknown parameter 'nmber'; known here: number, word"),
        (b"{}", "number is missing; it must be a whole number"),
        (b"[" * 4000, "the body is not a JSON object: "),
        (b'{"number": ' + b'{"a":' * 3000, "the body is not a JSON object: "),
        (b'{"number": ' + b"9" * 5000 + b"}", "the body is not a JSON object: "),
    ],
)
def test_a_bad_body_is_refused_in_one_line(body: bytes, begins: str) -> None:
    """What is not one JSON object with known members, each once, is refused with the reason."""
    assert refusal(read_json, body, (NEEDED, WORD)).startswith(begins)


@given(st.binary(max_size=300))
def test_any_query_is_read_or_refused(query: bytes) -> None:
    """No query makes anything but values or a refusal."""
    with contextlib.suppress(BadInputError):
        read_query(query, PARAMETERS)


@given(st.binary(max_size=300) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    """No body makes anything but values or a refusal."""
    with contextlib.suppress(BadInputError):
        read_json(body, (NEEDED, WORD))


@given(st.text())
def test_any_text_is_shown_in_one_line(text: str) -> None:
    """Whatever a client sends as a number, the refusal is one short printable line."""
    assume(text not in {"number", "word"})
    refusal(read_json, json.dumps({"number": text}).encode(), (NEEDED, WORD))
    refusal(read_json, json.dumps({text: 1}).encode(), (NEEDED, WORD))


@given(json_values)
def test_a_member_that_passes_is_a_whole_number_in_range(value: object) -> None:
    """What passes for a number is an int within its bounds, and equals what was sent."""
    try:
        number = read_json(json.dumps({"number": value}).encode(), (NEEDED, WORD))[NEEDED]
    except BadInputError:
        return
    assert type(number) is int
    assert 0 <= number < 2**53
    assert number == value
