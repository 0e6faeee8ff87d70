"""A word for what was done to a log that sends a person looking for something else."""

from __future__ import annotations

import pytest

from gatekeeper.replay.report import CODES
from gatekeeper.replay.verify import verify
from tests.replay.builder import changed, parsed, rechained, rollout
from tests.replay.test_verify_chain import TAMPERS

WORDS = {
    "edit a word": "changed",
    "edit the first line": "changed",
    "edit prev": "changed",
    "edit a byte so that it is no JSON": "changed",
    "a space between": "changed",
    "change the evidence": "changed",
    "change the context": "changed",
    "turn time back": "changed",
    "swap the verdict": "changed",  # the chain tells that the bytes are others, whatever they say
    "change the policy": "changed",
    "delete the first line": "removed",
    "delete a line": "removed",
    "delete two lines": "removed",
    "insert a copy": "inserted",
    "insert a forgery": "inserted",
    "insert a line without kind": "inserted",
    "insert rubbish": "inserted",
    "reorder neighbours": "reordered",
    "move a line back": "reordered",
}


@pytest.mark.parametrize("name", WORDS)
def test_the_first_line_that_differs_has_a_word_for_why(name: str) -> None:
    """Of the tamper matrix, what has one right answer."""
    assert verify(parsed(TAMPERS[name][0](rollout()))).happened == WORDS[name]


def test_a_verdict_in_a_chain_that_was_made_anew_is_another_verdict() -> None:
    """No byte contradicts another; the rules do."""
    log = rollout()
    log[6] = changed(log[6], lambda event: event["decision"].update(verdict="ACCEPT"))
    assert verify(parsed(rechained(log))).happened == "other verdict"


def test_a_policy_in_a_chain_that_was_made_anew_is_another_policy() -> None:
    """Its document has not the digest that decisions name; or it is not there at all."""
    log = rollout()
    log[0] = changed(log[0], lambda event: event["policy"].update(policy_version="v0"))
    assert verify(parsed(rechained(log))).happened == "other policy"
    log = rollout()
    log[1] = changed(log[1], lambda event: event.update(policy_digest="sha256:" + "7" * 64))
    assert {"input_digest", "policy"} <= {problem.code for problem in verify(parsed(rechained(log))).problems}


def test_a_whole_log_and_one_of_which_nothing_was_checked_have_no_word() -> None:
    """Nothing has happened that is known of."""
    assert verify(parsed(rollout())).happened is None
    assert verify(parsed(rollout()), from_seq=99).happened is None


def test_every_code_of_the_reports_is_known_in_its_order() -> None:
    """A code without a place would be told behind all others."""
    found = set()
    for tamper, _, _ in TAMPERS.values():
        found |= {problem.code for problem in verify(parsed(tamper(rollout()))).problems}
    assert found <= set(CODES)
    assert len(set(CODES)) == len(CODES)
