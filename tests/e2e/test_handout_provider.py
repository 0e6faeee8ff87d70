"""HO-01 to HO-09 as a provider gives them: a stand-in socket answers, the installed command decides."""

from __future__ import annotations

import json
import time

import pytest

from tests.e2e.desk import Desk, Done
from tests.e2e.documents import policy
from tests.e2e.provider import answers, collecting, collection, observation, provider, vector
from tests.lab.faults import Fault, FaultProxy
from tests.lab.sockets import HangingServer, refused_port

pytestmark = pytest.mark.slow

ERROR_RATE = 'app_error_rate{track="canary"}'
LATENCY = 'app_latency_p99_ms{track="canary"}'


@pytest.fixture
def at_canary_10(desk: Desk) -> Desk:
    """A run that may ask for CANARY_25."""
    desk.begin_at("CANARY_10")
    return desk


def asked(desk: Desk, *special: Fault, age_seconds: float = 30, **changes: object) -> Done:
    """CANARY_25 asked of a provider with these special answers."""
    with provider(*special, age_seconds=age_seconds) as stand_in:
        return collecting(desk, stand_in.url, document=collection(**changes))


def test_ho_00_what_the_provider_answers_is_what_is_judged(at_canary_10: Desk) -> None:
    """S0 with L0 passes: text from the provider is turned into numbers, 0 of a switch into false."""
    done = asked(at_canary_10)

    assert done.verdict == (0, [], [])
    snapshot = done.document["metrics_snapshot"]
    assert snapshot["metrics"] == {
        "error_rate": 0.004,
        "latency_p99_ms": 310,
        "data_loss_events": 0,
        "kill_switch": False,
    }
    assert snapshot["baseline"]["metrics"] == {"error_rate": 0.003, "latency_p99_ms": 300}
    at_canary_10.assert_verifies()


@pytest.mark.parametrize(
    ("match", "metric", "text"), [(ERROR_RATE, "error_rate", "NaN"), (LATENCY, "latency_p99_ms", "+Inf")], ids="ab"
)
def test_ho_01_a_reading_that_is_no_number_holds(at_canary_10: Desk, match: str, metric: str, text: str) -> None:
    """Every comparison with NaN is false; the log shows what came."""
    done = asked(
        at_canary_10, Fault(f"sum({match}" if metric == "error_rate" else f"max({match}", 0, 200, vector(text))
    )

    assert done.verdict == (2, ["observation_invalid:guardrail_value"], [metric])
    assert observation(done, metric)["value_text"] == text
    assert done.document["metrics_snapshot"]["metrics"][metric] is None


def test_ho_02_a_an_empty_answer_is_neither_zero_nor_health(at_canary_10: Desk) -> None:
    """Read as 0, an empty answer passes every error metric."""
    done = asked(at_canary_10, Fault(f"sum({ERROR_RATE}", 0, 200, vector()))

    assert done.verdict == (2, ["observation_missing:empty_result"], ["error_rate"])


def test_ho_02_c_harm_that_is_known_does_not_wait_for_what_is_missing(at_canary_10: Desk) -> None:
    """Three lost records are harm, whatever the empty answer would have been."""
    lost = Fault("sum(app_data_loss_events", 0, 200, vector("3"))
    done = asked(at_canary_10, Fault(f"sum({ERROR_RATE}", 0, 200, vector()), lost)

    assert done.verdict == (1, ["constraint_violation:data_loss_events"], ["error_rate"])


def test_ho_03_a_several_series_are_not_one_number(at_canary_10: Desk) -> None:
    """The first series passes, the second violates: which comes first must not matter, and people see both."""
    told = []
    for values in (("0.001", "0.19"), ("0.19", "0.001")):
        done = asked(at_canary_10, Fault(f"sum({ERROR_RATE}", 0, 200, vector(*values)))
        assert done.verdict == (2, ["observation_invalid:multiple_series"], ["error_rate"])
        told.append(done.err)
    for err in told:
        assert "2 series" in err
        assert 'pod="a"' in err
        assert 'pod="b"' in err


def test_ho_04_a_number_outside_its_domain_is_not_repaired(at_canary_10: Desk) -> None:
    """97.3 percent in place of a ratio passes any lower limit by arithmetic."""
    metrics = collection()["metrics"]
    metrics["error_rate"]["range"] = [0, 1]
    done = asked(at_canary_10, Fault(f"sum({ERROR_RATE}", 0, 200, vector("97.3")), metrics=metrics)

    assert done.verdict == (2, ["observation_invalid:out_of_range"], ["error_rate"])


