"""`gatekeeper collect`: a snapshot from real sources, printed; or a review of the file that says how it is taken."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gatekeeper.cli.collecting import TellingCollector
from gatekeeper.cli.outcome import Outcome
from gatekeeper.errors import UsageError

if TYPE_CHECKING:
    from gatekeeper.cli.values import Values


def collect(values: Values) -> Outcome:
    """0 with a snapshot, whatever its observations say: they are evidence, and a check of it judges them."""
    if values.flag("schema"):
        from gatekeeper.evidence.collection_file.schema import collection_schema

        return Outcome(_document(collection_schema()))
    path = values.optional_text("file")
    if path is None:
        raise UsageError("no collection file given", remedy="see: gatekeeper collect --help")
    if values.flag("lint"):
        from gatekeeper.cli.lint import lint_outcome

        return lint_outcome(path, values)
    snapshot = TellingCollector(path, verbose=values.flag("verbose")).collect(at=values.time("at"))
    return Outcome(_document(snapshot.document))


def _document(document: object) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()
