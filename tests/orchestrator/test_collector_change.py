"""A collection file that changed since the hold is used, and both digests are in the log (SPEC 9)."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.cli.compose import log_lines
from gatekeeper.orchestrator import gate
from gatekeeper.replay.verify import verify
from tests.orchestrator.collecting import FILE, OTHER_FILE, collecting, recorded, rival, stating
from tests.orchestrator.desk import Desk, policy

CHANGE = {"from": FILE, "to": OTHER_FILE}
WORDS = f"the collection file has changed since the hold: it was {FILE} and is {OTHER_FILE}"


def held(desk: Desk) -> str:
    """A run held on entering SHADOW, with evidence from the first file; its token."""
    desk.walk("DRY_RUN")
    answer = desk.ask(collecting(desk, stating(desk, {"errors": ...})))
    token: str = answer.event["resume"]["resume_token"]
    return token


@pytest.mark.parametrize("door", ["check", "resume", "reevaluate"])
@pytest.mark.parametrize(
    ("verdict", "metrics"), [("ACCEPT", {}), ("DEGRADE", {"errors": ...}), ("REJECT", {"leaks": 1})]
)
def test_a_mended_file_is_used_and_both_digests_are_recorded(
    desk: Desk, door: str, verdict: str, metrics: dict[str, Any]
) -> None:
    """Mending a query is the usual way out of a hold; who asks later must see that other questions were asked."""
    token = held(desk)
    source = stating(desk, metrics, digest=OTHER_FILE)
    question = collecting(desk, source)
    if door != "check":
        question = desk.by_token(token, snapshot=None, evidence_source=source, source=recorded(source), command=door)
    answer = desk.ask(question)
    assert (answer.verdict, desk.events("decision")[-1]["collector_change"]) == (verdict, CHANGE)
    assert WORDS in answer.warnings
    report = verify(log_lines((str(desk.path),)))
    assert (report.problem_count, report.reevaluated) == (0, 3)
    assert rival(desk).run() == answer.run


def test_the_change_is_told_once(desk: Desk) -> None:
    """The next attempt's hold was recorded with the new file: nothing has changed since."""
    held(desk)
    desk.ask(collecting(desk, stating(desk, {"errors": ...}, digest=OTHER_FILE)))
    assert desk.run().hold is not None
    assert desk.run().hold.document["source"]["collector_digest"] == OTHER_FILE  # type: ignore[union-attr]
    answer = desk.ask(collecting(desk, stating(desk, {}, digest=OTHER_FILE)))
    assert ("collector_change" in answer.event, answer.warnings) == (False, ())


def test_the_same_file_is_no_change(desk: Desk) -> None:
    """Neither within a hold, nor from the end of a hold to the next check with another file."""
    held(desk)
    answer = desk.ask(collecting(desk, stating(desk, {})))
    later = desk.ask(collecting(desk, stating(desk, {}, digest=OTHER_FILE)))
    for one in (answer, later):
        assert ("collector_change" in one.event, one.warnings) == (False, ())


def test_a_snapshot_in_place_of_a_collection_is_no_changed_file(desk: Desk) -> None:
    """And a collection in place of a file has no digest to compare with."""
    held(desk)
    assert "collector_change" not in desk.check(metrics={"errors": ...}).event
    assert "collector_change" not in desk.ask(collecting(desk, stating(desk, {}))).event


def test_a_check_beside_the_hold_records_the_change_and_leaves_the_hold_its_file(desk: Desk) -> None:
    """The current stage asked with a mended file: what `reevaluate` will read is still named as it was held."""
    held(desk)
    answer = desk.ask(collecting(desk, stating(desk, {}, digest=OTHER_FILE), "DRY_RUN"))
    assert answer.event["collector_change"] == CHANGE
    assert desk.run().hold is not None
    assert desk.run().hold.document["source"]["collector_digest"] == FILE  # type: ignore[union-attr]


def test_a_policy_that_is_adopted_with_a_mended_file_records_both(desk: Desk) -> None:
    """The adoption ends the hold in the same write; the decision behind it still says what changed."""
    held(desk)
    source = stating(desk, {}, digest=OTHER_FILE)
    answer = desk.ask(collecting(desk, source, policy=policy(policy_version="2"), adopt_reason="new limits"))
    assert (answer.verdict, answer.event["collector_change"]) == ("ACCEPT", CHANGE)


def test_a_dry_run_tells_of_the_change(desk: Desk) -> None:
    """Who tries a mended query sees that it is another file than the one recorded."""
    held(desk)
    answer = desk.ask(collecting(desk, stating(desk, {}, digest=OTHER_FILE), dry_run=True))
    assert WORDS in answer.warnings


def test_a_hold_that_somebody_stops_names_no_file(desk: Desk) -> None:
    """`stop` asks no source."""
    held(desk)
    gate.stop("r", reason="x", actor="sre", ledger=desk.ledger)
    assert "collector_change" not in desk.events()[-1]
