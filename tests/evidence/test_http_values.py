from __future__ import annotations

import json
from typing import Any

import pytest

from gatekeeper.evidence.collection import Kind
from gatekeeper.evidence.http.values import resolve
from gatekeeper.evidence.reading import Side
from gatekeeper.model.times import require_time
from tests.evidence.http_support import answered, answering, by_side, code, detail, metric, read

RFC_6901: dict[str, Any] = json.loads(
    r"""{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7,"""
    """ "m~n": 8}"""
)
"""The example of RFC 6901, section 5."""


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", RFC_6901),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/e^f", 3),
        ("/g|h", 4),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
    ],
)
def test_pointers_find_what_rfc_6901_says_they_find(pointer: str, value: object) -> None:
    """The expected values are the RFC's own."""
    assert resolve(RFC_6901, pointer) == value


@pytest.mark.parametrize(
    "pointer",
    ["/foo/-", "/foo/00", "/foo/01", "/foo/+1", "/foo/-1", "/foo/2", "/foo/1.0", "/foo/ 1", "/foo/\u0661", "/foo/x",
     "/foo/99999999999999999999", "/bar", "/a/b", "/foo/0/0", "/m~01n", "//"],
)  # fmt: skip
def test_what_is_not_there_is_never_a_neighbour(pointer: str) -> None:
    """`-` is the element after the last, `01` is no index: a lenient reader would take another number."""
    with pytest.raises(LookupError, match="leads nowhere"):
        resolve(RFC_6901, pointer)


def test_an_escaped_tilde_is_not_unescaped_twice() -> None:
    """`~01` is `~1`, not `/`."""
    assert resolve({"~1": 1, "/": 2}, "/~01") == 1


@pytest.mark.parametrize(
    ("document", "text"), [({"rate": 0.008}, "0.008"), ({"rate": 250.0}, "250"), ({"rate": 0}, "0")]
)
def test_a_number_is_the_value(document: dict[str, float], text: str) -> None:
    """Zero is a value like any other."""
    reading = answered(document)
    assert (reading.value, reading.value_text, reading.problem) == (document["rate"], text, None)


@pytest.mark.parametrize("document", [{}, {"error": "warming up"}, {"data": {"rate": 1}}, [], 5, None, {"rate": {}}])
def test_a_pointer_that_leads_nowhere_is_no_answer_and_not_zero(document: object) -> None:
    """A renamed field, or an error inside a 200, must neither read as no errors nor roll back under `on_missing`."""
    pointer = "/rate/x" if document == {"rate": {}} else "/rate"
    reading = answered(document, metric(pointer))
    assert (reading.value, code(reading)) == (None, "observation_invalid:bad_response")
    assert detail(reading) == f'"{pointer}" leads nowhere in the answer'


def test_a_null_is_an_empty_answer_of_its_side() -> None:
    """The service says that it has no value; of a baseline that is a baseline that is missing."""
    with answering({"rate": None, "was": None}) as server:
        readings = read(server.url, {"m": metric(baseline_pointer="/was")})
    missing = ["observation_missing:empty_result", "observation_missing:baseline_metric"]
    assert [code(one) for one in readings] == missing


def test_a_lost_watermark_comes_before_a_value_that_is_null() -> None:
    """An answer of another form says of nothing that it is missing: under `on_missing: REJECT` that would roll back."""
    reading = answered({"rate": None}, metric(watermark_pointer="/at"))
    assert code(reading) == "observation_invalid:bad_response"


@pytest.mark.parametrize(
    ("kind", "expected"), [(Kind.NUMBER, "guardrail"), (Kind.COUNT, "guardrail"), (Kind.BOOLEAN, "constraint")]
)
@pytest.mark.parametrize("body", ['"0.008"', '"n/a"', "[1]", "{}", "NaN", "-Infinity", "1e400", "9007199254740993"])
def test_what_is_no_finite_number_is_no_value(body: str, kind: Kind, expected: str) -> None:
    """Text is not parsed, a list is not unpacked, and NaN passes no comparison."""
    reading = answered(f'{{"rate": {body}}}'.encode(), metric(kind=kind))
    assert (reading.value, code(reading)) == (None, f"observation_invalid:{expected}_value")


@pytest.mark.parametrize(("body", "text"), [("NaN", "NaN"), ("1e400", "1e400"), ('"n/a"', "n/a"), ("[1]", None)])
def test_what_was_no_value_is_still_on_record(body: str, text: str | None) -> None:
    """Who mends the service wants to see it."""
    assert answered(f'{{"rate": {body}}}'.encode()).value_text == text


@pytest.mark.parametrize("kind", [Kind.NUMBER, Kind.COUNT])
def test_a_boolean_is_no_number(kind: Kind) -> None:
    """In Python, True is 1."""
    assert code(answered({"rate": True}, metric(kind=kind))) == "observation_invalid:guardrail_value"


@pytest.mark.parametrize(("stated", "value"), [(True, True), (False, False), (1, True), (0, False), (1.0, True)])
def test_a_boolean_metric_takes_true_false_0_and_1(stated: object, value: bool) -> None:
    """Services say it in either way."""
    reading = answered({"rate": stated}, metric(kind=Kind.BOOLEAN))
    assert reading.value is value
    assert reading.problem is None


