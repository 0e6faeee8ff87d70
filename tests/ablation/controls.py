"""Each control of the gate: how it is switched off, and the test that must notice.

A control is switched off by replacing one name where it is used, in a process of its own, so that the
tests run unchanged. `plugin.py` does it, `test_controls.py` asks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

Patch = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Control:
    """What keeps a promise of SPEC, and the node id (without parameters) of the test that holds it."""

    promise: str
    switch_off: Patch
    test: str


def _no_lock(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("gatekeeper.ledger.fsops.FileOps.lock", lambda _self, _descriptor: None)
    patch.setattr("gatekeeper.ledger.fsops.FileOps.try_lock", lambda _self, _descriptor: True)


def _no_version_check(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("gatekeeper.ledger.commit.check_expectation", lambda _expect, _fold: None)


def _no_token_binding(patch: pytest.MonkeyPatch) -> None:
    def run_of_token(token: str, view: Any) -> str:
        run_id, _ended_by = view.token(token)
        return str(run_id)

    patch.setattr("gatekeeper.orchestrator.identity._run_of_token", run_of_token)


def _no_freshness(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("gatekeeper.evaluator.times.Times._staleness", lambda *_given: None)


def _no_idempotency(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("gatekeeper.orchestrator.propose.keyed_event", lambda *_given: None)


def _no_flush_before_answer(patch: pytest.MonkeyPatch) -> None:
    def write_only(ops: Any, descriptor: int, _path: str, *, data: bytes, meanwhile: Any, **_named: Any) -> None:
        ops.write(descriptor, data)
        meanwhile()

    patch.setattr("gatekeeper.ledger.commit.append_durably", write_only)


def _no_policy_digest(patch: pytest.MonkeyPatch) -> None:
    from gatekeeper.model.context import PolicyDigests

    patch.setattr(
        "gatekeeper.orchestrator.judge.PolicyDigests",
        lambda *, run, given: PolicyDigests(run=run, given=run),  # noqa: ARG005
    )


def _no_one_live_run(patch: pytest.MonkeyPatch) -> None:
    from gatekeeper.model.exchange import Expectation

    def without_slot(**given: Any) -> Expectation:
        return replace(Expectation(**given), slot=None)

    patch.setattr("gatekeeper.ledger.projection_view.ProjectionView.live_run", lambda *_given, **_named: None)
    patch.setattr("gatekeeper.orchestrator.propose.Expectation", without_slot)


def _no_compare_and_set(patch: pytest.MonkeyPatch) -> None:
    from gatekeeper.ledger.git.remote import Pushed, Remote

    push = Remote.push

    def forced(remote: Remote, commit: str, *, expected: str | None) -> Pushed:  # noqa: ARG001
        return push(remote, commit, expected=remote.tip())

    patch.setattr("gatekeeper.ledger.git.remote.Remote.push", forced)


def _no_memory_of_commits(patch: pytest.MonkeyPatch) -> None:
    def whatever_is_there(git: Any, before: str, tip: str) -> list[str]:
        names: list[str] = git.run("rev-list", "--reverse", tip, f"^{before}").out.decode().split()
        return names

    patch.setattr("gatekeeper.ledger.git.mirror.commits_between", whatever_is_there)


CONTROLS = {
    "lock": Control(
        "an append is alone with the log",
        _no_lock,
        "tests/ledger/test_concurrent_writers.py::test_writers_without_a_break_stay_whole",
    ),
    "version check": Control(
        "who decided on an older state writes nothing",
        _no_version_check,
        "tests/contracts/test_ledger.py::test_a_writer_that_saw_an_older_version_writes_nothing",
    ),
    "compare-and-set of a push": Control(
        "who pushes onto an older commit overwrites nothing",
        _no_compare_and_set,
        "tests/ledger/git/test_races.py::test_the_second_of_two_machines_overwrites_nothing",
    ),
    "memory of commits": Control(
        "a branch that was forced is not followed",
        _no_memory_of_commits,
        "tests/ledger/git/test_another_history.py::test_one_changed_line_makes_another_history",
    ),
    "token binding": Control(
        "a token dies with its hold",
        _no_token_binding,
        "tests/orchestrator/test_reentry.py::test_a_spent_token_names_what_ended_its_hold",
    ),
    "freshness": Control(
        "old evidence shows nothing",
        _no_freshness,
        "tests/cases/test_cases.py::test_a_case_of_the_field_is_answered_rightly",
    ),
    "idempotency": Control(
        "one key, one answer",
        _no_idempotency,
        "tests/orchestrator/test_idempotency_keys.py::test_one_key_for_two_questions_is_refused",
    ),
    "flush before answer": Control(
        "nobody is told what is not on the device",
        _no_flush_before_answer,
        "tests/faults/test_append_faults.py::test_an_append_in_steady_state_flushes_once",
    ),
    "policy digest": Control(
        "another content is another policy, whatever its version says",
        _no_policy_digest,
        "tests/orchestrator/test_policy_changed.py::test_a_loosened_policy_of_the_same_version_holds",
    ),
    "one live run": Control(
        "one run of a variant at a time",
        _no_one_live_run,
        "tests/orchestrator/test_one_live_run.py::test_a_second_run_of_a_live_variant_is_refused",
    ),
}
