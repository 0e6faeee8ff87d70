from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from gatekeeper.errors import CollectionError
from tests.evidence.prometheus.collecting import REQUESTS, collected, file, observation
from tests.lab.faults import Fault, FaultProxy
from tests.lab.sockets import refused_port

HEADER, PASSWORD, TOKEN = "Bearer hdr-5f0c91", "pw/8d2e77:x", "tok-44aa19"
ENVIRON = {"AUTH": HEADER, "PASSWORD": "pw%2F8d2e77%3Ax", "TOKEN": TOKEN}
PARTS = ("hdr-5f0c91", "8d2e77", "tok-44aa19")


def document(port: int) -> dict[str, Any]:
    """A source with a secret in a header, one in the userinfo of its address and one in its query part."""
    url = f"http://gate:${{PASSWORD}}@127.0.0.1:{port}/prom?token=${{TOKEN}}"
    return file(url, {"requests": REQUESTS}, labels=False, source={"headers": {"X-Auth": "${AUTH}"}})


def echo(status: int, **fault: Any) -> Fault:
    """A server that repeats everything that it was sent."""
    words = f"denied: X-Auth: {HEADER}, http://gate:{ENVIRON['PASSWORD']}@h/prom?token={TOKEN}, {PASSWORD}"
    body = {"status": "error", "errorType": "execution", "error": words, "warnings": [words], "infos": [words]}
    return Fault(status=status, body=json.dumps(body).encode(), **fault)


@pytest.mark.parametrize("status", [200, 401, 404, 422, 503])
def test_a_server_that_repeats_its_request_tells_no_secret(
    status: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither the record nor a log nor the terminal holds any of them; the requests held all."""
    caplog.set_level(logging.INFO)
    with FaultProxy(None, [echo(status)]) as proxy:
        snapshot = collected(document(proxy.port), ENVIRON)
    seen = observation(snapshot, "requests")
    assert "denied" in seen["problem"]["detail"]
    assert seen["endpoint"] == f"http://***@127.0.0.1:{proxy.port}/prom?***"
    written = [json.dumps(snapshot.document), *capfd.readouterr()]
    written += [record.getMessage() for record in caplog.records if record.levelno >= logging.INFO]
    assert not [part for part in PARTS for text in written if part in text]
    assert proxy.requests[0]["headers"]["X-Auth"] == HEADER
    assert proxy.requests[0]["params"]["token"] == TOKEN


def test_a_refusal_tells_no_secret() -> None:
    """The error of a 400 quotes the server, and is printed."""
    with FaultProxy(None, [echo(400)]) as proxy, pytest.raises(CollectionError) as refused:
        collected(document(proxy.port), ENVIRON)
    text = f"{refused.value!r} {refused.value.message} {refused.value.remedy} {refused.value.__context__!r}"
    assert "denied" in text
    assert not [part for part in PARTS if part in text]


def test_a_part_of_the_address_from_the_environment_is_told_nowhere() -> None:
    """Its name tells nothing of what it is: a path, a tenant, a host."""
    environ = {"WHERE": "room-77aa", "HOST": "127.0.0.1"}
    for faults in ([Fault(status=500, body=b"no /ROOM-77AA/api on 127.0.0.1")], [Fault(drop=True)]):
        with FaultProxy(None, faults) as proxy:
            url = f"http://${{HOST}}:{proxy.port}/${{WHERE}}"
            snapshot = collected(file(url, {"requests": REQUESTS}, labels=False), environ)
        seen = observation(snapshot, "requests")
        assert seen["endpoint"] == f"http://***:{proxy.port}/***"
        written = json.dumps(snapshot.document).lower()
        assert not [part for part in environ.values() if part in written]


def test_an_unreachable_server_tells_no_secret() -> None:
    """The libraries' own texts quote the address with all that is in it."""
    snapshot = collected(document(refused_port()), ENVIRON)
    text = json.dumps(snapshot.document)
    assert observation(snapshot, "requests")["problem"]["kind"] == "unreachable"
    assert not [part for part in PARTS if part in text]
