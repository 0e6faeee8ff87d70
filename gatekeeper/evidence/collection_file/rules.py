"""What SPEC 9 asks of a collection file beyond keys and types, asked of the document as it stands.

Every rule passes over what has the wrong type (`structure` has said so already), so that a
reviewer sees all problems of a file at once. Rules about a whole object are asked only of an object that
is otherwise sound: a misspelt `query` is one problem, not two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.documents.problem import Problem
from gatekeeper.evidence.collection import SCHEMA, SourceType
from gatekeeper.evidence.collection_file.bounds import ONE_DAY_SECONDS, bound, duration, is_label, text, variables
from gatekeeper.evidence.collection_file.metric_rules import metric_problems
from gatekeeper.evidence.collection_file.source_rules import source_problems
from gatekeeper.evidence.collection_file.typed import members, typed_metrics
from gatekeeper.model.document import escape_pointer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Sound = Callable[[str], bool]

LONGEST_DEADLINE_SECONDS = 600
"""A gate that is silent for longer is taken for dead by every CI system."""

MOST_WORKERS = 16
"""Requests at once; a Prometheus server itself works on 20."""


def collection_rules(document: Mapping[str, Any], sound: Sound) -> list[Problem]:
    """Every rule that *document* breaks.

    Args:
        document: the JSON object as parsed, whatever it holds.
        sound: whether no structural problem is known at or below a JSON pointer.
    """
    found = [
        *_schema(document),
        *_at_least_one(document),
        *duration(document, "", "window"),
        *_labels(document, sound),
        *_instant(document),
        *_limits(document),
        *source_problems(document, sound),
        *metric_problems(document, sound),
    ]
    if any(part.type is SourceType.PROMETHEUS for part in typed_metrics(document)):
        from gatekeeper.evidence.collection_file.promql_rules import promql_problems  # it loads a parser

        found += promql_problems(document, sound)
    return found


def _schema(document: Mapping[str, Any]) -> Iterator[Problem]:
    stated = document.get("schema")
    if isinstance(stated, str) and stated != SCHEMA:
        message = f'this program reads "{SCHEMA}" only; allowed: that, or leave the key out'
        yield Problem("collection.unknown_value", "/schema", message)


def _at_least_one(document: Mapping[str, Any]) -> Iterator[Problem]:
    for key, what in (("sources", "source"), ("metrics", "metric")):
        if document.get(key) == {}:
            yield Problem(f"collection.no_{what}", f"/{key}", f"found no {what}; allowed: one or more")
        if "" in members(document, key):
            message = f"found an empty name; allowed: a name for the {what}"
            yield Problem("collection.empty_text", f"/{key}/", message, at_key=True)


def _labels(document: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    labels = members(document, "labels")
    for name in labels:
        if not is_label(name):
            allowed = "letters, digits and _, no digit first, not __name__"
            message = f"no name of a label that can be bound; allowed: {allowed}"
            yield Problem("collection.bad_label", f"/labels/{escape_pointer(name)}", message, at_key=True)
        for side in ("variant", "baseline"):
            yield from text(members(labels, name), f"/labels/{escape_pointer(name)}", side)
            yield from variables(members(labels, name), f"/labels/{escape_pointer(name)}", side)
    if labels and sound("/labels") and all(value["variant"] == value.get("baseline") for value in labels.values()):
        message = "the variant and its baseline are selected by the same values, so nothing could ever look worse"
        remedy = "state the label by which the two differ, or leave out the baseline"
        yield Problem("collection.same_sides", "/labels", message, remedy)


def _instant(document: Mapping[str, Any]) -> Iterator[Problem]:
    part = members(document, "evaluate_at")
    yield from bound(part, "/evaluate_at", "settle_seconds", least=0, most=ONE_DAY_SECONDS)
    yield from bound(part, "/evaluate_at", "align_seconds", least=0.001, most=ONE_DAY_SECONDS)


def _limits(document: Mapping[str, Any]) -> Iterator[Problem]:
    part = members(document, "limits")
    yield from bound(part, "/limits", "deadline_seconds", most=LONGEST_DEADLINE_SECONDS)
    yield from bound(part, "/limits", "parallelism", least=1, most=MOST_WORKERS)
    yield from duration(part, "/limits", "watermark_depth")
