"""`policy test --mutants`: each policy that has cases, its changes and their places in its file."""

from __future__ import annotations

from gatekeeper.documents.diagnostics import nearest, places_in
from gatekeeper.review.load import read_policy_file
from gatekeeper.review.mutants.survey import survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.review.golden.case import LoadedCase
    from gatekeeper.review.golden.judge import Result
    from gatekeeper.review.mutants.change import Change


def surveys_of(results: Sequence[Result]) -> list[dict[str, Any]]:
    """A survey of each policy, as json shows it; all *results* pass."""
    by_policy: dict[str, list[LoadedCase]] = {}
    for result in results:
        by_policy.setdefault(result.case.policy_path, []).append(result.case)
    documents = []
    for path, cases in by_policy.items():
        found = survey(path, cases[0].policy, cases)
        places = places_in(read_policy_file(path), path) if found.unnoticed else {}
        unnoticed = [_document(change, places) for change in found.unnoticed]
        unnoticed.sort(key=lambda one: (one["line"], one["column"]))
        documents.append({**found.to_dict(), "cases": len(cases), "unnoticed": unnoticed})
    return documents


def _document(change: Change, places: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """The change with the place that it is about, or the nearest one around it that is written out."""
    line, column = nearest(change.pointer, places)
    return {
        "rule": change.rule,
        "pointer": change.pointer,
        "line": line,
        "column": column,
        "change": change.words,
        "needs": change.needs,
    }
