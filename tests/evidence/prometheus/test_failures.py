from __future__ import annotations

import json
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

from tests.evidence.prometheus.collecting import REQUESTS, codes, collected, file, observation
from tests.lab.faults import Fault, FaultProxy, with_warnings
from tests.lab.fixtures import Labs
from tests.lab.series import T0
from tests.lab.servers import Lab
from tests.lab.sockets import refused_port

pytestmark = pytest.mark.server

VALUE, AGE, COVERAGE = "floor", "max(timestamp", "count_over_time"
"""What the three queries of the one metric contain."""


def under(url: str, *faults: Fault, deadline: float = 10) -> dict[str, Any]:
    """The observation of the metric `requests` when the server's answers are spoilt."""
    with FaultProxy(url, faults) as proxy:
        document = file(proxy.url, {"requests": REQUESTS}, labels=False, limits={"deadline_seconds": deadline})
        return observation(collected(document), "requests")


def error(error_type: str, text: str, **more: Any) -> bytes:
    """An error body of the query API."""
    return json.dumps({"status": "error", "errorType": error_type, "error": text, **more}).encode()


def result(data: Any, **more: Any) -> bytes:
    """A success body of the query API."""
    return json.dumps({"status": "success", "data": data, **more}).encode()


ELEMENT = {"metric": {"job": "a"}, "value": [T0, "1"]}
GOOD = {"resultType": "vector", "result": [ELEMENT]}

UNAVAILABLE = [
    (Fault(drop=True), "unreachable"),
    (Fault(status=401, body=b"no"), "unauthorized"),
    (Fault(status=403, body=b"no"), "unauthorized"),
    (Fault(status=302, headers={"Location": "/login"}), "bad_endpoint"),
    (Fault(status=404, body=b"404 page not found"), "bad_endpoint"),
    (Fault(status=405, body=b"Method Not Allowed"), "bad_endpoint"),
    (Fault(status=400, body=b"unsupported path requested"), "bad_endpoint"),
    (Fault(status=429, body=b"slow down"), "overloaded"),
    (Fault(status=500, body=b"oops"), "overloaded"),
    (Fault(status=503, body=error("timeout", "query timed out in expression evaluation")), "overloaded"),
]


@pytest.mark.parametrize("query", [VALUE, AGE, COVERAGE])
@pytest.mark.parametrize(("fault", "kind"), UNAVAILABLE)
def test_a_source_that_cannot_be_asked_is_missing_evidence(lab: Labs[Lab], query: str, fault: Fault, kind: str) -> None:
    """Whichever of a metric's queries it is, the observation says so; a value that came is kept beside it."""
    fault = Fault(query, status=fault.status, body=fault.body, headers=fault.headers, drop=fault.drop)
    seen = under(lab("healthy").url, fault)
    assert (seen["problem"]["code"], seen["problem"]["kind"]) == ("observation_missing:source_unavailable", kind)
    assert seen["value"] == (None if query == VALUE else 7200)


def test_a_refused_connection_is_unreachable() -> None:
    """Nobody listens there."""
    snapshot = collected(file(f"http://127.0.0.1:{refused_port()}", {"requests": REQUESTS}))
    assert observation(snapshot, "requests")["problem"]["kind"] == "unreachable"


def test_a_redirect_is_not_followed(lab: Labs[Lab]) -> None:
    """A login page elsewhere is asked nothing."""
    with FaultProxy(None, [Fault(status=200, body=result(GOOD))]) as login:
        seen = under(lab("healthy").url, Fault(VALUE, status=302, headers={"Location": f"{login.url}/login"}))
    assert seen["problem"]["kind"] == "bad_endpoint"
    assert login.requests == []


