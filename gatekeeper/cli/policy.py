"""`gatekeeper policy check`: do these policies load, and what should a reviewer know?"""

from __future__ import annotations

from gatekeeper.cli.outcome import FOUND, Outcome
from gatekeeper.cli.present import layout_of_output
from gatekeeper.errors import PolicyError
from gatekeeper.render import REPORTS, load
from gatekeeper.render.diagnostics import policy_page
from gatekeeper.render.page import Page
from gatekeeper.review.advice import Beside
from gatekeeper.review.cases_beside import CasesBeside
from gatekeeper.review.load import diagnose_policy, read_policy_file
from gatekeeper.review.warnings import warnings_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from gatekeeper.cli.values import Values
    from gatekeeper.documents.diagnostics import Diagnostic
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.render.report import Report

FAIL_ON = ("error", "warning", "info", "never")
"""Words of `--fail-on`; each but the last includes those before it."""


class _File:
    """One policy file under review."""

    def __init__(self, path: str) -> None:
        self.path: Final = path
        self.data = b""
        self.loaded: LoadedPolicy | None = None
        self.refused: list[dict[str, Any]] = []
        self.mends: list[dict[str, Any]] | None = None
        self.note = ""
        try:
            self.data = read_policy_file(path)
        except PolicyError as error:
            place = {"pointer": "", "line": None, "column": None, "rule": "", "suppressed": None}
            words = {"message": error.message, "remedy": error.remedy}
            self.refused = [{"code": error.code, "severity": "error", **place, **words}]
        else:
            self.read()

    def read(self) -> None:
        """Load the bytes at hand."""
        self.loaded, errors = diagnose_policy(self.data, self.path)
        self.refused = _dicts(errors)

    def page(self, beside: Beside) -> Page:
        """All that is to say about the file."""
        facts = None
        found = self.refused
        if self.loaded is not None:
            found = _dicts(warnings_for(self.loaded, self.data, beside=beside))
            facts = {
                "policy_id": self.loaded.policy.policy_id,
                "policy_version": self.loaded.policy.policy_version,
                "policy_digest": self.loaded.digest,
            }
        return policy_page(self.path, found, policy=facts, mends=self.mends, note=self.note)


def check(values: Values) -> Outcome:
    """65 when a file does not load, else 10 when there is what `--fail-on` says (a defect, unless given), else 0."""
    files = [_File(path) for path in values.texts("files")]
    cases = CasesBeside()
    if values.flag("fix"):
        from gatekeeper.cli.policy_fix import fix

        for file in files:
            file.data, file.mends, file.note = fix(file.path, file.data, cases)
            if file.mends:
                file.read()
    collections, window_seconds = _collections(values, files)
    pages = [
        *(file.page(Beside(window_seconds=window_seconds, case_metrics=cases.metrics_of(file.path))) for file in files),
        *collections,
    ]
    failing = _failing(values.text("fail_on"))
    code = _exit_code(pages, failing)
    output, layout = values.text("output"), layout_of_output()
    if output in REPORTS:
        whole = Page("", [], document={}, report=_report(pages, failing, code))
        return Outcome(load(output).page(whole, layout), code)
    if output == "json":
        document = {
            "ok": code == 0,
            "policies": [page.document for page in pages[: len(files)]],
            "collections": [page.document for page in collections],
        }
        return Outcome(load(output).page(Page("", [], document=document), layout), code)
    text = "".join(load(output).page(page, layout) for page in pages)
    if output == "github":
        from gatekeeper.cli.github_files import write_summary
        from gatekeeper.render.github import diagnostic_lines

        complaints = write_summary(text)
        text += "".join(diagnostic_lines(page.document["source"], page.document["diagnostics"]) for page in pages)
        return Outcome(text, code, complaints)
    return Outcome(text, code)


def _collections(values: Values, files: list[_File]) -> tuple[list[Page], float | None]:
    """The review of the file that feeds the policies, and the length of its window in seconds."""
    path = values.optional_text("collection")
    if path is None:
        return [], None
    from gatekeeper.cli.lint import lint_file  # it loads the evidence room

    feeds = [file.loaded.policy for file in files if file.loaded is not None]
    page, window_seconds = lint_file(path, feeds, ask=values.flag("ask"))
    return [page], window_seconds


def _failing(word: str) -> frozenset[str]:
    """The severities that end with exit code 10."""
    return frozenset() if word == "never" else frozenset(FAIL_ON[: FAIL_ON.index(word) + 1])


def _exit_code(pages: list[Page], failing: frozenset[str]) -> int:
    if not all(page.document["loads"] for page in pages):
        return PolicyError.exit_code
    found = (one for page in pages for one in page.document["diagnostics"])
    counts = any(one["severity"] in failing and one["suppressed"] is None for one in found)
    return FOUND if counts else 0


def _report(pages: list[Page], failing: frozenset[str], code: int) -> Report:
    """The same for programs that read SARIF or JUnit."""
    from gatekeeper.render.diagnostics import cases_of, remarks_of
    from gatekeeper.render.report import Report, Rule
    from gatekeeper.review.catalogue import CATALOGUE, REFUSALS

    entries = {**REFUSALS, **CATALOGUE}
    return Report(
        cases=[case for page in pages for case in cases_of(page, failing)],
        remarks=[remark for page in pages for remark in remarks_of(page)],
        rules={code: Rule(one.severity.value, one.summary, one.remedy) for code, one in entries.items()},
        exit_code=code,
    )


def _dicts(diagnostics: list[Diagnostic]) -> list[dict[str, Any]]:
    return [dict(one.to_dict()) for one in diagnostics]
