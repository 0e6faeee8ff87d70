"""A recorded decision that its policy, evidence and context do not give, and that nobody notices.

Each log here is written anew from the first line on, so that its chain is whole: only judging again can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gatekeeper.model.canonical import digest
from gatekeeper.model.event import input_digest
from gatekeeper.model.policy import policy_from_document
from gatekeeper.replay.verify import verify
from tests.replay.builder import (
    HEALTHY,
    OTHER_POLICY,
    POLICY,
    LogBuilder,
    changed,
    parsed,
    rechained,
    rollout,
)

Change = Callable[[dict[str, Any]], object]

REJECT = 7  # the line of the example that is a REJECT


def forged(number: int, change: Change) -> list[tuple[int, str]]:
    """Line and code of each difference when somebody changes one line and writes all others to fit."""
    log = rollout()
    log[number - 1] = changed(log[number - 1], change)
    return [(problem.place.number, problem.code) for problem in verify(parsed(rechained(log))).problems]


def redigested(event: dict[str, Any]) -> None:
    """Make the digests of a decision fit its content again."""
    event["snapshot_digest"] = digest(event["metrics_snapshot"])
    event["input_digest"] = input_digest(event["policy_digest"], event["snapshot_digest"], event["context"])


def test_writing_a_log_anew_with_the_same_content_changes_nothing() -> None:
    """The builder's own chain is what `rechained` makes."""
    assert rechained(rollout()) == rollout()


