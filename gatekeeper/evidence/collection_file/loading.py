"""Load a collection file: bytes -> strict JSON or YAML -> keys and types -> the rules of SPEC 9 -> values.

All problems of a file are named at once, each with file, line, column and JSON Pointer. A file without
problems is read without pydantic; no value that may be a credential is in a message.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gatekeeper.documents.build import build
from gatekeeper.documents.load import diagnose, load_document, read_file
from gatekeeper.documents.structure import soundness
from gatekeeper.errors import CollectionError
from gatekeeper.evidence.collection import METRIC_SHAPES, SOURCE_SHAPES, Collection, Frame, LoadedCollection
from gatekeeper.evidence.collection_file.rules import collection_rules
from gatekeeper.evidence.collection_file.structure import collection_structure
from gatekeeper.evidence.collection_file.typed import typed_metrics, typed_sources
from gatekeeper.model.canonical import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.documents.diagnostics import Diagnostic
    from gatekeeper.documents.problem import Problem


def read_collection(path: str | os.PathLike[str]) -> LoadedCollection:
    """The collection file at *path*.

    Raises:
        CollectionError: the file cannot be read, or what it holds is no collection file.
    """
    remedy = 'give the path of a file of sources and metrics: {"sources": {…}, "metrics": {…}}'
    data = read_file(path, what="collection file", error=CollectionError, remedy=remedy)
    return load_collection(data, os.fspath(path))


def load_collection(data: bytes, path: str) -> LoadedCollection:
    """The collection in the bytes of a file.

    Args:
        data: the bytes.
        path: where they came from; paths in the file are relative to it, and its name tells YAML from JSON.

    Raises:
        CollectionError: not strict JSON or YAML, or no collection file; `message` has a line for each problem.
    """
    remedy = f"correct the file, then: gatekeeper collect --lint {path}"
    document = load_document(data, path, collection_problems, error=CollectionError, remedy=remedy)
    return _loaded(document, path)


def check_collection(data: bytes, path: str) -> tuple[LoadedCollection | None, list[Diagnostic]]:
    """For the lint: the collection if it loads, and everything that keeps it from loading."""
    document, found = diagnose(data, path, collection_problems)
    return (None, found) if found else (_loaded(document, path), [])


def collection_problems(document: Any) -> list[Problem]:
    """All that keeps a JSON value from being a collection file; empty for one."""
    structural = collection_structure(document)
    if not isinstance(document, dict):
        return structural
    return [*structural, *collection_rules(document, soundness(structural))]


def _loaded(document: Mapping[str, Any], path: str) -> LoadedCollection:
    frame = build(Frame, document)
    collection = Collection(
        sources={part.path[1]: build(SOURCE_SHAPES[part.type], part.content) for part in typed_sources(document)},
        metrics={part.path[1]: build(METRIC_SHAPES[part.type], part.content) for part in typed_metrics(document)},
        window=frame.window,
        labels=frame.labels,
        evaluate_at=frame.evaluate_at,
        limits=frame.limits,
    )
    return LoadedCollection(collection, document, digest(document), path)
