"""A log with every kind of event, written by the installed command: valid by the schema, each field described."""

from __future__ import annotations

import json

import pytest

from tests.documents.events import VALIDATOR, undescribed
from tests.e2e.desk import Desk
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY, policy

pytestmark = pytest.mark.slow  # many processes


def collection(**changes: object) -> str:
    """A collection file that passes a snapshot file on."""
    metrics = {name: {"source": "part"} for name in HEALTHY}
    return json.dumps({"sources": {"part": {"type": "file", "path": "now.json"}}, "metrics": metrics, **changes})


def collected(desk: Desk, *more: str) -> int:
    """The exit code of a check of run r-3 with collected evidence."""
    return desk.gate(
        "check", "--policy", "policy.json", "--experiment", "cart", "--variant", "C", "--run-id", "r-3",
        "--collect", "collection.json", *more,
    ).code  # fmt: skip


def test_events_of_every_kind_are_valid_and_described(desk: Desk) -> None:
    """ACCEPT, hold, REJECT, adoption, refusal, stop, supersede, another collection file, torn line, head, gap."""
    desk.begin_at("CANARY_10", "--evidence", "change_id=CHG-1", "--revision", "sha256:1", "--idempotency-key", "k")
    assert desk.check(BLIND, "--revision", "sha256:1").code == 2
    desk.write("other.json", policy(policy_version="8"))
    assert desk.check(HEALTHY, "--adopt-policy", "agreed", "--revision", "sha256:1", policy="other.json").code == 0
    assert desk.check(HEALTHY, "--revision", "sha256:2", policy="other.json").code == 65  # refused, and noted
    assert desk.check(HEALTHY, "--supersede", "r-41", run="r-2").code == 0
    assert desk.check(HARMFUL, run="r-2").code == 1
    desk.write("now.json", (desk.place / desk.evidence(BLIND)).read_bytes())
    desk.write("collection.json", collection())
    assert collected(desk) == 2
    desk.write("collection.json", collection(window="5m"))
    assert collected(desk) == 2  # another digest than the hold's
    with desk.log.open("ab") as log:
        log.write(b'{"torn')
    assert desk.gate("stop", "r-3", "--reason", "enough").code in {0, 1}
    simulated = desk.gate(
        "check", "--policy", "policy.json", "--experiment", "sim", "--variant", "D", "--snapshot", desk.evidence(),
        "--as-of", "snapshot",
    )  # fmt: skip
    assert simulated.code == 0, simulated.err
    assert desk.gate("log", "rotate").code == 0
    assert desk.check(HEALTHY, run="r-5").code == 0
    assert desk.gate("log", "rebuild", "--accept-gap", "none", "--actor", "me").code == 0
    events = [json.loads(line) for path in sorted(desk.log.parent.glob("decision.ndjson*"), key=lambda p: -len(p.name))
              if path.name == "decision.ndjson" or (path.name[-1].isdigit() and "torn" not in path.name)
              for line in path.read_bytes().splitlines()]  # fmt: skip
    for event in events:
        assert [error.message for error in VALIDATOR.iter_errors(event)] == [], event
        assert undescribed(event) == set(), event
    assert {event["kind"] for event in events} == {"decision", "policy", "action", "refusal", "checkpoint"}
    names = {event["action"]["name"] for event in events if event["kind"] == "action"}
    assert names == {"start-stage", "adopt-policy", "supersede", "stop", "accept-gap"}
    fields = {name for event in events for name in event}
    assert {"recovered", "collector_change", "idempotency_key", "previous_run", "as_of"} <= fields
