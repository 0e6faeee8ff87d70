from __future__ import annotations

import contextlib
import json
import socket
import threading
from pathlib import Path

import pytest

from gatekeeper.errors import CollectionError, UsageError
from tests.evidence.prometheus.collecting import (
    ERROR_RATIO,
    MICROSECONDS,
    P95,
    REQUESTS,
    codes,
    collected,
    collector,
    file,
    observation,
)
from tests.lab.faults import Fault, FaultProxy
from tests.lab.fixtures import Labs
from tests.lab.series import T0
from tests.lab.servers import Lab

pytestmark = pytest.mark.server

METRICS = {
    "error_ratio": ERROR_RATIO,
    "p95": P95,
    "requests": REQUESTS,
    "mismatches": {"query": "sum(ledger_mismatches_total)", "bind": False},
}


def test_all_queries_are_asked_for_one_and_the_same_instant(lab: Labs[Lab]) -> None:
    """Values, ages, coverage and the deep second phase share the time, in unix seconds with three decimals at most."""
    with FaultProxy(lab("canary_stale").url) as proxy:
        collected(file(proxy.url, METRICS), at=T0 + 0.125)
    asked = [request["params"]["query"] for request in proxy.requests]
    assert any("[30m:1m]" in query for query in asked)  # the second phase took place
    assert {request["params"]["time"] for request in proxy.requests} == {f"{T0}.125"}


def test_whole_seconds_are_sent_whole(lab: Labs[Lab]) -> None:
    """VictoriaMetrics and old servers read no exponent and no needless decimals."""
    with FaultProxy(lab("healthy").url) as proxy:
        collected(file(proxy.url, {"requests": REQUESTS}))
    assert {request["params"]["time"] for request in proxy.requests} == {str(T0)}


def test_a_query_that_many_metrics_share_is_asked_once(lab: Labs[Lab]) -> None:
    """20 metrics over one selector: one query each, one for the age, one for the coverage."""
    metrics = {f"m{number}": f"sum(rate(http_requests_total[5m])) * {number}" for number in range(20)}
    with FaultProxy(lab("healthy").url) as proxy:
        collected(file(proxy.url, metrics, labels=False))
    asked = [request["params"]["query"] for request in proxy.requests]
    assert len(asked) == len(set(asked)) == 22


def test_requests_run_side_by_side_over_few_connections(lab: Labs[Lab]) -> None:
    """As many at once as the file allows, each on a connection that is used again."""
    metrics = {f"m{number}": f"{REQUESTS} * {number}" for number in range(20)}
    with FaultProxy(lab("healthy").url, [Fault(delay=0.02)]) as proxy:
        collected(file(proxy.url, metrics, limits={"parallelism": 4}))
    assert proxy.max_inflight == 4
    assert proxy.connections == 4


def test_every_request_asks_for_whole_and_fresh_answers_within_its_time(lab: Labs[Lab]) -> None:
    """What Thanos and VictoriaMetrics need to be told, and how long the server may work: never longer than is left."""
    with FaultProxy(lab("healthy").url) as proxy:
        collected(file(proxy.url, METRICS, limits={"deadline_seconds": 3}))
    for request in proxy.requests:
        params = request["params"]
        assert (params["partial_response"], params["deny_partial_response"], params["nocache"]) == ("false", "1", "1")
        assert params["timeout"].endswith("ms")
        assert 2000 < int(params["timeout"].removesuffix("ms")) <= 3000


def test_the_addresss_own_parameters_are_sent_and_cannot_replace_ours(lab: Labs[Lab]) -> None:
    """A tenant in the address reaches the server; of a parameter that comes twice, servers take the first."""
    with FaultProxy(lab("healthy").url) as proxy:
        url = f"{proxy.url}/?tenant=a%26b&time=1"
        collected(file(url, {"requests": REQUESTS}))
    for request in proxy.requests:
        assert request["path"] == "/api/v1/query"
        assert request["params"]["tenant"] == "a&b"
        assert request["target"].index(f"time={T0}&") < request["target"].rindex("time=1")


