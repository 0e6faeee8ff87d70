"""Output `junit`: test reports as Jenkins, GitLab, CircleCI and others read them.

Source: the form that these agree on, described at github.com/testmoapp/junitxml. Everything outside printable
ASCII is escaped, so that no control character of a metric's name makes the file unreadable.
"""

from __future__ import annotations

import re

from gatekeeper.model.masking import mask_text
from gatekeeper.render.plain import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.render.page import Layout, Page
    from gatekeeper.render.report import Case

_SPECIAL = re.compile(r'[^\n\x20-\x7e]|[&<>"]')


def page(page: Page, layout: Layout) -> str:  # noqa: ARG001 - the same at every width
    """The cases of the page's report. Raises ValueError for a page without one."""
    if page.report is None:
        raise ValueError("this page has no report")
    return suites("gatekeeper", page.report.cases)


def error(error: Mapping[str, Any], layout: Layout) -> str:  # noqa: ARG001 - as above
    """Nothing: a report without the cases would read as success."""
    return ""


def suites(name: str, cases: Sequence[Case]) -> str:
    """One document: *cases* in a suite for each class, both in the order given."""
    by_class: dict[str, list[Case]] = {}
    for case in cases:
        by_class.setdefault(case.classname, []).append(case)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {_attributes(name=name, **_counts(cases))}>"]
    for classname, members in by_class.items():
        lines.append(f"  <testsuite {_attributes(name=classname, **_counts(members))}>")
        lines += [line for case in members for line in _case(case)]
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _counts(cases: Sequence[Case]) -> dict[str, str | None]:
    times = [case.seconds for case in cases if case.seconds is not None]
    return {
        "tests": str(len(cases)),
        "failures": str(sum(case.failure is not None for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.failure is None and case.skipped is not None for case in cases)),
        "time": f"{sum(times):.3f}" if times else None,
    }


def _case(case: Case) -> list[str]:
    attributes = _attributes(
        classname=case.classname,
        name=case.name,
        file=case.file,
        line=None if case.line is None else str(case.line),
        time=None if case.seconds is None else f"{case.seconds:.3f}",
    )
    if case.failure is not None:
        inner = f"<failure {_attributes(message=case.failure['message'])}>{_text(case.failure['text'])}</failure>"
    elif case.skipped is not None:
        inner = f"<skipped {_attributes(message=case.skipped)}/>"
    else:
        return [f"    <testcase {attributes}/>"]
    return [f"    <testcase {attributes}>", f"      {inner}", "    </testcase>"]


def _attributes(**pairs: str | None) -> str:
    return " ".join(f'{key}="{_line(value)}"' for key, value in pairs.items() if value is not None)


def _line(text: str) -> str:
    return _text(text).replace("\n", "&#10;")  # a bare one would be read as a space


def _text(text: str) -> str:
    """*text* as XML holds it, its lines kept; what XML cannot hold is shown as an escape."""
    lines = "\n".join(printable(line) for line in mask_text(text).split("\n"))
    return _SPECIAL.sub(_reference, lines)


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"
