"""Output `sarif`: findings about files as code scanning reads them (GitHub, GitLab, editors).

Source: OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0, the clauses named below.
"""

from __future__ import annotations

from hashlib import sha256

from gatekeeper.model.masking import mask_text
from gatekeeper.render.as_json import dumps
from gatekeeper.render.report import Rule
from gatekeeper.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.render.page import Layout, Page
    from gatekeeper.render.report import Remark, Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "gatekeeper/v1"

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}  # clause 3.27.10
_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"  # of a URI's path, RFC 3986


def page(page: Page, layout: Layout) -> str:  # noqa: ARG001 - the same at every width
    """The remarks of the page's report. Raises ValueError for a page without one."""
    if page.report is None:
        raise ValueError("this page has no report")
    return dumps(log(page.report))


def error(error: Mapping[str, Any], layout: Layout) -> str:  # noqa: ARG001 - as above
    """Nothing: a log without the results would read as success."""
    return ""


def log(report: Report) -> dict[str, Any]:
    """The log of one run (clauses 3.13, 3.14)."""
    codes = list(dict.fromkeys(remark.code for remark in report.remarks))
    places = {code: index for index, code in enumerate(codes)}
    marks = _fingerprints(report.remarks)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "gatekeeper",
                        "version": __version__,
                        "rules": [_rule(code, report) for code in codes],
                    }
                },
                # a report that found something was made without failing: clause 3.20.14
                "invocations": [{"executionSuccessful": True, "exitCode": report.exit_code}],
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(remark, places[remark.code], mark)
                    for remark, mark in zip(report.remarks, marks, strict=True)
                ],
            }
        ],
    }


def _rule(code: str, report: Report) -> dict[str, Any]:
    """Clause 3.49; its help is what a person sees who opens the finding."""
    severity = next(remark.severity for remark in report.remarks if remark.code == code)
    rule = report.rules.get(code, Rule(severity, code, ""))
    text = f"{rule.summary}. To do: {rule.remedy}." if rule.remedy else f"{rule.summary}."
    return {
        "id": code,
        "shortDescription": {"text": f"{rule.summary}."},
        "help": {"text": text},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(remark: Remark, index: int, mark: str) -> dict[str, Any]:
    """Clause 3.27."""
    text = mask_text(remark.message + (f" ({remark.remedy})" if remark.remedy else ""))
    result: dict[str, Any] = {
        "ruleId": remark.code,
        "ruleIndex": index,
        "level": _LEVELS[remark.severity],
        "message": {"text": text},
        "locations": [_location(remark)],
        "partialFingerprints": {FINGERPRINT: mark},
    }
    if remark.suppressed is not None:  # clause 3.35: stated in the file itself
        reason = mask_text(remark.suppressed)
        result["suppressions"] = [{"kind": "inSource", "status": "accepted", "justification": reason}]
    return result


def _location(remark: Remark) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _artifact(remark.file)}
    # what is about a whole file, or one that cannot be read, is shown at its first line
    place["region"] = {"startLine": remark.line or 1, "startColumn": remark.column or 1}
    location: dict[str, Any] = {"physicalLocation": place}
    if remark.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": remark.pointer, "kind": "member"}]
    return location


def _artifact(path: str) -> dict[str, str]:
    """Clause 3.4: a path below the working directory is relative to the root of the sources."""
    data = path.removeprefix("./").encode("utf-8", "surrogateescape")
    uri = "".join(chr(byte) if chr(byte) in _PLAIN else f"%{byte:02X}" for byte in data)
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _fingerprints(remarks: Sequence[Remark]) -> list[str]:
    """12 hexadecimal digits each, the same wherever in its file the finding has moved; a repeated one is counted."""
    seen: dict[tuple[str, str, str], int] = {}
    marks = []
    for remark in remarks:
        key = (remark.file, remark.code, remark.about or remark.pointer)
        seen[key] = seen.get(key, 0) + 1
        text = "\n".join((*key[1:], str(seen[key])))
        marks.append(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12])
    return marks
