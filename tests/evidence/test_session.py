from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

from gatekeeper.errors import CollectionError, UsageError
from gatekeeper.evidence.collection import HttpSource, SourceType
from gatekeeper.evidence.web.endpoint import endpoint_of
from gatekeeper.evidence.web.session import open_session
from gatekeeper.evidence.web.transport import transport_problem
from tests.evidence.http_support import answering, round_of
from tests.evidence.tls import TlsServer, certificate
from tests.lab.faults import Fault, FaultProxy

SECRET = "s3cr3t-EXAMPLE"
"""Stands in addresses and headers, and in nothing that is shown."""


def session(
    url: str, environ: dict[str, str] | None = None, *, folder: Path = Path("evidence"), **source: Any
) -> tuple[requests.Session, str]:
    """A session with its source's address; keywords are fields of the source."""
    spec = HttpSource(SourceType.HTTP, url, **source)
    shared = round_of({"svc": spec}, {}, environ, path=str(folder / "collection.json"))
    endpoint = endpoint_of(url, shared.secrets)
    return open_session("svc", spec, endpoint, shared, pool_size=1), endpoint.url


def ask(url: str, environ: dict[str, str] | None = None, **source: Any) -> requests.Response:
    """One GET."""
    opened, address = session(url, environ, **source)
    with opened:
        return opened.get(address, timeout=5)


def test_headers_carry_what_the_environment_holds() -> None:
    """The file is reviewed and public; the token is neither."""
    headers = {"Authorization": "Bearer ${TOKEN}", "X-Scope-OrgID": "shop"}
    with answering({}) as server:
        ask(f"{server.url}/p", {"TOKEN": SECRET}, headers=headers)
    seen = server.requests[0]["headers"]
    assert (seen["Authorization"], seen["X-Scope-OrgID"]) == (f"Bearer {SECRET}", "shop")
    assert seen["User-Agent"].startswith("gatekeeper/")


def test_userinfo_logs_in_and_the_query_part_is_sent_along() -> None:
    """`ci:pä/ß` in UTF-8 and base64 is Y2k6cMOkL8Of."""
    with answering({}) as server:
        ask(server.url.replace("://", "://ci:p%C3%A4%2F%C3%9F@") + "/p?token=a%2Bb&x=1&x=2#part")
    assert server.requests[0]["target"] == "/p?token=a%2Bb&x=1&x=2"
    assert server.requests[0]["headers"]["Authorization"] == "Basic Y2k6cMOkL8Of"


def test_a_stated_authorization_header_wins_over_the_userinfo() -> None:
    """Both cannot be sent; the header was written on purpose."""
    with answering({}) as server:
        ask(server.url.replace("://", "://ci:pw-EXAMPLE@"), {"T": SECRET}, headers={"authorization": "Bearer ${T}"})
    assert server.requests[0]["headers"]["authorization"] == f"Bearer {SECRET}"
    assert "Authorization" not in server.requests[0]["headers"]


def test_netrc_and_the_proxies_of_the_environment_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `.netrc` entry would replace the stated header, a proxy would read it."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login other password other-password\n", encoding="utf-8")
    with answering({}) as server, answering({}) as proxy:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("no_proxy", "")
        ask(server.url)
        ask(server.url, {"T": SECRET}, headers={"Authorization": "Bearer ${T}"})
    assert not proxy.requests
    assert [seen["headers"].get("Authorization") for seen in server.requests] == [None, f"Bearer {SECRET}"]


def test_a_stated_proxy_is_used_and_logged_in_to() -> None:
    """`gate:pw-EXAMPLE` in base64 is Z2F0ZTpwdy1FWEFNUExF; the host has no address here, the proxy stands for it."""
    with answering({}) as proxy:
        ask("http://svc.invalid/p", {"PROXY": proxy.url.replace("://", "://gate:pw-EXAMPLE@")}, proxy_url="${PROXY}")
    assert proxy.requests[0]["target"] == "http://svc.invalid/p"
    assert proxy.requests[0]["headers"]["Proxy-Authorization"] == "Basic Z2F0ZTpwdy1FWEFNUExF"


def test_a_redirect_is_not_followed_whatever_a_client_library_asks_for() -> None:
    """It could lead anywhere, with our header; who asks decides."""
    with FaultProxy(faults=[Fault(status=302, headers={"Location": "/elsewhere"})]) as server:
        answer = ask(server.url)
    assert (answer.status_code, len(server.requests)) == (302, 1)


def test_a_server_in_trouble_is_asked_once() -> None:
    """Four requests for one would make its trouble worse, and would outlast the deadline."""
    with FaultProxy(faults=[Fault(status=503, headers={"Retry-After": "3"})]) as server:
        assert ask(server.url).status_code == 503
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "value", ["Bearer x\r\nX-Injected: 1", "Bearer x\n", " Bearer x", "Bearer \u20ac", "Bearer \x00"]
)
def test_a_header_that_cannot_be_sent_is_named_and_its_value_is_not(value: str) -> None:
    """`echo` leaves a line break at the end of a secret; the library's own message would quote it."""
    with pytest.raises(UsageError) as refused:
        session(
            "http://h.example", {"T": f"{value}{SECRET}" if value.endswith("1") else value}, headers={"X-A": "${T}"}
        )
    assert refused.value.message.startswith("/sources/svc/headers/X-A: the value (not shown) cannot be sent")
    assert "Bearer" not in f"{refused.value.message}{refused.value.remedy}"