BAD_BODIES = {
    "html": b"<html>Sign in</html>",
    "nothing": b"",
    "a list": b"[]",
    "a key twice": result(GOOD).replace(b'"status": "success"', b'"status": "error", "status": "success"'),
    "error inside 200": error("internal", "expanding series"),
    "error with data inside 200": error("internal", "expanding series", data=GOOD),
    "no status": json.dumps({"data": GOOD}).encode(),
    "string": result({"resultType": "string", "result": [T0, "hi"]}),
    "matrix": result({"resultType": "matrix", "result": [{"metric": {}, "values": [[T0, "1"]]}]}),
    "no data": result(None),
    "no list": result({"resultType": "vector", "result": None}),
    "native histogram": result(
        {"resultType": "vector", "result": [{"metric": {}, "histogram": [T0, {"count": "1", "sum": "1"}]}]}
    ),
    "no labels": result({"resultType": "vector", "result": [{"value": [T0, "1"]}]}),
    "a number that is no text": result({"resultType": "vector", "result": [{"metric": {}, "value": [T0, 1]}]}),
    "a bare NaN": result({"resultType": "vector", "result": [{"metric": {}, "value": [T0, float("nan")]}]}),
    "text that is no number": result({"resultType": "vector", "result": [{"metric": {}, "value": [T0, "1_0"]}]}),
    "nested too deeply": b"[" * 100_000,
    "success with an error": result(GOOD, error="expanding series"),
    "a number beside a histogram": result(
        {"resultType": "vector", "result": [{**ELEMENT, "histogram": [T0, {"count": "1", "sum": "1"}]}]}
    ),
    "a time that is text": result({"resultType": "vector", "result": [{"metric": {}, "value": [str(T0), "1"]}]}),
    "no time": result({"resultType": "vector", "result": [{"metric": {}, "value": [None, "1"]}]}),
    "an hour ago": result({"resultType": "vector", "result": [{"metric": {}, "value": [T0 - 3600, "1"]}]}),
    "two seconds ago": result({"resultType": "vector", "result": [{"metric": {}, "value": [T0 - 2, "1"]}]}),
    "two seconds ahead": result({"resultType": "vector", "result": [{"metric": {}, "value": [T0 + 2, "1"]}]}),
    "a scalar of another time": result({"resultType": "scalar", "result": [T0 - 3600, "1"]}),
}


@pytest.mark.parametrize("query", [VALUE, AGE, COVERAGE])
@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES)
def test_what_is_no_answer_never_becomes_a_value(lab: Labs[Lab], query: str, body: bytes) -> None:
    """HTTP 200 is not enough: the body decides, for the value and for what is asked about it."""
    seen = under(lab("healthy").url, Fault(query, status=200, body=body))
    assert seen["problem"]["code"] == "observation_invalid:bad_response"
    assert seen["value"] == (None if query == VALUE else 7200)


def test_an_answer_that_is_cut_off_is_no_answer(lab: Labs[Lab]) -> None:
    """It announced more than it sent; what came is not judged."""
    assert under(lab("healthy").url, Fault(VALUE, cut=60))["problem"]["code"] == "observation_invalid:bad_response"


def test_an_answer_without_an_end_is_cut_off(lab: Labs[Lab]) -> None:
    """17 MiB of spaces before a good answer are not kept in memory."""
    seen = under(lab("healthy").url, Fault(VALUE, status=200, body=b" " * (17 << 20) + result(GOOD)))
    assert seen["problem"]["code"] == "observation_invalid:bad_response"


PARTIAL: dict[str, Callable[[dict[str, Any]], Any]] = {
    "warnings": with_warnings("store 3 is down"),
    "isPartial": lambda body: {**body, "isPartial": True},
    "isPartial in text": lambda body: {**body, "isPartial": "true"},
    "warnings among the data": lambda body: {**body, "data": {**body["data"], "warnings": ["store 3 is down"]}},
    "isPartial among the data": lambda body: {**body, "data": {**body["data"], "isPartial": True}},
    "a warning that is no text": lambda body: {**body, "warnings": {"code": 7}},
}


@pytest.mark.parametrize("query", [VALUE, AGE, COVERAGE])
@pytest.mark.parametrize("edit", PARTIAL.values(), ids=PARTIAL)
def test_partial_answers_confirm_nothing(lab: Labs[Lab], query: str, edit: Callable[[dict[str, Any]], Any]) -> None:
    """The client library drops warnings and returns partial data as complete."""
    seen = under(lab("healthy").url, Fault(query, edit=edit))
    assert seen["problem"]["code"] == "evidence_missing:partial_response"
    assert seen["value"] == 7200


