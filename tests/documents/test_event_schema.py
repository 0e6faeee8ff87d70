"""Every event that gatekeeper writes is valid by the schema, and every field of it is described there."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper import Context, Decision, evaluate
from gatekeeper.documents.event_schema_kinds import REFUSALS
from gatekeeper.errors import CanonicalError
from gatekeeper.model.canonical import digest
from gatekeeper.model.decision import Finding
from gatekeeper.model.event import KINDS, decision_draft, policy_draft, seal
from gatekeeper.model.hold import plan_hold
from gatekeeper.model.policy import LoadedPolicy, loaded_policy
from gatekeeper.model.run import Run
from gatekeeper.model.snapshot import Snapshot, read_snapshot
from tests.docs.console import read
from tests.documents.events import SCHEMA, VALIDATOR, undescribed
from tests.properties.strategies import WILD_SNAPSHOTS, contexts, policies, snapshots


def sealed(draft: Any, seq: int = 1) -> dict[str, Any]:
    """The event of a draft, as a ledger makes it."""
    event = seal(draft, seq=seq, prev="sha256:" + "0" * 64, ts="2026-02-18T01:00:10.123456Z")
    made: dict[str, Any] = json.loads(json.dumps(event))
    return made


def decision_event(loaded: LoadedPolicy, snapshot: Snapshot, context: Context) -> dict[str, Any]:
    """A recorded check, with the hold that it leaves."""
    decision = evaluate(loaded.policy, snapshot, context)
    resume = None
    if decision.verdict == "DEGRADE":
        resume = plan_hold(
            loaded.policy, decision, run_id="r", stage=context.stage, event_id="r:s", evaluated_at=context.evaluated_at,
            snapshot_digest=snapshot.digest, hold=None, source=None,
        )  # fmt: skip
    draft = decision_draft(
        identity={"run_id": "r", "experiment_id": "e", "variant_id": "v", "revision": None},
        loaded=loaded, context=context, snapshot_document=snapshot.document, snapshot_digest=snapshot.digest,
        decision=decision, event_id="r:s", resume=resume, extra={"actor": "me", "question_digest": digest("q")},
    )  # fmt: skip
    return sealed(draft)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(policies(), snapshots() | WILD_SNAPSHOTS, contexts())
def test_every_decision_is_a_valid_event(
    policy: dict[str, Any], document: dict[str, Any], asked: dict[str, Any]
) -> None:
    """Whatever the evidence, what is logged has the form that consumers were promised."""
    loaded = loaded_policy(policy)
    try:
        snapshot = read_snapshot(json.dumps(document).encode())
        event = decision_event(loaded, snapshot, Context(**asked))
    except CanonicalError:  # half of a surrogate pair: a check of it is refused, and no event is written
        return
    assert [error.message for error in VALIDATOR.iter_errors(event)] == []
    assert [error.message for error in VALIDATOR.iter_errors(sealed(policy_draft(loaded, actor="me")))] == []
    assert undescribed(event) == set()


def test_the_example_log_is_valid() -> None:
    """The one that people read first."""
    for line in read("logs/example.ndjson").splitlines():
        event = json.loads(line)
        assert [error.message for error in VALIDATOR.iter_errors(event)] == []
        assert undescribed(event) == set()


def test_lists_of_fields_are_those_of_the_code() -> None:
    """Contexts, findings, decisions and runs: each field once, none left out."""
    context = Context(stage="DRY_RUN", evaluated_at="2026-02-18T01:00:10Z").to_dict()
    decision = SCHEMA["$defs"]["Decision"]["required"]
    assert sorted(SCHEMA["$defs"]["DecisionEvent"]["properties"]["context"]["required"]) == sorted(context)
    assert SCHEMA["$defs"]["Finding"]["required"] == [field.name for field in fields(Finding)]
    assert decision == [field.name for field in fields(Decision)]
    assert set(Run("r").to_dict()) | {"stands_on"} == set(SCHEMA["$defs"]["Run"]["properties"])
    assert SCHEMA["properties"]["kind"]["enum"] == [*KINDS]


def test_every_reason_of_a_refusal_is_in_the_format() -> None:
    """The table of the page and the words of the schema."""
    section = read("docs/formats/event.md").partition("\n## `refusal`\n")[2].partition("\n## ")[0]
    for word in REFUSALS:
        assert f"`{word}`" in section, word


BROKEN: list[tuple[str, Any]] = [
    ("v", 2),
    ("seq", 0),
    ("seq", "1"),
    ("prev", "0" * 64),
    ("ts", "2026-02-18 01:00"),
    ("kind", "note"),
    ("run_id", None),
    ("stage", None),
    ("snapshot_digest", "sha256:xyz"),
    ("decision", {"verdict": "ACCEPT"}),
    ("decision/verdict", "MAYBE"),
    ("decision/reason_codes", ["too_slow"]),
    ("decision/findings/0/outcome", "OK"),
    ("decision/next_actions", [{"name": "explode", "params": {}}]),
    ("context/history", "partly"),
    ("rml/world", "RML4"),
    ("change_class", "harmless"),
]


@pytest.mark.parametrize(("path", "value"), BROKEN)
def test_what_is_no_event_of_this_format_is_refused(path: str, value: Any) -> None:
    """A schema that accepts anything promises nothing."""
    event = json.loads(read("logs/example.ndjson").splitlines()[1])
    assert VALIDATOR.is_valid(event)
    *parents, last = path.split("/")
    place = event
    for step in parents:
        place = place[int(step) if isinstance(place, list) else step]
    place[last] = value
    assert not VALIDATOR.is_valid(event)


@given(st.sampled_from(KINDS))
def test_a_later_version_may_add_a_field(kind: str) -> None:
    """Readers keep what they do not know."""
    event = {"v": 1, "seq": 1, "prev": "sha256:" + "0" * 64, "ts": "2026-02-18T01:00:10.123456Z", "kind": kind}
    event |= {"event_id": "x", "new": 1}
    messages = [error.message for error in VALIDATOR.iter_errors(event)]
    assert not any("new" in message for message in messages)
