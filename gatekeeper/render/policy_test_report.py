"""`policy test` as a test report (`-o junit`): a test for each golden case, and for each change nobody notices."""

from __future__ import annotations

from gatekeeper.render.policy_test import case_lines
from gatekeeper.render.report import Case, Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Document = Mapping[str, Any]


def cases_report(
    cases: Sequence[Document], surveys: Sequence[Document], *, fails_on_survivors: bool, min_score: int, exit_code: int
) -> Report:
    """The documents of `policy_test.cases_page` as tests.

    A case belongs to the suite of its policy; one that does not load, to a suite of its own. Changes that no case
    notices are failures where the command was told to fail on them, else tests that were passed over; the score of a
    policy is a test where it was asked for.

    Args:
        cases: with `line` where a failing expectation stands.
        surveys: as `policy_test.cases_page`.
        fails_on_survivors: `--fail-on survivors` was given.
        min_score: that of `--min-score`, 0 without.
        exit_code: with which the command ends.
    """
    tests = [_case(case) for case in cases]
    for one in surveys:
        classname = f"changes of {one['policy']}"
        if min_score:
            failure = None
            if one["score"] < min_score:
                message = f"score {one['score']} % is below {min_score} %"
                failure = {"message": message, "text": f"{one['noticed']} of {one['counted']} changes noticed"}
            tests.append(Case(classname, "score", failure=failure, file=one["policy"]))
        tests += [
            _change(classname, one["policy"], change, is_failure=fails_on_survivors) for change in one["unnoticed"]
        ]
    return Report(cases=tests, exit_code=exit_code)


def _case(case: Document) -> Case:
    failure = None
    if case["result"] in {"fail", "refused"}:
        lines = case_lines(case)
        failure = {"message": lines[0], "text": "\n".join(lines)}
    classname = "golden cases that do not load" if case["result"] == "refused" else str(case["policy"])
    name = f"{case['file']}: {case['name']}" if case.get("name") else str(case["file"])
    return Case(classname, name, failure=failure, file=case["file"], line=case.get("line"))


def _change(classname: str, policy: str, change: Document, *, is_failure: bool) -> Case:
    message = "no golden case notices it"
    text = f"a case would need {change['needs']}" if change["needs"] else message
    return Case(
        classname,
        f"{change['pointer']}: {change['change']}",
        failure={"message": message, "text": text} if is_failure else None,
        skipped=None if is_failure else message,
        file=policy,
        line=change["line"],
    )