def test_remarks_of_a_server_are_recorded_and_are_no_trouble(lab: Labs[Lab]) -> None:
    """`infos` stand beside the data; servers 2.48 to 2.53 put them among the warnings."""
    info = "PromQL info: metric might not be a counter"
    for edit in (lambda body: {**body, "infos": [info]}, with_warnings(info)):
        seen = under(lab("healthy").url, Fault(VALUE, edit=edit))
        assert (seen["problem"], seen["infos"]) == (None, [info])
        assert "warnings" not in seen


FAILED = {
    "prometheus": error("execution", "vector cannot contain metrics with the same labelset"),
    "of a proxy": b"<html>Unprocessable</html>",
    "without words": b"",
    "victoriametrics": error("422", 'error when executing query="x": cannot evaluate "x": duplicate time series'),
}


@pytest.mark.parametrize("query", [VALUE, AGE, COVERAGE])
@pytest.mark.parametrize("body", FAILED.values(), ids=FAILED)
def test_a_query_that_fails_on_the_data_holds(lab: Labs[Lab], query: str, body: bytes) -> None:
    """422 depends on the series of the moment: waiting may mend it."""
    seen = under(lab("healthy").url, Fault(query, status=422, body=body))
    assert seen["problem"]["code"] == "observation_invalid:query_failed"
    assert query != VALUE or seen["http_status"] == 422


@pytest.mark.parametrize(("ahead", "expected"), [(5, None), (6, "observation_invalid:collected_at")])
def test_asking_for_a_time_that_the_server_has_not_reached_is_invalid(
    lab: Labs[Lab], ahead: int, expected: str | None
) -> None:
    """Its `Date` header says what time it has; five seconds are tolerated."""
    date = formatdate(T0 - ahead, usegmt=True)
    seen = under(lab("healthy").url, Fault(VALUE, status=200, body=result(GOOD), headers={"Date": date}))
    assert (seen["problem"] or {}).get("code") == expected


@pytest.mark.parametrize(("behind", "expected"), [(5, None), (30, "observation_invalid:collected_at")])
def test_a_clock_of_ours_that_is_behind_makes_no_age_young(lab: Labs[Lab], behind: int, expected: str | None) -> None:
    """Ages count to our present: thirty seconds behind, data that are 140 s old pass a limit of 120."""
    date = formatdate(time.time() + behind, usegmt=True)
    seen = under(lab("healthy").url, Fault(VALUE, status=200, body=result(GOOD), headers={"Date": date}))
    assert (seen["problem"] or {}).get("code") == expected
    assert expected is None or "behind the server's" in seen["problem"]["detail"]


def test_clocks_that_differ_are_on_record(lab: Labs[Lab]) -> None:
    """An hour of difference explains many an odd age; a second is none, and would make every record differ."""
    date = formatdate(time.time() + 3600, usegmt=True)
    seen = under(lab("healthy").url, Fault(VALUE, status=200, body=result(GOOD), headers={"Date": date}))
    assert -3601 <= seen["clock_difference_seconds"] <= -3598
    assert "clock_difference_seconds" not in under(lab("healthy").url)


def test_values_that_cannot_be_are_kept_beside_their_problem(lab: Labs[Lab]) -> None:
    """Out of range is invalid evidence, never clamped; a count is a whole number from 0 up."""
    metrics = {
        "share": {"query": "vector(1.5) * count(up) / count(up)", "range": [0, 1]},
        "negative": {"query": "-count(up)", "kind": "count"},
        "fraction": {"query": "count(up) / 3", "kind": "count"},
        "switch": {"query": "count(up)", "kind": "boolean"},
    }
    snapshot = collected(file(lab("healthy").url, metrics, labels=False))
    outside = "observation_invalid:out_of_range"
    assert codes(snapshot) == {
        "share": outside,
        "negative": outside,
        "fraction": outside,
        "switch": "observation_invalid:constraint_value",
    }
    assert {name: observation(snapshot, name)["value"] for name in metrics} == {
        "share": 1.5,
        "negative": -4,  # three targets of checkout and one of the ledger
        "fraction": 4 / 3,
        "switch": None,
    }