@pytest.mark.parametrize(("text", "would_be"), [("0.004", None), ("0.19", "guardrail_violation:error_rate")], ids="ac")
def test_ho_05_a_value_of_now_over_samples_of_290_seconds_ago_is_stale(
    at_canary_10: Desk, text: str, would_be: str | None
) -> None:
    """The look-back answers for five minutes; the time stamp on the answer is that of the query."""
    done = asked(at_canary_10, Fault(f"sum({ERROR_RATE}", 0, 200, vector(text)), age_seconds=290)

    assert done.verdict == (2, ["observation_stale:over_freshness_budget"], [])
    found = next(one for one in done.document["decision"]["findings"] if one["rule"] == "guardrail:error_rate")
    assert (found["outcome"], found["would_be"]) == ("STALE", would_be)


def test_ho_06_2_an_event_time_from_the_future_is_no_age(at_canary_10: Desk) -> None:
    """-600 s is smaller than any limit."""
    metrics = collection()["metrics"]
    metrics["error_rate"]["watermark"] = {"event_time_query": "max(push_time_seconds)"}
    ahead = Fault("push_time_seconds", 0, 200, vector(f"{time.time() + 600:.3f}"))
    done = asked(at_canary_10, ahead, metrics=metrics)

    assert done.verdict == (2, ["observation_invalid:watermark_event_time"], ["error_rate"])


def test_ho_07_a_one_source_behind_the_other_is_named(at_canary_10: Desk) -> None:
    """75 s apart, each fresh alone: the comparison is of different times."""
    sources = {**collection()["sources"], "warehouse": {"type": "prometheus", "url": "${WAREHOUSE}"}}
    metrics = collection()["metrics"]
    metrics["latency_p99_ms"]["source"] = "warehouse"
    with provider(age_seconds=10) as near, provider(age_seconds=85) as far:
        done = collecting(
            at_canary_10, near.url, document=collection(sources=sources, metrics=metrics), WAREHOUSE=far.url
        )

    assert done.verdict == (2, ["observation_stale:watermark_skew"], [])
    skew = next(one for one in done.document["decision"]["findings"] if one["rule"] == "skew")
    assert skew["source"] == "warehouse"
    assert skew["observed"] == pytest.approx(75, abs=5)  # the two stand-ins were started one after the other


DOWN = ["observation_missing:source_unavailable"]


def assert_held(done: Done, kind: str) -> None:
    """A hold for every metric, naming the provider and why, without a traceback."""
    code, reasons, missing = done.verdict
    assert (code, reasons) == (2, DOWN)
    assert {"error_rate", "latency_p99_ms", "data_loss_events", "kill_switch"} <= set(missing)
    assert observation(done, "latency_p99_ms")["problem"]["kind"] == kind
    assert "Traceback" not in done.err


def test_ho_08_a_a_provider_that_refuses_holds(at_canary_10: Desk) -> None:
    """Rolling back because the dashboard is down turns one incident into two."""
    done = collecting(at_canary_10, f"http://127.0.0.1:{refused_port()}")

    assert_held(done, "unreachable")
    assert f"127.0.0.1:{refused_port()}" in done.err


def test_ho_08_b_a_provider_that_never_answers_holds_in_time(at_canary_10: Desk) -> None:
    """A hung CI job is a verdict that nobody reads; by default it ends well below a minute."""
    document = collection()
    del document["limits"]
    with HangingServer() as silent:
        begun = time.monotonic()
        done = collecting(at_canary_10, silent.url, document=document)
        took = time.monotonic() - begun

    assert_held(done, "timeout")
    assert took < 40


def test_ho_08_b_the_bound_can_be_changed(at_canary_10: Desk) -> None:
    """The file's deadline ends the process, whatever the provider does."""
    with HangingServer() as silent:
        begun = time.monotonic()
        done = collecting(at_canary_10, silent.url, document=collection(limits={"deadline_seconds": 0.5}))
        took = time.monotonic() - begun

    assert_held(done, "timeout")
    assert took < 4.5  # the read time-out of one request alone is 5 s


def test_ho_08_c_a_provider_that_answers_503_holds(at_canary_10: Desk) -> None:
    """An overloaded proxy in front of it says nothing about the release; it is not asked again and again."""
    with FaultProxy(faults=[Fault(status=503, body=b"upstream connect error")]) as broken:
        done = collecting(at_canary_10, broken.url)
        queries = [request["params"]["query"] for request in broken.requests]

    assert_held(done, "overloaded")
    assert "upstream connect error" in done.err
    assert len(queries) == len(set(queries))