def test_headers_come_from_the_file_and_not_from_the_machine(
    lab: Labs[Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`.netrc` and HTTP_PROXY are set and have no effect: the stated header arrives, and nothing goes elsewhere."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login intruder password intruder\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with FaultProxy(lab("healthy").url) as proxy, FaultProxy(None, [Fault(status=500)]) as elsewhere:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, elsewhere.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        headers = {"Authorization": "${PROM_AUTH}", "X-Scope-OrgID": "team-a"}
        document = file(proxy.url, METRICS, source={"headers": headers})
        assert codes(collected(document, {"PROM_AUTH": "Bearer abcdef"})) == {}
    assert elsewhere.requests == []
    for request in proxy.requests:
        assert request["headers"]["Authorization"] == "Bearer abcdef"
        assert request["headers"]["X-Scope-OrgID"] == "team-a"


def test_a_variable_that_is_not_set_is_wrong_usage() -> None:
    """It is told by name before anything is asked."""
    with pytest.raises(UsageError, match="PROMETHEUS_URL"):
        collected(file("${PROMETHEUS_URL}", {"requests": REQUESTS}))


def test_labels_may_come_from_the_environment(lab: Labs[Lab]) -> None:
    """One reviewed file serves every variant."""
    document = file(lab("healthy").url, {"requests": REQUESTS}) | {"labels": {"variant": {"variant": "${TRACK}"}}}
    snapshot = collected(document, {"TRACK": "canary"})
    assert observation(snapshot, "requests")["value"] == 1200
    assert 'variant="canary"' in observation(snapshot, "requests")["query"]
    assert "baseline" not in snapshot.document  # no label has a value for it


def test_an_overloaded_server_is_asked_once_per_query(lab: Labs[Lab]) -> None:
    """The client library would ask four times, and bring down what is about to fall."""
    with FaultProxy(lab("healthy").url, [Fault(status=503, body=b"busy")]) as proxy:
        snapshot = collected(file(proxy.url, {"requests": REQUESTS}, labels=False))
    asked = [request["params"]["query"] for request in proxy.requests]
    assert len(asked) == len(set(asked)) == 3
    assert observation(snapshot, "requests")["problem"]["kind"] == "overloaded"


def test_a_connection_that_is_dropped_is_tried_once_more(lab: Labs[Lab]) -> None:
    """A server may close a kept connection at any time; that alone is no outage."""
    with FaultProxy(lab("healthy").url, [Fault(match="floor", drop=True, times=1)]) as proxy:
        snapshot = collected(file(proxy.url, {"requests": REQUESTS}, labels=False))
    assert codes(snapshot) == {}
    assert [request["params"]["query"][:5] for request in proxy.requests].count("floor") == 2


def test_a_connection_that_is_dropped_twice_is_not_tried_again(lab: Labs[Lab]) -> None:
    """One more try, at once, and then the source is unreachable."""
    with FaultProxy(lab("healthy").url, [Fault(match="floor", drop=True)]) as proxy:
        snapshot = collected(file(proxy.url, {"requests": REQUESTS}, labels=False))
    assert observation(snapshot, "requests")["problem"]["kind"] == "unreachable"
    assert [request["params"]["query"][:5] for request in proxy.requests].count("floor") == 2


def test_what_is_no_http_is_not_asked_twice() -> None:
    """Something answered: it would answer the same again."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepted: list[socket.socket] = []

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    accepted.append(client)
                    client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
                    client.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        snapshot = collected(file(url, {"up": "sum(up)"}, labels=False, limits={"parallelism": 1}))
        listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        thread.join()
    for client in accepted:
        client.close()
    assert observation(snapshot, "up")["problem"]["kind"] == "unreachable"
    assert len(accepted) == 2  # the value, and its age


def test_a_query_that_the_server_refuses_is_a_mistake_in_the_file(lab: Labs[Lab]) -> None:
    """400 is told with metric, query and the server's words, at once, although another query hangs."""
    body = json.dumps({"status": "error", "errorType": "bad_data", "error": "1:5: parse error: unclosed"}).encode()
    faults = [Fault(match="histogram_quantile", delay=60), Fault(match="floor", status=400, body=body)]
    with FaultProxy(lab("healthy").url, faults) as proxy, pytest.raises(CollectionError) as refused:
        collected(file(proxy.url, {"p95": P95, "requests": REQUESTS}))
    assert "/metrics/requests" in refused.value.message
    assert "increase(http_requests_total" in refused.value.message
    assert "1:5: parse error: unclosed" in refused.value.message


def test_a_query_of_another_dialect_is_refused_by_a_real_server(lab: Labs[Lab]) -> None:
    """The file states VictoriaMetrics: its deep query is no PromQL, and Prometheus says so."""
    document = file(lab("canary_stale").url, {"requests": REQUESTS}, source={"dialect": "victoriametrics"})
    with pytest.raises(CollectionError, match="tlast_over_time") as refused:
        collected(document)
    assert "dialect" in refused.value.remedy


def test_two_collections_for_one_instant_differ_in_nothing_but_their_ids(lab: Labs[Lab]) -> None:
    """What is recorded can be compared."""
    first, second = (collected(file(lab("healthy").url, METRICS)).document for _ in range(2))
    assert first["_meta"].pop("snapshot_id") != second["_meta"].pop("snapshot_id")
    assert first == second


def test_nothing_is_asked_before_the_file_is_understood() -> None:
    """An unset label variable is told although the server would answer."""
    with FaultProxy(None, [Fault(status=500)]) as proxy:
        document = file(proxy.url, {"requests": REQUESTS}) | {"labels": {"variant": {"variant": "${TRACK}"}}}
        with pytest.raises(UsageError, match="TRACK"):
            collector(document).collect(at=T0 * MICROSECONDS)
    assert proxy.requests == []