def test_every_part_of_a_header_is_masked_from_then_on() -> None:
    """A server that answers 401 may repeat the header, its token, or one cookie of several."""
    spec = HttpSource(
        SourceType.HTTP,
        "http://h.example",
        headers={"Authorization": "Basic ${B}", "Cookie": "theme=dark; sid=${S}", "X-Keyed": 'key="${K}", v=1'},
    )
    # base64 of ci:pw-EXAMPLE
    shared = round_of({"svc": spec}, {}, {"B": "Y2k6cHctRVhBTVBMRQ==", "S": "sid-EXAMPLE", "K": "key-EXAMPLE"})
    open_session("svc", spec, endpoint_of(spec.url, shared.secrets), shared, pool_size=1).close()
    for said in ("Basic Y2k6cHctRVhBTVBMRQ==", "bad password pw-EXAMPLE", "no session sid-EXAMPLE", "key-EXAMPLE?"):
        masked = shared.secrets.mask(said)
        assert "***" in masked
        assert "EXAMPLE" not in masked
        assert "Y2k6" not in masked


def test_the_libraries_write_nothing_to_standard_error() -> None:
    """A CI log is public, and warnings quote addresses. In a process of its own: pytest listens to all loggers."""
    script = (
        "import logging\n"
        "from tests.evidence.test_session import session\n"
        "session('http://h.example')[0].close()\n"
        "logging.getLogger('urllib3.connectionpool').warning('address: %s', 'http://h.example?token=tok-EXAMPLE')\n"
        "logging.getLogger('requests').error('address: %s', 'http://h.example?token=tok-EXAMPLE')\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("", "")


def test_a_server_that_nobody_vouches_for_is_not_asked(tmp_path: Path) -> None:
    """Whoever sits between would otherwise read the token and state the numbers."""
    with TlsServer(certificate(tmp_path, "server")) as server, pytest.raises(requests.exceptions.SSLError) as refused:
        ask(server.url, {"T": SECRET}, headers={"Authorization": "Bearer ${T}"})
    assert not server.requests
    shared = round_of({}, {})
    problem = transport_problem(refused.value, shared.secrets)
    assert (problem.kind, problem.detail) == (
        "unreachable",
        f"no TLS with 127.0.0.1:{server.port}: self-signed certificate",
    )


def test_a_stated_authority_is_found_beside_the_collection_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job runs in any directory."""
    own = certificate(tmp_path, "server")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with TlsServer(own) as server:
        assert ask(server.url, folder=tmp_path, ca_file="server.pem").status_code == 200


@pytest.mark.parametrize("is_split", [True, False], ids=["key apart", "key in the same file"])
def test_a_client_certificate_is_presented(tmp_path: Path, is_split: bool) -> None:
    """A server that asks for one serves nobody else."""
    own, client = certificate(tmp_path, "server"), certificate(tmp_path, "client")
    (tmp_path / "both.pem").write_bytes(client.read_bytes() + client.with_suffix(".key").read_bytes())
    files: dict[str, Any] = {"cert_file": "client.pem", "key_file": "client.key"}
    if not is_split:
        files = {"cert_file": "both.pem"}
    with TlsServer(own, client=client) as server:
        assert ask(server.url, folder=tmp_path, ca_file="server.pem", **files).status_code == 200
        with pytest.raises(requests.ConnectionError) as refused:
            ask(server.url, folder=tmp_path, ca_file="server.pem")
    assert transport_problem(refused.value, round_of({}, {}).secrets).kind == "unreachable"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"ca_file": "absent.pem"}, "/sources/svc/ca_file: 'absent.pem' cannot be used: No such file or directory"),
        ({"ca_file": "text.pem"}, "/sources/svc/ca_file: 'text.pem' cannot be used: "),
        ({"cert_file": "absent.pem"}, "/sources/svc/cert_file: 'absent.pem' cannot be used: No such file or directory"),
        (
            {"cert_file": "locked.pem", "key_file": "locked.key"},
            "/sources/svc/cert_file: 'locked.pem' cannot be used: ",
        ),
        ({"cert_file": "locked.pem", "key_file": "own.key"}, "/sources/svc/cert_file: 'locked.pem' cannot be used: "),
    ],
)
def test_a_file_that_cannot_be_used_is_a_mistake_and_no_outage(
    tmp_path: Path, files: dict[str, Any], told: str
) -> None:
    """Waiting does not mend it; and a key with a passphrase must not make a job ask a terminal for it."""
    (tmp_path / "text.pem").write_text("no certificate\n", encoding="utf-8")
    certificate(tmp_path, "locked", passphrase="pass-EXAMPLE")
    certificate(tmp_path, "own")
    with pytest.raises(CollectionError) as refused:
        session("https://h.example", folder=tmp_path, **files)
    assert refused.value.message.startswith(told)


def test_a_proxy_that_is_no_address_is_refused_without_being_quoted() -> None:
    """It is often taken from the environment, password and all."""
    with pytest.raises(CollectionError) as refused:
        session("http://h.example", {"P": f"socks5://u:{SECRET}@h"}, proxy_url="${P}")
    assert refused.value.message.startswith("/sources/svc/proxy_url: no usable address (not shown)")
    assert SECRET not in refused.value.message


def test_a_proxys_password_is_masked() -> None:
    """Messages of a proxy may repeat it."""
    spec = HttpSource(SourceType.HTTP, "http://h.example", proxy_url="http://u:${P}@h")
    shared = round_of({"svc": spec}, {}, {"P": SECRET})
    open_session("svc", spec, endpoint_of(spec.url, shared.secrets), shared, pool_size=1).close()
    assert shared.secrets.mask(f"407: {SECRET}") == "407: ***"
