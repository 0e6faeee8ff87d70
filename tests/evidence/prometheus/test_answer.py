from __future__ import annotations

import json
from typing import Any

import pytest

from gatekeeper.evidence.prometheus.answer import Answer, Response, judge
from gatekeeper.evidence.secrets import Secrets

SERVER_TIME = 1767225600
DATE = "Thu, 01 Jan 2026 00:00:00 GMT"


def answer(status: int, body: Any, *, date: str | None = DATE, sent: float = SERVER_TIME, took: float = 0.5) -> Answer:
    """How a response with this body is judged."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return judge(Response(status, data, date, sent, sent + took), Secrets({}), at=SERVER_TIME)


def vector(*texts: str) -> dict[str, Any]:
    """A vector; its series are numbered by the label `i`."""
    elements = [{"metric": {"i": str(i)}, "value": [SERVER_TIME, text]} for i, text in enumerate(texts)]
    return {"status": "success", "data": {"resultType": "vector", "result": elements}}


@pytest.mark.parametrize("text", ["1", "-0", "0.5", "1e+21", "1e-07", "5e-324", "NaN", "+Inf", "-Inf", ".5"])
def test_numbers_stay_the_text_that_the_server_wrote(text: str) -> None:
    """All forms that the servers write."""
    assert [sample.text for sample in answer(200, vector(text)).samples] == [text]


@pytest.mark.parametrize(
    "text", ["", " 1", "1_000", "0x10", "nan", "infinity", "1 2", "1,5", "\N{ARABIC-INDIC DIGIT ONE}"]
)
def test_what_only_python_takes_for_a_number_is_none(text: str) -> None:
    """`float()` reads more than a server writes."""
    problem = answer(200, vector(text)).problem
    assert problem is not None
    assert problem.code == "observation_invalid:bad_response"


def test_a_scalar_is_one_sample() -> None:
    """It has no labels and no list of series."""
    body = {"status": "success", "data": {"resultType": "scalar", "result": [SERVER_TIME + 0.123, "1.5"]}}
    assert [sample.text for sample in answer(200, body).samples] == ["1.5"]


def test_at_most_five_series_are_shown_in_the_order_of_their_labels() -> None:
    """Servers answer in any order, and thousands of series are no message."""
    body = vector(*"1234567")
    body["data"]["result"].reverse()
    assert answer(200, body).series == '{i="0"}, {i="1"}, {i="2"}, {i="3"}, {i="4"} and 2 more'


MISTAKES = [
    (400, "bad_data", "1:5: parse error: unclosed left parenthesis"),
    (422, "bad_data", "the query time range exceeds the limit"),
    (422, "422", 'error when executing query="sum(": singleExpr: unexpected token ""; unparsed data: ""'),
    (422, "422", 'error when executing query="nosuch(up)": unknown func "nosuch"'),
    (422, "422", 'error when executing query="up{a=~\\"(\\"}": cannot expand WITH expressions: invalid regexp'),
    (422, "422", 'error when executing query="topk(1)": cannot evaluate "topk(1)": unexpected number of args; got 1'),
]


@pytest.mark.parametrize(("status", "error_type", "text"), MISTAKES)
def test_a_mistake_in_the_text_of_a_query_is_told_apart(status: int, error_type: str, text: str) -> None:
    """No waiting mends it; the last four are what VictoriaMetrics 1.79 says."""
    judged = answer(status, {"status": "error", "errorType": error_type, "error": text})
    assert judged.mistake == text


FAILURES = [
    ("execution", "many-to-many matching not allowed"),
    ("422", 'cannot evaluate "up": search error: the number of matching timeseries exceeds 3'),
    ("422", 'cannot evaluate "a * b": duplicate time series on the left side'),
]


@pytest.mark.parametrize(("error_type", "text"), FAILURES)
def test_a_failed_evaluation_is_no_mistake_of_the_file(error_type: str, text: str) -> None:
    """It depends on the data: hold, and ask again."""
    judged = answer(422, {"status": "error", "errorType": error_type, "error": text})
    assert judged.mistake is None
    assert judged.problem is not None
    assert judged.problem.code == "observation_invalid:query_failed"
    assert text in judged.problem.detail


def test_a_400_of_something_else_is_no_mistake_of_the_query() -> None:
    """A proxy or a wrong path answers in plain text."""
    judged = answer(400, b"unsupported path requested: /api/v1/query")
    assert judged.mistake is None
    assert judged.problem is not None
    assert judged.problem.kind == "bad_endpoint"


def test_a_secret_is_masked_before_a_text_is_cut() -> None:
    """Half of a secret at the end of a shortened text is still half of a secret."""
    secrets = Secrets({})
    secrets.hide("s3cret-token-of-some-length")
    body = b"<html>" + b"x" * 160 + b" s3cret-token-of-some-length"
    for status in (200, 500):
        problem = judge(Response(status, body, None, 0, 0), secrets, at=0).problem
        assert problem is not None
        assert "s3cret" not in problem.detail


CLOCKS = [
    # the server wrote "00:00:00" at some moment of that second; we sent and received at these times
    (SERVER_TIME + 0.5, 0.1, 0),
    (SERVER_TIME + 0.9, 3.0, 0),  # a slow answer proves nothing
    (SERVER_TIME + 61, 0.1, 60),  # at least a minute ahead
    (SERVER_TIME - 61, 0.5, -60),  # 60.5 s behind, to even
    (SERVER_TIME - 30, 60, 0),
]


@pytest.mark.parametrize(("sent", "took", "expected"), CLOCKS)
def test_clocks_differ_only_as_far_as_the_header_proves(sent: float, took: float, expected: int) -> None:
    """So that two collections from machines in step record the same, however slow the answers."""
    assert answer(200, vector("1"), sent=sent, took=took).clock_difference_seconds == expected


@pytest.mark.parametrize(("off", "is_taken"), [(-1, True), (-0.999, True), (1, True), (1.001, False), (-1.5, False)])
def test_an_answer_of_another_time_is_none(off: float, *, is_taken: bool) -> None:
    """A cache that answers with an hour-old value would confirm what was healthy then; whole seconds may pass."""
    data = {"resultType": "scalar", "result": [SERVER_TIME + off, "1"]}
    judged = answer(200, {"status": "success", "data": data})
    assert (judged.problem is None, len(judged.samples)) == (is_taken, int(is_taken))


@pytest.mark.parametrize("date", [None, "", "yesterday", "Thu, 99 Foo 2026 00:00:00 GMT"])
def test_a_missing_or_broken_date_header_says_nothing(date: str | None) -> None:
    """It is a check that comes for free, no condition."""
    judged = answer(200, vector("1"), date=date)
    assert (judged.server_time, judged.clock_difference_seconds, judged.problem) == (None, 0, None)
