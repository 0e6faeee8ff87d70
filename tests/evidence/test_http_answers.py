from __future__ import annotations

import json

import pytest

from gatekeeper.errors import CollectionError
from tests.evidence.http_support import answered, answering, code, detail, metric, read, read_one
from tests.lab.faults import Fault, FaultProxy
from tests.lab.sockets import refused_port

BAD_RESPONSE = "observation_invalid:bad_response"


def test_json_is_asked_for_and_the_query_part_is_sent() -> None:
    """A service that can also answer with a page must not."""
    with answering({"rate": 1}) as server:
        read_one(f"{server.url}/status/?token=tok-EXAMPLE")
        read_one(server.url, headers={"accept": "application/vnd.api+json"})
    assert server.requests[0]["target"] == "/status/?token=tok-EXAMPLE"
    assert server.requests[0]["headers"]["Accept"] == "application/json"
    stated = {name.lower(): value for name, value in server.requests[1]["headers"].items()}
    assert stated["accept"] == "application/vnd.api+json"


@pytest.mark.parametrize(
    "body",
    [
        b"<html>login</html>",
        b"",
        b'{"rate": 1',
        b'{"rate": 1} {"rate": 2}',
        b'{"rate": 1, "rate": 2}',
        b'{"a": {"x": 1, "x": 1}, "rate": 1}',
        b'{"rate": 1, "b": "\xff"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_strict_json_is_no_answer(body: bytes) -> None:
    """A page with status 200 is what a login, a proxy and a broken service answer; of two numbers, neither counts."""
    reading = answered(body)
    assert (reading.value, code(reading)) == (None, BAD_RESPONSE)
    assert detail(reading).startswith("the answer:") or "nested" in detail(reading)


def test_an_answer_at_the_limit_is_read_and_one_byte_more_is_not() -> None:
    """A service that streams its whole table must not fill the job's memory."""
    body = json.dumps({"rate": 1, "pad": "x" * 1000}).encode()
    with answering(body) as server:
        assert read_one(server.url, max_bytes=len(body)).value == 1
        reading = read_one(server.url, max_bytes=len(body) - 1)
    assert (reading.value, code(reading)) == (None, BAD_RESPONSE)
    assert detail(reading) == f"the answer is larger than {len(body) - 1} bytes"


def test_an_answer_that_grows_when_it_is_unpacked_is_measured_unpacked() -> None:
    """8 MB of zeros are 8 kB of gzip."""
    import gzip

    body = gzip.compress(json.dumps({"rate": 1, "pad": "0" * 8_000_000}).encode())
    assert len(body) < 10_000
    with answering(body, headers={"Content-Encoding": "gzip"}) as server:
        assert code(read_one(server.url, max_bytes=100_000)) == BAD_RESPONSE


def test_an_answer_that_breaks_off_is_no_answer() -> None:
    """Whatever came of it."""
    with answering({"rate": 1}, cut=9) as server:
        assert code(read_one(server.url)) == BAD_RESPONSE


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (204, BAD_RESPONSE),
        (401, "unauthorized"),
        (403, "unauthorized"),
        (404, "bad_endpoint"),
        (405, "bad_endpoint"),
        (422, "observation_invalid:query_failed"),
        (429, "overloaded"),
        (500, "overloaded"),
        (503, "overloaded"),
    ],
)
def test_a_status_decides_whatever_the_body_says(status: int, problem: str) -> None:
    """An error page may hold a number where the value would be; it is asked once."""
    body = b"" if status == 204 else b'{"rate": 0}'
    with FaultProxy(faults=[Fault(status=status, body=body)]) as server:
        reading = read_one(server.url)
    assert (reading.value, code(reading)) == (None, problem)
    assert reading.record == {"endpoint": server.url, "pointer": "/rate", "http_status": status}
    assert detail(reading) == f'HTTP {status}: {{"rate": 0}}'.removesuffix(': {"rate": 0}' if status == 204 else "")
    assert len(server.requests) == 1


def test_a_status_decides_even_where_its_body_breaks_off() -> None:
    """503 stays 503."""
    with FaultProxy(faults=[Fault(status=503, body=b"upstream connect error", cut=8)]) as server:
        assert code(read_one(server.url)) == "overloaded"


def test_a_request_that_the_server_calls_a_mistake_ends_the_collection() -> None:
    """400 says that the reviewed file is wrong: holding for ever would hide that."""
    with FaultProxy(faults=[Fault(status=400, body=b"unknown parameter tok-EXAMPLE")]) as server:
        with pytest.raises(CollectionError) as raised:
            read(f"{server.url}/p?since=tok-EXAMPLE")
        port = server.port
    assert raised.value.exit_code == 65
    assert raised.value.message == (
        "evidence/collection.json: /sources/svc/url: the server calls the request a mistake: HTTP 400 from "
        f"http://127.0.0.1:{port}/p?***: unknown parameter ***"
    )


def test_a_server_that_is_down_is_every_metrics_problem() -> None:
    """The variant's and the baseline's; nothing is invented for either."""
    port = refused_port()
    metrics = {"rate": metric(baseline_pointer="/old"), "depth": metric("/depth")}
    readings = read(f"http://127.0.0.1:{port}", metrics)
    assert [(r.metric, r.side.value, r.value, code(r)) for r in readings] == [
        ("rate", "variant", None, "unreachable"),
        ("rate", "baseline", None, "unreachable"),
        ("depth", "variant", None, "unreachable"),
    ]
    assert "http_status" not in readings[0].record


def test_a_connection_that_was_dropped_before_an_answer_is_tried_once_more() -> None:
    """A server that restarts drops one; one that drops all is unreachable."""
    drop = Fault(drop=True, times=1)
    with FaultProxy(faults=[drop, Fault(status=200, body=b'{"rate": 1}')]) as server:
        assert read_one(server.url).value == 1
    assert len(server.requests) == 2
    with FaultProxy(faults=[Fault(drop=True)]) as server:
        assert code(read_one(server.url)) == "unreachable"
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [401, 403, 400, 422, 500])
def test_a_secret_that_the_server_repeats_is_in_no_message(status: int) -> None:
    """A 401 that quotes the header it refused is common; an append-only log cannot take it back."""
    said = b"refused: Bearer hdr-EXAMPLE for ci:s3cr3t-EXAMPLE with tok-EXAMPLE, Y2k6czNjcjN0LUVYQU1QTEU="
    with FaultProxy(faults=[Fault(status=status, body=said)]) as server:
        url = server.url.replace("://", "://ci:s3cr3t-EXAMPLE@") + "/prom?token=tok-EXAMPLE"
        try:
            (reading,) = read(url, environ={"A": "Bearer hdr-EXAMPLE"}, headers={"X-Auth": "${A}"})
            shown = f"{reading!r}"
        except CollectionError as error:
            shown = f"{error.message} {error.remedy}"
    assert "EXAMPLE" not in shown
    assert "Y2k6" not in shown
    assert f"127.0.0.1:{server.port}/prom" in shown