@pytest.mark.parametrize("stated", [2, 0.5, -1, "true"])
def test_a_boolean_metric_takes_nothing_else(stated: object) -> None:
    """2 is neither."""
    assert code(answered({"rate": stated}, metric(kind=Kind.BOOLEAN))) == "observation_invalid:constraint_value"


@pytest.mark.parametrize(
    ("stated", "spec", "problem"),
    [
        (1.5, metric(range=(0, 1)), "observation_invalid:out_of_range"),
        (1, metric(range=(0, 1)), None),
        (-1, metric(kind=Kind.COUNT), "observation_invalid:out_of_range"),
        (2.5, metric(kind=Kind.COUNT), "observation_invalid:out_of_range"),
        (2, metric(kind=Kind.COUNT), None),
    ],
)
def test_a_number_that_the_value_cannot_have_is_kept_beside_its_problem(
    stated: float, spec: Any, problem: str | None
) -> None:
    """A ratio of 1.5 is a broken service, and what it said is evidence of that."""
    reading = answered({"rate": stated}, spec)
    assert (reading.value, code(reading)) == (stated, problem)


def test_the_baseline_is_read_from_the_same_answer() -> None:
    """Both numbers and their time come from one moment; a bad baseline is named as one."""
    metrics = {
        "rate": metric("/new/rate", baseline_pointer="/old/rate", watermark_pointer="/at"),
        "depth": metric("/new/depth", baseline_pointer="/old/depth"),
        "leaks": metric("/new/leaks"),
    }
    document = {"new": {"rate": 0.1, "depth": 3, "leaks": 0}, "old": {"rate": "x", "depth": 4}, "at": 1771376380}
    with answering(document) as server:
        readings = read(server.url, metrics)
    assert len(server.requests) == 1
    at = require_time("2026-02-18T00:59:40Z")
    assert [(r.metric, r.side.value, r.value, code(r), r.watermark, r.record["pointer"]) for r in readings] == [
        ("rate", "variant", 0.1, None, at, "/new/rate"),
        ("rate", "baseline", None, "observation_invalid:baseline_value", at, "/old/rate"),
        ("depth", "variant", 3, None, None, "/new/depth"),
        ("depth", "baseline", 4, None, None, "/old/depth"),
        ("leaks", "variant", 0, None, None, "/new/leaks"),
    ]


@pytest.mark.parametrize(
    ("stated", "moment"),
    [
        ("2026-02-18T00:59:40Z", "2026-02-18T00:59:40Z"),
        ("2026-02-18T01:59:40.25+01:00", "2026-02-18T00:59:40.25Z"),
        (1771376380, "2026-02-18T00:59:40Z"),
        (1771376380.125, "2026-02-18T00:59:40.125Z"),
        (0, "1970-01-01T00:00:00Z"),
    ],
)
def test_a_watermark_is_a_time_with_a_zone_or_unix_seconds(stated: object, moment: str) -> None:
    """1771376380 s after 1970 is 2026-02-18T00:59:40Z, by `date -u -d @1771376380`."""
    reading = answered({"rate": 1, "at": stated}, metric(watermark_pointer="/at"))
    assert (reading.problem, reading.watermark) == (None, require_time(moment))


@pytest.mark.parametrize(
    "stated",
    ["2026-02-18T00:59:40", "2026-02-18", "1771376380", "", True, [1], {}, 1771376380000, 1e30, -1e30,
     "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"],
)  # fmt: skip
def test_a_watermark_that_is_no_time_holds_and_ends_nothing_else(stated: object) -> None:
    """Milliseconds in the place of seconds would be the year 58102, and a time before the year 1 has no text."""
    reading = answered({"rate": 1, "at": stated}, metric(watermark_pointer="/at"))
    assert (reading.value, reading.watermark, code(reading)) == (1, None, "observation_invalid:watermark_event_time")


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"rate": 1}, "observation_invalid:bad_response"),
        ({"rate": 1, "at": None}, "observation_missing:watermark_event_time"),
    ],
)
def test_a_watermark_that_is_not_there_is_missing(document: dict[str, Any], problem: str) -> None:
    """Nobody knows how old the value is."""
    reading = answered(document, metric(watermark_pointer="/at"))
    assert (reading.value, reading.watermark, code(reading)) == (1, None, problem)


def test_trouble_of_the_value_comes_before_trouble_of_its_time() -> None:
    """One problem is stated, and the value's is the graver one."""
    reading = answered({"rate": None, "at": "yesterday"}, metric(watermark_pointer="/at"))
    assert code(reading) == "observation_missing:empty_result"
    assert detail(reading) == '"/rate" is null'


def test_a_text_from_the_server_is_masked_in_the_record() -> None:
    """A service that answers with its own configuration must not have it logged."""
    with answering({"rate": "key-EXAMPLE"}) as server:
        (reading,) = read(f"{server.url}?k=key-EXAMPLE")
    assert reading.value_text == "***"
    assert by_side([reading])[Side.VARIANT].record == {"endpoint": f"{server.url}?***", "pointer": "/rate"}
