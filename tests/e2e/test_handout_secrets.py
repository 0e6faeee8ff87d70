"""HO-17: an append-only log and a public CI log keep for ever what should not be there once."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.e2e.desk import Desk, Done
from tests.e2e.documents import Document
from tests.e2e.provider import collecting, collection, provider, texts_of, vector
from tests.lab.faults import Fault, FaultProxy
from tests.lab.sockets import refused_port

pytestmark = pytest.mark.slow

SECRETS = ("s3cr3t-EXAMPLE", "tok-EXAMPLE", "hdr-EXAMPLE")
LOGIN = base64.b64encode(b"ci-bot:s3cr3t-EXAMPLE").decode()
API_KEY = 'api_key="key-EXAMPLE"'


def guarded() -> Document:
    """The collection with a header from the environment, and a query with a label that looks like a secret."""
    document = collection()
    document["sources"]["prometheus"]["headers"] = {"Authorization": "${AUTH}"}
    document["metrics"]["error_rate"]["query"] = f"sum(app_error_rate{{{API_KEY}}})"
    return document


def asked(desk: Desk, port: int, *more: str, token: str = "tok-EXAMPLE", **env: str | None) -> Done:
    """A check of the run's first stage through an address full of secrets."""
    url = f"http://ci-bot:s3cr3t-EXAMPLE@127.0.0.1:{port}/prom?token={token}"
    return collecting(desk, url, *more, document=guarded(), AUTH="Bearer hdr-EXAMPLE", **env)


def assert_kept(done: Done, desk: Desk) -> None:
    """No secret anywhere; host and metric can still be read."""
    for name, data in texts_of(done, desk):
        for secret in (*SECRETS, LOGIN):
            assert secret.encode() not in data, (secret, name)
    assert b"127.0.0.1" in done.out + done.err.encode()


def test_ho_17_a_secrets_reach_the_provider_and_nobody_else(desk: Desk) -> None:
    """The provider gets what it needs; the query is evidence and stays as it is."""
    with provider(Fault(f"sum(app_error_rate{{{API_KEY}", 0, 200, vector("0.004"))) as stand_in:
        done = asked(desk, stand_in.port)
        seen = stand_in.requests

    assert done.verdict == (0, [], [])
    assert {request["headers"]["Authorization"] for request in seen} == {"Bearer hdr-EXAMPLE"}
    assert {request["params"]["token"] for request in seen} == {"tok-EXAMPLE"}
    assert {request["path"] for request in seen} == {"/prom/api/v1/query"}
    assert_kept(done, desk)
    assert "key-EXAMPLE" in desk.log.read_text()


def test_ho_17_b_a_refused_connection_tells_no_address_with_secrets(desk: Desk) -> None:
    """The network library's own error text holds the whole address."""
    done = asked(desk, refused_port())

    assert done.verdict[:2] == (2, ["observation_missing:source_unavailable"])
    assert_kept(done, desk)


def test_ho_17_c_a_provider_that_repeats_the_header_tells_nobody(desk: Desk) -> None:
    """The metrics client puts the server's whole body into its exception."""
    body = f"denied: Authorization: Bearer hdr-EXAMPLE, Basic {LOGIN}, token tok-EXAMPLE".encode()
    with FaultProxy(faults=[Fault(status=401, body=body)]) as stand_in:
        done = asked(desk, stand_in.port)

    assert done.verdict[:2] == (2, ["observation_missing:source_unavailable"])
    assert "401" in done.err
    assert_kept(done, desk)


@pytest.mark.parametrize("status", [200, 401])
def test_ho_17_d_verbose_mode_shows_no_secret(desk: Desk, status: int) -> None:
    """Whoever looks for a fault shows more of everything but this."""
    with FaultProxy(faults=[Fault(status=status, body=b"hdr-EXAMPLE is no JSON, tok-EXAMPLE neither")]) as stand_in:
        done = asked(desk, stand_in.port, "--verbose", GATEKEEPER_DEBUG="1")

    assert done.code == 2
    assert "error_rate" in done.err
    assert_kept(done, desk)


def test_ho_17_e_an_internal_error_shows_no_secret(desk: Desk, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A bug quotes what it was working on, and debugging shows the traceback."""
    faulty: Path = tmp_path_factory.mktemp("faulty")
    (faulty / "sitecustomize.py").write_text(
        "from gatekeeper.evidence.prometheus import client\n"
        "def broken(response, secrets, **_):\n"
        "    raise ValueError('cannot read ' + response.body.decode())\n"
        "client.judge = broken\n"
    )
    path = f"{faulty}:{desk.env()['PYTHONPATH']}"
    with FaultProxy(faults=[Fault(status=200, body=b"Bearer hdr-EXAMPLE, tok-EXAMPLE, s3cr3t-EXAMPLE")]) as stand_in:
        done = asked(desk, stand_in.port, PYTHONPATH=path, GATEKEEPER_DEBUG="1")

    assert done.code == 70
    assert "cannot read" in done.err
    for _, data in texts_of(done, desk):
        assert not any(secret.encode() in data for secret in SECRETS)


def test_ho_17_another_token_is_the_same_question(desk: Desk) -> None:
    """A rotated secret changes neither the file's digest nor the evidence."""
    digests = set()
    for token in ("tok-EXAMPLE", "another-token"):
        with provider() as stand_in:
            done = asked(desk, stand_in.port, token=token)
        snapshot = done.document["metrics_snapshot"]
        digests.add((snapshot["_meta"]["collector_digest"], snapshot["observations"]["error_rate"]["query"]))
    assert len(digests) == 1


@pytest.mark.parametrize("place", ["url", "headers"])
def test_a_secret_written_into_the_reviewed_file_is_refused_unseen(desk: Desk, place: str) -> None:
    """The file lies in a repository: it names the environment variable, and the message repeats nothing."""
    document = guarded()
    source = document["sources"]["prometheus"]
    source["url"] = "http://ci-bot:s3cr3t-EXAMPLE@127.0.0.1/prom?token=tok-EXAMPLE" if place == "url" else "http://p"
    source["headers"] = {"Authorization": "Bearer hdr-EXAMPLE"} if place == "headers" else {}
    done = collecting(desk, "http://unused", document=document)

    assert done.code == 65
    assert "${" in done.document["error"]["message"] + done.document["error"]["remedy"]
    for secret in SECRETS:
        assert secret not in done.err
        assert secret.encode() not in done.out
