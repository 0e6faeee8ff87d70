"""From a file to a document without problems, or to one refusal that names all of them.

A file whose name ends in .yaml or .yml is YAML, read by JSON's data model (`yaml_reading`); any other is JSON.
"""

from __future__ import annotations

import os

from gatekeeper.errors import DocumentError
from gatekeeper.model.document import is_yaml, parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from gatekeeper.documents.diagnostics import Diagnostic
    from gatekeeper.documents.problem import Problem
    from gatekeeper.errors import InputRefusedError

    ProblemsOf = Callable[[Any], list[Problem]]


def read_file(path: str | os.PathLike[str], *, what: str, error: type[InputRefusedError], remedy: str) -> bytes:
    """The bytes of the file at *path*. Raises *error*, which names the path and *what* it should be."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            return file.read()
    except (OSError, ValueError) as failed:  # ValueError: a path with a null character
        reason = getattr(failed, "strerror", None) or str(failed)
        raise error(f"{name}: the {what} cannot be read: {reason}", remedy=remedy) from None


def load_document(
    data: bytes, source: str, problems_of: ProblemsOf, *, error: type[InputRefusedError], remedy: str
) -> dict[str, Any]:
    """The JSON object in *data*.

    Args:
        data: the bytes of a file.
        source: where they came from: its name tells the language, and stands in messages.
        problems_of: tells all that keeps a JSON value from being such a document, no object included.
        error: what is raised.
        remedy: what to do about problems.

    Raises:
        error: not strict JSON or YAML, or with problems: then `message` has a line for each.
    """
    document: dict[str, Any] = parse_reviewed(data, source, error=error)
    problems = problems_of(document)
    if problems:
        raise refusal(problems, data, source, error=error, remedy=remedy)
    return document


def parse_reviewed(data: bytes, source: str, *, error: type[InputRefusedError]) -> Any:
    """The value in *data*, whatever it is. Raises *error* with line and column for what is not strict JSON or YAML."""
    try:
        return parsed(data, source)
    except DocumentError as refused:
        raise error(refused.message, remedy=refused.remedy) from refused


def refusal(
    problems: Iterable[Problem], data: bytes, source: str, *, error: type[InputRefusedError], remedy: str
) -> InputRefusedError:
    """One error that says all problems, each on a line of its own with file, line, column and pointer."""
    from gatekeeper.documents.diagnostics import Severity, placed

    return error("\n".join(one.text(source) for one in placed(problems, Severity.ERROR, data, source)), remedy=remedy)


def diagnose(data: bytes, source: str, problems_of: ProblemsOf) -> tuple[Any, list[Diagnostic]]:
    """The value in *data*, and all that keeps it from loading; None for what is not strict JSON or YAML."""
    from gatekeeper.documents.diagnostics import Diagnostic, Severity, placed

    try:
        document = parsed(data, source)
    except DocumentError as error:
        message = error.message.removeprefix(source).lstrip(":0123456789 ")
        found = Diagnostic(error.code, Severity.ERROR, "", error.line, error.column, message, error.remedy)
        return None, [found]
    return document, placed(problems_of(document), Severity.ERROR, data, source)


def parsed(data: bytes, source: str) -> Any:
    """The value in *data*, YAML or JSON by the name of *source*. Raises DocumentError; UsageError as `parse_yaml`."""
    if is_yaml(source):
        from gatekeeper.documents.yaml_reading import parse_yaml

        return parse_yaml(data, source=source)
    return parse_json(data, source=source)
