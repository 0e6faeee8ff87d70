from __future__ import annotations

import pytest

from tests.evidence.http_support import answering, code, detail, read_one
from tests.lab.faults import Fault, FaultProxy

DOCUMENT = b'{"rate": 1}'


def moved(where: str, *, status: int = 302, match: str = "", times: int | None = None) -> Fault:
    """A redirect."""
    return Fault(match=match, status=status, headers={"Location": where}, times=times)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_on_the_same_server_is_followed(status: int) -> None:
    """A slash at the end, or a version in the path; the header goes along, the first address's query part does not."""
    faults = [moved("/v2/status?since=5m", status=status, match="/status", times=1), Fault(status=200, body=DOCUMENT)]
    with FaultProxy(faults=faults) as server:
        reading = read_one(f"{server.url}/status?token=tok-EXAMPLE", environ={"A": "x"}, headers={"X-Auth": "${A}"})
    assert reading.value == 1
    assert "http_status" not in reading.record
    assert [seen["target"] for seen in server.requests] == ["/status?token=tok-EXAMPLE", "/v2/status?since=5m"]
    assert server.requests[1]["headers"]["X-Auth"] == "x"


def test_a_redirect_to_the_same_server_by_its_full_address_is_followed() -> None:
    """Services write their own address into `Location`."""
    with FaultProxy() as server:
        server.faults = [moved(f"{server.url}/b", times=1), Fault(status=200, body=DOCUMENT)]
        assert read_one(f"{server.url}/a").value == 1


@pytest.mark.parametrize("userinfo", ["", "u:pw-EXAMPLE@"])
def test_another_server_gets_no_request(userinfo: str) -> None:
    """It would get the headers, and its numbers would be taken for the service's."""
    with answering({"rate": 0}) as other:
        where = other.url.replace("://", f"://{userinfo}") + "/login?token=tok-EXAMPLE"
        with FaultProxy(faults=[moved(where)]) as server:
            reading = read_one(server.url)
    assert not other.requests
    assert (reading.value, code(reading), reading.record["http_status"]) == (None, "bad_endpoint", 302)
    assert detail(reading) == f"HTTP 302: redirected to another server: {other.url}"


@pytest.mark.parametrize("where", ["https://127.0.0.1:{port}/", "http://localhost:{port}/", "//127.0.0.1/"])
def test_another_scheme_name_or_port_is_another_server(where: str) -> None:
    """Only the very same scheme, host and port is the server that the file names."""
    with FaultProxy() as server:
        server.faults = [moved(where.format(port=server.port))]
        assert code(read_one(server.url)) == "bad_endpoint"
    assert len(server.requests) == 1


@pytest.mark.parametrize("where", ["http://[::1/", "http://127.0.0.1:port/", "file:///etc/passwd"])
def test_a_redirect_to_what_is_no_address_ends_there(where: str) -> None:
    """Nor is a file a service."""
    with FaultProxy(faults=[moved(where)]) as server:
        assert code(read_one(server.url)) == "bad_endpoint"
    assert len(server.requests) == 1


def test_three_redirects_are_followed_and_the_fourth_is_not() -> None:
    """Two pages that send their visitors to each other must not use up the time."""
    for redirects, requests, problem in ((3, 4, None), (4, 4, "bad_endpoint")):
        faults = [moved("/x", times=redirects), Fault(status=200, body=DOCUMENT)]
        with FaultProxy(faults=faults) as server:
            assert code(read_one(server.url)) == problem
        assert len(server.requests) == requests


@pytest.mark.parametrize("status", [300, 304, 302])
def test_a_redirect_that_leads_nowhere_is_a_bad_address(status: int) -> None:
    """Without `Location` there is nothing to follow."""
    with FaultProxy(faults=[Fault(status=status)]) as server:
        assert code(read_one(server.url)) == "bad_endpoint"


def test_a_login_page_on_the_same_server_is_no_answer() -> None:
    """A session that has ended answers with a redirect to HTML and status 200."""
    faults = [moved("/login", times=1), Fault(status=200, body=b"<html>", headers={"Content-Type": "text/html"})]
    with FaultProxy(faults=faults) as server:
        assert code(read_one(server.url)) == "observation_invalid:bad_response"
