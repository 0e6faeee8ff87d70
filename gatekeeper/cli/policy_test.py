"""`gatekeeper policy test`: do the policies still answer as their golden cases say?"""

from __future__ import annotations

from gatekeeper.cli.outcome import FOUND, Outcome
from gatekeeper.cli.present import layout_of_output
from gatekeeper.errors import GoldenCaseError, UsageError
from gatekeeper.render import load
from gatekeeper.render.policy_test import case_lines, cases_page
from gatekeeper.review.golden.judge import answer_of, judge
from gatekeeper.review.golden.load import DEFAULT_DIRECTORY, CaseLoader, Unloadable, case_files, read_case_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gatekeeper.cli.values import Values
    from gatekeeper.render.page import Page
    from gatekeeper.review.golden.judge import Result

_NOT_TRIED = "changes of the policies were not tried: every case must pass first"
_NOT_UPDATED = "not updated: --update would lose a part of the text; write what is expected by hand"


def run_cases(values: Values) -> Outcome:
    """10 when a case fails or too many changes go unnoticed, 65 when one does not load, else 0."""
    if values.texts("from_log"):
        from gatekeeper.cli.policy_cases import make_cases

        return make_cases(values)
    least = values.integer("min_score")
    if least is not None and least > 100:
        raise UsageError(f"--min-score {least} is more than 100 per cent", remedy="give a number from 1 to 100")
    loader = CaseLoader()
    loaded = [loader.load(path) for path in case_files(values.texts("cases") or (DEFAULT_DIRECTORY,))]
    results = [case if isinstance(case, Unloadable) else judge(case) for case in loaded]
    if values.flag("update"):
        documents = [_updated(result, values.text("reason")) for result in results]
        left = [one["file"] for one in documents if one["result"] == "fail" and one["differences"]]
    else:
        documents, left = [case_document(result) for result in results], []
    surveys: list[dict[str, Any]] = []
    notes = tuple(f"{path}: {_NOT_UPDATED}" for path in left)
    if values.flag("mutants"):
        if all(document["result"] == "pass" for document in documents):
            from gatekeeper.cli.policy_mutants import surveys_of

            surveys = surveys_of([result for result in results if not isinstance(result, Unloadable)])
        else:
            notes = (*notes, _NOT_TRIED)
    code = _exit_code(documents, surveys, values)
    page = cases_page(documents, surveys, notes=notes, ok=code == 0)
    return _told(page, values, code, documents, surveys)


def case_document(result: Result | Unloadable) -> dict[str, Any]:
    """One case as json shows it."""
    if isinstance(result, Unloadable):
        diagnostics = [dict(one.to_dict()) for one in result.diagnostics]
        return {"file": result.path, "name": None, "result": "refused", "diagnostics": diagnostics}
    case, decision = result.case, result.decision
    document: dict[str, Any] = {
        "file": case.path,
        "name": case.name,
        "result": "pass" if result.passes else "fail",
        "policy": case.policy_path,
        "policy_id": case.policy.policy.policy_id,
        "stage": case.context.stage,
        "found": None if decision is None else answer_of(decision),
    }
    if not result.passes:
        document["differences"] = [one.to_dict() for one in result.differences]
        document["trouble"] = result.trouble
        document["findings"] = _telling(result)
    return document


def _telling(result: Result) -> list[dict[str, Any]]:
    """The findings that say why the answer is not as expected: those with a code too many, those that lack theirs."""
    if result.decision is None:
        return []
    found = set(result.decision.reason_codes)
    expected = set(result.case.expect.get("reason_codes", ()))
    lacking = {tuple(code.split("_violation:", 1)) for code in expected - found if "_violation:" in code}
    return [
        finding.to_dict()
        for finding in result.decision.findings
        if finding.code in found - expected
        or (finding.rule.partition(":")[0].removesuffix("_ratio"), finding.metric) in lacking
    ]


def _updated(result: Result | Unloadable, reason: str) -> dict[str, Any]:
    """The case after its file has got what is answered now; as it is where that cannot be."""
    document = case_document(result)
    if isinstance(result, Unloadable) or not result.differences:
        return document
    from gatekeeper.cli.policy_cases import rewrite_case
    from gatekeeper.documents.patches import UnchangeableError
    from gatekeeper.review.golden.update import updated

    path = result.case.path
    try:
        rewrite_case(path, updated(read_case_file(path), result.differences, reason=reason, source=path))
    except UnchangeableError:
        return document
    return {**document, "result": "updated", "reason": reason}


def _exit_code(documents: Sequence[dict[str, Any]], surveys: Sequence[dict[str, Any]], values: Values) -> int:
    results = {document["result"] for document in documents}
    if "refused" in results:
        return GoldenCaseError.exit_code
    if "fail" in results:
        return FOUND
    least = values.integer("min_score") or 0
    if values.given("fail_on") and any(one["unnoticed"] for one in surveys):
        return FOUND
    return FOUND if any(one["score"] < least for one in surveys) else 0


def _told(
    page: Page, values: Values, code: int, documents: Sequence[dict[str, Any]], surveys: Sequence[dict[str, Any]]
) -> Outcome:
    output = values.text("output")
    if output == "junit":
        from gatekeeper.render.policy_test_report import cases_report

        page.report = cases_report(
            [{**document, "line": _line(document)} for document in documents],
            surveys,
            fails_on_survivors=values.given("fail_on"),
            min_score=values.integer("min_score") or 0,
            exit_code=code,
        )
    text = load(output).page(page, layout_of_output())
    if output != "github":
        return Outcome(text, code)
    from gatekeeper.cli.github_files import write_summary
    from gatekeeper.render.github import diagnostic_lines

    complaints = write_summary(text)
    for document in documents:
        text += diagnostic_lines(document["file"], _annotations(document))
    for one in surveys:
        text += diagnostic_lines(one["policy"], [_unnoticed(change) for change in one["unnoticed"]])
    return Outcome(text, code, complaints)


def _annotations(document: dict[str, Any]) -> list[dict[str, Any]]:
    """What GitHub shows at a case's lines: its problems, or what is not as expected."""
    if document["result"] == "refused":
        return list(document["diagnostics"])
    if document["result"] != "fail":
        return []
    line, column = _place(document)
    message = f"{document['name']}: {'; '.join(case_lines(document))}"
    return [{"code": "golden.failed", "severity": "error", "line": line, "column": column, "message": message}]


def _line(document: dict[str, Any]) -> int | None:
    """Where a case fails, or where the first of its problems stands."""
    if document["result"] == "refused":
        return next((one["line"] for one in document["diagnostics"]), None)
    return _place(document)[0] if document["result"] == "fail" else None


def _place(document: dict[str, Any]) -> tuple[int, int]:
    """Where the first expectation that is not met stands."""
    from gatekeeper.documents.diagnostics import places_in

    keys = [one["key"] for one in document["differences"]]
    places = places_in(read_case_file(document["file"]), document["file"])
    return places[f"/expect/{keys[0]}" if keys else "/context/stage"]


def _unnoticed(change: dict[str, Any]) -> dict[str, Any]:
    message = f"no golden case notices {change['rule']}: {change['change']}"
    remedy = f"add one with {change['needs']}" if change["needs"] else ""
    place = {"line": change["line"], "column": change["column"]}
    return {"code": "golden.unnoticed", "severity": "warning", "message": message, "remedy": remedy, **place}
