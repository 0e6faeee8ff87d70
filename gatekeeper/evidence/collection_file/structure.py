"""Keys and types of a collection file: the frame by one dataclass, each source and metric by that of its type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.documents.structure import last_said, structural_problems
from gatekeeper.evidence.collection import METRIC_SHAPES, SOURCE_SHAPES, Frame, SourceType
from gatekeeper.evidence.collection_file.typed import members, type_named, typed_metrics, typed_sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gatekeeper.documents.problem import Problem

KIND = "collection"
_FORM = '{"sources": {"prom": {"type": "prometheus", …}}, "metrics": {"error_rate": {"source": "prom", …}}}'
_SECRET_KEYS = ("url", "proxy_url", "headers")


def collection_structure(document: Any) -> list[Problem]:
    """All that is wrong with keys and types of *document*, one problem for each place."""
    frame = structural_problems(Frame, document, kind=KIND, form=_FORM)
    if not isinstance(document, dict):
        return frame
    found = [*frame, *_untyped_sources(document), *_metrics_without_source(document)]
    for part in typed_sources(document):
        problems = structural_problems(SOURCE_SHAPES[part.type], part.content, kind=KIND, at=part.path)
        found += _reworded(problems, part.type)
    for part in typed_metrics(document):
        problems = structural_problems(METRIC_SHAPES[part.type], part.content, kind=KIND, at=part.path)
        found += _reworded(problems, part.type)
    if not found:
        return []
    gone = tuple(f"{problem.pointer}/" for problem in found if problem.at_key)  # what stands below goes with its key
    kept = [problem for problem in found if not problem.pointer.startswith(gone)]
    return last_said(map(_discreet, kept))


def _untyped_sources(document: Mapping[str, Any]) -> Iterator[Problem]:
    for name, content in members(document, "sources").items():
        if not isinstance(content, dict):
            yield from _no_object("sources", name, content, 'an object with "type" and what a source of that type has')
        elif type_named(content.get("type")) is None:
            from gatekeeper.evidence.collection_file.wording import unknown_type

            yield unknown_type(name, content)


def _metrics_without_source(document: Mapping[str, Any]) -> Iterator[Problem]:
    sources = document.get("sources")
    for name, content in members(document, "metrics").items():
        if not isinstance(content, dict):
            yield from _no_object("metrics", name, content, 'an object with "source" and what is asked of it')
        elif not isinstance(source := content.get("source"), str) or (
            isinstance(sources, dict) and source not in sources
        ):
            from gatekeeper.evidence.collection_file.wording import unknown_source

            yield unknown_source(name, content, list(members(document, "sources")))


def _no_object(key: str, name: str, content: object, allowed: str) -> Iterator[Problem]:
    from gatekeeper.evidence.collection_file.wording import no_object

    yield no_object(key, name, content, allowed)


def _reworded(problems: Sequence[Problem], kind: SourceType) -> Sequence[Problem]:
    """Problems of one part; a key that another type has says whose it is."""
    if not problems:
        return problems
    from gatekeeper.evidence.collection_file.wording import whose_key

    return [whose_key(problem, kind) for problem in problems]


def _discreet(problem: Problem) -> Problem:
    """The same without the value, where that may be a credential: a token is no text but a number, say."""
    steps = problem.pointer.split("/")[1:]
    if len(steps) < 3 or steps[0] != "sources" or steps[2] not in _SECRET_KEYS:
        return problem
    from gatekeeper.evidence.collection_file.wording import without_value

    return without_value(problem)
