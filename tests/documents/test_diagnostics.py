"""Remarks about a file: each keeps its place, and its line."""

from __future__ import annotations

import sys

from gatekeeper.documents.diagnostics import Diagnostic, Severity, placed
from gatekeeper.documents.problem import Problem


def test_a_file_too_deep_to_be_searched_keeps_its_problems() -> None:
    """The search for lines must not crash where the reading of the file did not."""
    depth = 100 * sys.getrecursionlimit()
    (one,) = placed(
        [Problem("policy.too_deep", "/0/0", "nested too deeply")], Severity.ERROR, b"[" * depth + b"]" * depth, "p.json"
    )
    assert (one.line, one.pointer) == (None, "/0/0")


def test_a_diagnostic_is_json_for_machines_and_one_line_for_people() -> None:
    """Both forms carry code or place, and control characters stay on their line."""
    one = Diagnostic("policy.x", Severity.ERROR, "/a", 3, 9, "bad\x1b[2J\n", "mend it", "guardrail:m")
    assert one.text("p.json") == "p.json:3:9: /a: bad\\x1b[2J\\n (mend it)"
    assert one.to_dict() == {
        "code": "policy.x",
        "severity": "error",
        "pointer": "/a",
        "line": 3,
        "column": 9,
        "message": "bad\x1b[2J\n",
        "remedy": "mend it",
        "rule": "guardrail:m",
        "suppressed": None,
    }
