"""`collect --lint` and `policy check --collection`: exit codes that a pipeline can trust, and nobody asked unasked."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.cli.app import run
from tests.evidence.lint_files import POLICY, SOUND, file, line_of, policy, written
from tests.evidence.prometheus.collecting import P95
from tests.evidence.prometheus.collecting import file as server_file
from tests.lab.fixtures import Labs
from tests.lab.servers import Lab
from tests.lab.sockets import HangingServer

DEFECT = file(metrics__leaks__query="sum(increase(leaks_total[5m]))")
WARNING = file(metrics__errors__min_coverage=0)
REFUSED = file(metrics__leaks__query="sum(job:leaks:sum)")
BAD_POLICY = policy(guardrails=[{"metric": "errors"}])


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with one file of each kind."""
    monkeypatch.chdir(tmp_path)
    documents = {"sound": SOUND, "defect": DEFECT, "warning": WARNING, "refused": REFUSED}
    for name, document in {**documents, "policy": POLICY, "bad-policy": BAD_POLICY}.items():
        (tmp_path / f"{name}.json").write_bytes(written(document))
    (tmp_path / "empty.json").write_text("")
    return tmp_path


def outcome(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    """Exit code and the one JSON document of a command."""
    code = run([*argv, "-o", "json"])
    return code, json.loads(capsys.readouterr().out)


LINT = [
    ("sound.json", None, 0),
    ("sound.json", "policy.json", 0),
    ("warning.json", "policy.json", 0),
    ("defect.json", None, 0),  # only the policy says that it must be zero
    ("defect.json", "policy.json", 10),
    ("refused.json", None, 65),
    ("empty.json", None, 65),
    ("missing.json", None, 65),
    ("sound.json", "bad-policy.json", 65),
    ("sound.json", "missing.json", 65),
]


@pytest.mark.parametrize(("name", "judged_by", "code"), LINT)
def test_the_exit_code_of_a_review_says_whether_to_go_on(name: str, judged_by: str | None, code: int) -> None:
    """65 does not load, 10 has a defect, 0 otherwise: a warning stops no pipeline."""
    assert run(["collect", "--lint", name, *([] if judged_by is None else ["--policy", judged_by])]) == code


CHECK = [
    (["policy.json"], "sound.json", 0),
    (["policy.json"], "warning.json", 0),
    (["policy.json"], "defect.json", 10),
    (["policy.json"], "refused.json", 65),
    (["policy.json"], "missing.json", 65),
    (["bad-policy.json"], "sound.json", 65),
    (["bad-policy.json", "policy.json"], "defect.json", 65),
]


@pytest.mark.parametrize(("policies", "name", "code"), CHECK)
def test_a_policy_check_ends_with_the_worst_of_its_files(policies: list[str], name: str, code: int) -> None:
    """A file that does not load comes before a defect, whichever it is."""
    assert run(["policy", "check", *policies, "--collection", name]) == code


def test_json_states_each_finding_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    """What a program reads: facts of the file, and for each finding what a person sees."""
    code, document = outcome(capsys, "collect", "--lint", "defect.json", "--policy", "policy.json")
    assert code == 10
    assert document["source"] == "defect.json"
    assert document["loads"] is True
    assert document["collection"]["metrics"] == 7
    assert document["collection"]["collector_digest"].startswith("sha256:")
    (one,) = document["diagnostics"]
    assert {key: one[key] for key in ("code", "severity", "pointer", "line")} == {
        "code": "collection.rate_must_be_zero",
        "severity": "error",
        "pointer": "/metrics/leaks/query",
        "line": line_of(DEFECT, "/metrics/leaks/query"),
    }
    assert one["remedy"] == "ask for the counter itself, like sum(x)"


def test_a_recording_rule_without_watermark_is_refused_with_advice(capsys: pytest.CaptureFixture[str]) -> None:
    """PROMETHEUS assertion 8: the review says so with 65, where and what to state."""
    code, document = outcome(capsys, "collect", "--lint", "refused.json")
    (one,) = document["diagnostics"]
    assert (code, document["loads"], document["collection"]) == (65, False, None)
    assert (one["code"], one["line"]) == ("collection.needs_watermark", line_of(REFUSED, "/metrics/leaks/query"))
    assert "job:leaks:sum is a recording rule" in one["message"]
    assert '"watermark": {"selector"' in one["remedy"]


def test_a_policy_check_states_collections_beside_policies(capsys: pytest.CaptureFixture[str]) -> None:
    """The document has one shape, with a collection and without; what one policy asks of it is not lost."""
    code, document = outcome(capsys, "policy", "check", "policy.json", "--collection", "defect.json")
    assert (code, document["ok"]) == (10, False)
    assert [page["source"] for page in document["policies"]] == ["policy.json"]
    (page,) = document["collections"]
    assert [one["code"] for one in page["diagnostics"]] == ["collection.rate_must_be_zero"]
    code, document = outcome(capsys, "policy", "check", "policy.json")
    assert (code, document["ok"], document["collections"]) == (0, True, [])


def test_text_shows_the_collection_after_the_policies(capsys: pytest.CaptureFixture[str]) -> None:
    """In the order in which a reviewer reads: what is wanted, then how it is found out."""
    assert run(["policy", "check", "policy.json", "--collection", "defect.json"]) == 10
    out = capsys.readouterr().out
    assert 0 <= out.index("policy.json loads") < out.index("defect.json loads: 1 error, 0 warnings")
    assert "ask for the counter itself, like sum(x)" in " ".join(out.split())


@pytest.mark.parametrize(
    "argv",
    [
        ["collect", "--lint", "defect.json", "--policy", "policy.json"],
        ["policy", "check", "policy.json", "--collection", "defect.json"],
    ],
    ids=["collect", "policy"],
)
def test_findings_become_annotations_of_a_pull_request(
    argv: list[str], place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the line of the file, with severity; the page goes into the job's summary."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place / "summary.md"))
    assert run([*argv, "-o", "github"]) == 10
    line = line_of(DEFECT, "/metrics/leaks/query")
    out = capsys.readouterr().out
    assert f"::error file=defect.json,line={line},col=13,title=collection.rate_must_be_zero::" in out
    assert "defect.json loads" in (place / "summary.md").read_text()


@pytest.mark.slow
def test_a_review_opens_no_socket_unless_it_is_told_to_ask(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A review in CI must not need the servers; --ask does, and says what it could not learn."""
    guardrail = {"metric": "p95", "op": "<=", "threshold": 3}
    asked = {"policy_id": "slo", "policy_version": "1", "guardrails": [guardrail]}
    (place / "slo.json").write_bytes(written(asked))
    with HangingServer() as server:
        document = server_file(server.url, {"p95": P95}, limits={"deadline_seconds": 0.5})
        (place / "server.json").write_bytes(written(document))
        lint = ["collect", "--lint", "server.json", "--policy", "slo.json"]
        check = ["policy", "check", "slo.json", "--collection", "server.json"]
        assert (run(lint), run(check)) == (0, 0)
        assert "buckets" not in capsys.readouterr().out
        assert server.connections == 0
        for argv in (lint, check):
            before = server.connections
            assert run([*argv, "--ask"]) == 0
            assert "collection.buckets_unknown" in capsys.readouterr().out
            assert server.connections > before


@pytest.mark.parametrize(
    "argv",
    [
        ["collect", "--lint", "sound.json", "--at", "2026-01-01T00:00:00Z"],
        ["collect", "--lint", "sound.json", "--verbose"],
        ["collect", "sound.json", "--policy", "policy.json"],
        ["collect", "sound.json", "--ask"],
        ["policy", "check", "policy.json", "--ask"],
        ["collect", "--lint"],
    ],
)
def test_options_that_mean_nothing_together_are_wrong_usage(argv: list[str]) -> None:
    """Silently ignored, they would leave somebody with a review that was never made."""
    assert run(argv) == 64


@pytest.mark.server
@pytest.mark.parametrize(("threshold", "code"), [(2.5, 10), (2.4, 0)])
def test_a_server_that_is_asked_decides_the_exit_code(
    lab: Labs[Lab], place: Path, threshold: float, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole command against a real Prometheus with samples of now: its highest bucket ends at 2.5 s."""
    server = lab("healthy", end=time.time())
    rule = {"metric": "p95", "op": "<=", "threshold": threshold, "range": [0, 60]}
    asked = {"policy_id": "slo", "policy_version": "1", "guardrails": [rule]}
    (place / "slo.json").write_bytes(written(asked))
    (place / "server.json").write_bytes(
        written(server_file(server.url, {"p95": P95}, source={"scrape_interval_seconds": 15}))
    )
    found, document = outcome(capsys, "policy", "check", "slo.json", "--collection", "server.json", "--ask")
    codes = [one["code"] for one in document["collections"][0]["diagnostics"]]
    assert (found, codes) == (code, ["collection.threshold_above_buckets"] if code else [])