CHANGES: dict[str, tuple[Change, list[str]]] = {
    "verdict": (lambda event: event["decision"].update(verdict="ACCEPT"), ["verdict"]),
    "reason codes": (lambda event: event["decision"].update(reason_codes=[]), ["reason_codes"]),
    "another reason": (
        lambda event: event["decision"].update(reason_codes=["guardrail_violation:other"]),
        ["reason_codes"],
    ),
    "missing": (lambda event: event["decision"].update(missing=["error_rate"]), ["missing"]),
    "a finding's rule": (lambda event: event["decision"]["findings"][0].update(rule="x"), ["findings"]),
    "a finding's outcome": (lambda event: event["decision"]["findings"][-1].update(outcome="X"), ["findings"]),
    "a finding's code": (lambda event: event["decision"]["findings"][-1].update(code="x"), ["findings"]),
    "a finding less": (lambda event: event["decision"]["findings"].pop(), ["findings"]),
    "a finding more": (
        lambda event: event["decision"]["findings"].append(dict(event["decision"]["findings"][0])),
        ["findings"],
    ),
    "a finding that is no object": (lambda event: event["decision"]["findings"].insert(0, 7), ["findings"]),
    "no findings": (lambda event: event["decision"].update(findings=None), ["findings"]),
    "no decision": (lambda event: event.update(decision=None), ["verdict", "reason_codes", "missing", "findings"]),
    "snapshot_digest": (
        lambda event: event.update(snapshot_digest="sha256:" + "1" * 64),
        ["snapshot_digest", "input_digest"],
    ),
    "input_digest": (lambda event: event.update(input_digest="sha256:" + "1" * 64), ["input_digest"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_part_of_a_decision_that_was_rewritten_is_found(name: str) -> None:
    """Exactly what was changed is named, at its line."""
    change, codes = CHANGES[name]
    assert forged(REJECT, change) == [(REJECT, code) for code in codes]


def test_evidence_rewritten_with_all_its_digests_is_found_by_judging_again() -> None:
    """Healthy evidence under a recorded REJECT: the policy says ACCEPT."""

    def change(event: dict[str, Any]) -> None:
        event["metrics_snapshot"]["metrics"]["error_rate"] = 0.003
        redigested(event)

    assert forged(REJECT, change) == [(REJECT, "verdict"), (REJECT, "reason_codes"), (REJECT, "findings")]


def test_a_context_rewritten_with_all_its_digests_is_found_by_judging_again() -> None:
    """An irreversible change at its first canary would have needed an approval."""

    def change(event: dict[str, Any]) -> None:
        event["context"]["change_class"] = "stateful_or_irreversible"
        redigested(event)

    found = forged(5, change)
    assert (5, "verdict") in found
    assert {number for number, _ in found} == {5}


def test_a_policy_loosened_with_all_its_digests_is_found_by_judging_again() -> None:
    """Threshold 0.02 instead of 0.01, and every digest made to fit: the REJECT of 0.013 shows it."""
    loose = {**POLICY, "guardrails": [{"metric": "error_rate", "op": "<=", "threshold": 0.02}]}

    def change(event: dict[str, Any]) -> None:
        event["policy_digest"] = digest(loose)
        if event["kind"] == "policy":
            event["policy"] = loose
        else:
            redigested(event)

    log = rollout()
    rewritten = [changed(line, change) if number in {1, 2, 3, 4, 5, 7} else line for number, line in enumerate(log, 1)]
    problems = verify(parsed(rechained(rewritten))).problems
    assert [(problem.place.number, problem.code) for problem in problems] == [
        (7, "verdict"),
        (7, "reason_codes"),
        (7, "findings"),
    ]
    assert (problems[0].expected, problems[0].found) == ("ACCEPT", "REJECT")


def test_expected_is_what_the_evaluation_gives_and_found_what_is_recorded() -> None:
    """Not the other way round: people act on it."""
    log = rollout()
    log[REJECT - 1] = changed(log[REJECT - 1], lambda event: event["decision"]["findings"][-1].update(code="x"))
    (problem,) = verify(parsed(rechained(log))).problems
    assert problem.expected["code"] == "guardrail_violation:error_rate"
    assert problem.found == {**problem.expected, "code": "x"}
    assert set(problem.found) == {"rule", "outcome", "code"}


def test_what_is_not_promised_to_stay_is_not_compared() -> None:
    """Notes, actions and numbers in findings may be worded better by a later release of the same rules."""
    assert forged(REJECT, lambda event: event["decision"].update(notes=["x"], next_actions=[])) == []
    assert forged(REJECT, lambda event: event["decision"]["findings"][-1].update(margin=5)) == []


def test_a_policy_event_with_another_document_is_named_and_judges_nothing() -> None:
    """The five decisions under it count as not comparable, never as equal; those of the other policy are judged."""
    log = rollout()
    log[0] = changed(log[0], lambda event: event["policy"]["guardrails"][0].update(threshold=0.02))
    report = verify(parsed(rechained(log)))
    assert [(problem.place.number, problem.code) for problem in report.problems] == [(1, "policy_digest")]
    assert report.not_comparable == {"policy differs": 5}
    assert (report.decisions, report.reevaluated) == (6, 1)


def test_a_policy_event_counts_before_its_first_use_only() -> None:
    """A policy that comes behind its decision explains nothing."""
    log = LogBuilder()
    loaded = log.policy()
    log.decision(loaded, "DRY_RUN", HEALTHY)
    swapped = [
        changed(line, lambda event, seq=seq: event.update(seq=seq, ts="2026-02-18T02:00:00Z"))  # type: ignore[misc]
        for seq, line in enumerate(reversed(log.lines), 1)
    ]
    report = verify(parsed(rechained(swapped)))
    assert [(problem.place.number, problem.code) for problem in report.problems] == [(1, "policy")]
    assert report.reevaluated == 0


def test_a_policy_that_no_longer_loads_is_a_difference_and_no_crash() -> None:
    """Its digest fits, but it holds a key that these rules do not know."""
    log = LogBuilder()
    loaded = log.policy()
    log.decision(loaded, "DRY_RUN", HEALTHY)
    odd = {**POLICY, "speed": "fast"}

    def change(event: dict[str, Any]) -> None:
        event["policy_digest"] = digest(odd)
        if event["kind"] == "policy":
            event["policy"] = odd
        else:
            redigested(event)

    problems = verify(parsed(rechained(changed(line, change) for line in log.lines))).problems
    assert [(problem.place.number, problem.code) for problem in problems] == [(2, "policy")]


def test_decisions_of_another_evaluator_are_counted_and_not_judged() -> None:
    """Its rules may mean something else; its digests and its place in the chain are checked all the same."""

    def change(event: dict[str, Any]) -> None:
        event["evaluator"] = "gatekeeper/2"
        event["decision"]["verdict"] = "ACCEPT"

    log = rollout()
    log[REJECT - 1] = changed(log[REJECT - 1], change)
    report = verify(parsed(rechained(log)))
    assert report.problems == ()
    assert report.not_comparable == {"evaluator gatekeeper/2": 1}
    assert (report.decisions, report.reevaluated) == (6, 5)
    log[REJECT - 1] = changed(log[REJECT - 1], lambda event: event["metrics_snapshot"].update(x=1))
    assert [problem.code for problem in verify(parsed(rechained(log))).problems] == ["snapshot_digest"]


def test_a_stop_is_not_judged_again() -> None:
    """Its REJECT comes from a person; no evidence would give it."""
    report = verify(parsed(rollout()))
    assert report.ok
    assert report.decisions == 6  # of seven events that hold a verdict


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda event: event["context"].update(evaluated_at="soon"), "context"),
        (lambda event: event["context"].update(surprise=1), "context"),
        (lambda event: event["context"].pop("stage"), "context"),
        (lambda event: event["context"].update(stage="CANARY_33"), "evaluation"),
        (lambda event: event.update(metrics_snapshot=[1]), "evaluation"),
    ],
)
def test_a_decision_that_cannot_be_judged_is_a_difference_and_no_crash(change: Change, code: str) -> None:
    """Whatever somebody wrote there, with digests that fit."""

    def fitting(event: dict[str, Any]) -> None:
        change(event)
        redigested(event)

    assert forged(REJECT, fitting) == [(REJECT, code)]


def test_an_evaluator_that_fails_is_a_difference_and_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug in the rules must not hide the rest of the log."""

    def broken(*_: object) -> object:
        raise ZeroDivisionError("bug")

    monkeypatch.setattr("gatekeeper.replay.reevaluate.assess", broken)
    report = verify(parsed(rollout()))
    assert [problem.code for problem in report.problems] == ["evaluation"] * 6
    assert report.problems[0].found == "ZeroDivisionError: bug"


def test_each_policy_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of ten thousand decisions under two policies builds two."""
    built: list[object] = []

    def counting(document: Any) -> Any:
        built.append(document["policy_id"])
        return policy_from_document(document)

    monkeypatch.setattr("gatekeeper.replay.reevaluate.policy_from_document", counting)
    assert verify(parsed(rollout())).ok
    assert built == [POLICY["policy_id"], OTHER_POLICY["policy_id"]]
