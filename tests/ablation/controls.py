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


def _no_compare_and_set_of_a_push(patch: pytest.MonkeyPatch) -> None:
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


def _unlocked_database(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "gatekeeper.ledger.postgres.writing._LOCK",
        "SELECT h.seq, h.digest, h.ts, h.is_complete, r.run_id, r.experiment_id, r.variant_id, r.simulated, r.state, "
        "r.incomplete, r.first_seq, r.version, r.body FROM gatekeeper.head AS h "
        "LEFT JOIN gatekeeper.runs AS r ON r.run_id = ANY (%s::text[]) WHERE %s <> ''",
    )


def _no_compare_and_set(patch: pytest.MonkeyPatch) -> None:
    from gatekeeper.ledger.postgres import rows

    compared = "WHERE seq = %s AND digest = %b"
    assert compared in rows._MOVE_HEAD
    patch.setattr(rows, "_MOVE_HEAD", rows._MOVE_HEAD.replace(compared, "WHERE (%s::bigint, %b::bytea) IS NOT NULL"))


def _other_tables(patch: pytest.MonkeyPatch, before: str, after: str) -> None:
    from gatekeeper.ledger.postgres.migrations import MIGRATIONS

    changed = tuple(replace(one, up=one.up.replace(before, after)) for one in MIGRATIONS)
    assert changed != MIGRATIONS
    patch.setattr("gatekeeper.ledger.postgres.migrating.MIGRATIONS", changed)


def _no_trigger(patch: pytest.MonkeyPatch) -> None:
    _other_tables(patch, "ENABLE ALWAYS TRIGGER append_only", "DISABLE TRIGGER append_only")


def _no_unique_event_id(patch: pytest.MonkeyPatch) -> None:
    _other_tables(patch, "CREATE UNIQUE INDEX facts_event_id", "CREATE INDEX facts_event_id")


def _no_version_check_in_database(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("gatekeeper.ledger.postgres.writing.compare", lambda _expect, **_found: None)


def _no_question_after_a_lost_commit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("gatekeeper.ledger.postgres.writing.Writer._found", lambda *_given: None)


def _no_wait_for_the_servers_device(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("gatekeeper.ledger.postgres.writing.WAIT", "SELECT 1")


def _too_much_granted(patch: pytest.MonkeyPatch) -> None:
    from gatekeeper.ledger.postgres.layout import GRANTS

    granted = f"{GRANTS} GRANT ALL ON gatekeeper.events TO gatekeeper_writer;"
    patch.setattr("gatekeeper.ledger.postgres.migrating.GRANTS", granted)


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
        _no_compare_and_set_of_a_push,
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
    "postgres: row lock": Control(
        "who has the log is alone with it",
        _unlocked_database,
        "tests/ledger/test_postgres_appends.py::test_a_writer_that_has_the_log_is_not_overtaken",
    ),
    "postgres: compare and set": Control(
        "nothing is put behind a head that has moved",
        _no_compare_and_set,
        "tests/ledger/test_postgres_appends.py::test_a_head_that_has_moved_leaves_nothing_behind",
    ),
    "postgres: version check": Control(
        "who decided on an older state writes nothing",
        _no_version_check_in_database,
        "tests/contracts/test_ledger.py::test_a_writer_that_saw_an_older_version_writes_nothing",
    ),
    "postgres: version check of a plain append": Control(
        "who decided on an older state writes nothing, sealed by whomever",
        lambda patch: _other_tables(patch, "AND version = wanted_version", ""),
        "tests/ledger/test_postgres_appends.py::test_a_plain_append_of_a_run_that_has_moved_writes_nothing",
    ),
    "postgres: unique event ids": Control(
        "no event is recorded twice",
        _no_unique_event_id,
        "tests/contracts/test_ledger.py::test_an_event_id_is_never_given_twice",
    ),
    "postgres: question after a lost commit": Control(
        "what was committed is not appended again",
        _no_question_after_a_lost_commit,
        "tests/faults/test_lost_connections.py::test_a_connection_cut_in_the_commit_records_the_event_once",
    ),
    "postgres: wait for the device": Control(
        "nobody is told what a crash of the server would undo",
        _no_wait_for_the_servers_device,
        "tests/faults/test_lost_connections.py::test_what_was_told_survives_a_crash_of_the_server",
    ),
    "postgres: trigger": Control(
        "nobody changes or removes a line, whoever he is",
        _no_trigger,
        "tests/ledger/test_postgres_tables.py::test_the_owner_cannot_change_or_remove_a_line",
    ),
    "postgres: grants": Control(
        "who may append may not change or remove",
        _too_much_granted,
        "tests/ledger/test_postgres_tables.py::test_a_writer_may_append_and_read_and_no_more",
    ),
}
