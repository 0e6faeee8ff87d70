"""What is frozen: each subject with its direction, its contract as the code has it now, and how two are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from gatekeeper.cli.policy_schema import SCHEMAS
from gatekeeper.documents.schema import json_schema
from gatekeeper.review.golden.case import GoldenCase
from tests.frozen import codes
from tests.frozen.bare import bare, version_in
from tests.frozen.changes import Change, Direction, Effect
from tests.frozen.command_line import command_line, compare_command_lines
from tests.frozen.kept import Contract
from tests.frozen.python_names import compare_python_names, python_names
from tests.frozen.tables import Rule, compare_tables
from tests.frozen.walk import compare_schemas
from tests.frozen.words import compare_words

VERSIONS = {
    "command-line": 1,
    "error-codes": 1,
    "exit-codes": 1,
    "finding-outcomes": 1,
    "python-names": 1,
    "reason-codes": 1,
    "remark-codes": 1,
    "schema-golden-case": 1,
}
"""Subjects whose format states no version of its own: raised here by a break, and told in the changelog.

Schemas that `policy schema` prints have theirs at the end of `$id`.
"""

OPEN_WORDS = {
    "schema-event": frozenset({
        "/properties/kind",
        "/$defs/Action/properties/name",
        "/$defs/ActionEvent/properties/action/properties/name",
        "/$defs/PolicyEvent/properties/schema_version",
        "/$defs/ReasonCode/anyOf/0",
        "/$defs/RefusalEvent/properties/refusal/properties/reason",
    }),
    "schema-snapshot": frozenset({"/$defs/Problem/properties/code/anyOf/0"}),
}  # fmt: skip
"""Places whose words may become more within one version: docs/contract/README.md tells readers so."""

_ENTRIES = {"schema-snapshot": ("WellFormed",)}
"""Definitions that docs/schema/README.md tells others to refer to by name."""
_DIRECTIONS = {"event": Direction.OUTPUT, "snapshot": Direction.BOTH}
"""Of schemas; the others are read only."""


@dataclass(frozen=True)
class Subject:
    """One contract.

    Attributes:
        name: of its file.
        direction: who writes what it describes.
        live: the version and the content that the code has now.
        compare: what differs between an old and a new content.
    """

    name: str
    direction: Direction
    live: Callable[[], tuple[int, Any]]
    compare: Callable[[Any, Any], Iterator[Change]]

    def now(self) -> Contract:
        """The contract as the code has it now."""
        version, content = self.live()
        return Contract(self.name, version, content)


def _stated(name: str, make: Callable[[], Any]) -> Callable[[], tuple[int, Any]]:
    return lambda: (VERSIONS[name], make())


def _words(old: list[str], new: list[str]) -> Iterator[Change]:
    yield from compare_words(old, new, "", gained=Effect.WIDENED)


def _schema(name: str, live: Callable[[], tuple[int, Any]], direction: Direction) -> Subject:
    compare = partial(compare_schemas, open_words=OPEN_WORDS.get(name, frozenset()), entries=_ENTRIES.get(name, ()))
    return Subject(name, direction, live, compare)


def _printed(make: Callable[[], dict[str, Any]]) -> tuple[int, Any]:
    schema = make()
    return version_in(schema), bare(schema)


_REMARK = {"is_mended": Rule.ABILITY}
_EXIT_CODE = {"answers": Rule.CLOSED}
_REASON = {"is_in_use": Rule.ABILITY}

SUBJECTS = {
    subject.name: subject
    for subject in (
        Subject("command-line", Direction.INPUT, _stated("command-line", command_line), compare_command_lines),
        Subject(
            "error-codes",
            Direction.OUTPUT,
            _stated("error-codes", codes.error_codes),
            partial(compare_tables, rules={}),
        ),
        Subject(
            "exit-codes",
            Direction.OUTPUT,
            _stated("exit-codes", codes.exit_codes),
            partial(compare_tables, rules=_EXIT_CODE),
        ),
        Subject("finding-outcomes", Direction.OUTPUT, _stated("finding-outcomes", codes.finding_outcomes), _words),
        Subject("python-names", Direction.INPUT, _stated("python-names", python_names), compare_python_names),
        Subject(
            "reason-codes",
            Direction.OUTPUT,
            _stated("reason-codes", codes.reason_codes),
            partial(compare_tables, rules=_REASON),
        ),
        Subject(
            "remark-codes",
            Direction.OUTPUT,
            _stated("remark-codes", codes.remark_codes),
            partial(compare_tables, rules=_REMARK),
        ),
        *(
            _schema(f"schema-{name}", partial(_printed, make), _DIRECTIONS.get(name, Direction.INPUT))
            for name, make in SCHEMAS.items()
        ),
        _schema(
            "schema-golden-case",
            _stated("schema-golden-case", lambda: bare(json_schema(GoldenCase))),
            Direction.INPUT,
        ),
    )
}
"""All of them by name."""