def test_ho_08_d_the_one_reading_that_came_is_in_the_log(at_canary_10: Desk) -> None:
    """What was known when time ran out is written down, and confirms nothing."""
    first = Fault(f"sum({ERROR_RATE}", 0, 200, vector("0.004"))
    with FaultProxy(faults=[first, Fault(delay=60, status=200)]) as hanging:
        done = collecting(at_canary_10, hanging.url, document=collection(limits={"deadline_seconds": 1.5}))

    assert_held(done, "timeout")
    assert observation(done, "error_rate")["value_text"] == "0.004"
    assert observation(done, "error_rate")["problem"]["code"] == "observation_missing:source_unavailable"


def test_ho_08_an_outage_rolls_nothing_back_whatever_the_policy_says(at_canary_10: Desk) -> None:
    """`on_missing` and `on_stale` REJECT are about evidence, not about the monitoring system."""
    desk = at_canary_10
    strict = policy(
        missing_data_policy={**policy()["missing_data_policy"], "on_missing": "REJECT", "on_stale": "REJECT"},
        policy_version="8",
    )
    desk.write("strict.json", strict)
    desk.write("collection.json", collection())
    argv = ["check", "--policy", "strict.json", "--experiment", "other", "--variant", "B", "-o", "json"]
    done = desk.gate(*argv, "--collect", "collection.json", PROM=f"http://127.0.0.1:{refused_port()}")

    assert done.verdict[:2] == (2, DOWN)


def test_ho_09_a_a_partial_answer_holds_and_says_what_is_missing(at_canary_10: Desk) -> None:
    """The store that does not answer is likely the one in trouble: a sum over fewer can only look better."""
    words = "store eu-2 did not answer in time, result is partial"
    done = asked(at_canary_10, Fault(f"sum({ERROR_RATE}", 0, 200, vector("0.004", warnings=[words])))

    assert done.verdict == (2, ["evidence_missing:partial_response"], ["error_rate"])
    assert words in done.out.decode()
    assert words in at_canary_10.log.read_text()


def test_ho_09_b_a_remark_holds_nothing_and_is_logged(at_canary_10: Desk) -> None:
    """`infos` are about a query's style."""
    words = "metric might not be a counter"
    done = asked(at_canary_10, Fault(f"sum({ERROR_RATE}", 0, 200, vector("0.004", infos=[words])))

    assert done.verdict == (0, [], [])
    assert words in at_canary_10.log.read_text()


def test_a_mistake_in_the_reviewed_file_is_no_hold(at_canary_10: Desk) -> None:
    """A query that the server cannot read is 65 at once: no waiting mends it."""
    body = b'{"status":"error","errorType":"bad_data","error":"invalid parameter \\"query\\": unknown function"}'
    before = at_canary_10.log.read_bytes()
    with FaultProxy(faults=answers(Fault(f"sum({ERROR_RATE}", 0, 400, body))) as stand_in:
        done = collecting(at_canary_10, stand_in.url, "--wait", "10m")

    assert done.code == 65
    assert done.document["error"]["code"] == "collection.invalid"
    assert "error_rate" in done.document["error"]["message"]
    assert "unknown function" in done.document["error"]["message"]
    assert at_canary_10.log.read_bytes() == before


def test_a_hold_says_how_to_collect_again(at_canary_10: Desk) -> None:
    """Whoever copies the line takes the evidence from where it came, and not from a file that nobody writes."""
    done = asked(at_canary_10, Fault(f"sum({ERROR_RATE}", 0, 200, vector()))
    token = done.document["resume"]["resume_token"]

    told = at_canary_10.gate("explain", done.document["event_id"], COLUMNS="400").out.decode()

    assert f"gatekeeper resume {token} --collect {at_canary_10.place / 'collection.json'}" in told


def test_a_part_from_a_closed_standard_input_is_a_source_that_is_down(desk: Desk) -> None:
    """A pipeline that lost its pipe holds like any other outage."""
    desk.write(
        "parts.json",
        {"sources": {"bake": {"type": "file", "path": "-"}}, "metrics": {"error_rate": {"source": "bake"}}},
    )
    done = desk.shell("gatekeeper collect parts.json <&-")

    assert done.code == 0, done.err
    problem = json.loads(done.out)["observations"]["error_rate"]["problem"]
    assert problem["code"] == "observation_missing:source_unavailable"
