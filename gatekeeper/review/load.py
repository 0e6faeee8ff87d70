"""Load a policy: bytes -> strict JSON -> keys and types (pydantic) -> the rules of SPEC 3 -> values.

A policy that does not load never yields a verdict. All problems of a file are named at once, each
with file, line, column and JSON Pointer. What validates is imported only when a policy is seen for
the first time: one that the log holds was validated when it was recorded (`parse_policy` is enough).
"""

from __future__ import annotations

import os

from gatekeeper.errors import DocumentError, PolicyError
from gatekeeper.model.document import NotADouble, parse_json
from gatekeeper.model.policy import LoadedPolicy, Policy, loaded_policy
from gatekeeper.model.snapshot import json_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.review.diagnostics import Diagnostic
    from gatekeeper.review.problem import Problem

_DEEPEST = 16  # levels of nesting that are looked at; a policy has four
_FORM = '{"policy_id": …, "policy_version": …, "guardrails": […]}'


def load_policy(source: str | os.PathLike[str] | bytes) -> Policy:
    """The policy in a file, or in bytes that are at hand.

    Args:
        source: path of a JSON file, or the bytes of one.

    Raises:
        PolicyError: the file cannot be read, or what it holds is no policy; `message` names every
            problem on a line of its own.
    """
    if isinstance(source, bytes):
        return load_policy_document(source).policy
    return load_policy_document(read_policy_file(source), source=os.fspath(source)).policy


def load_policy_document(data: bytes, source: str = "-") -> LoadedPolicy:
    """Validate the bytes of a policy file; the values with document and digest.

    Raises:
        PolicyError: as `load_policy`.
    """
    document = parse_policy(data, source)
    problems = _problems(document)
    if problems:
        raise _refusal(problems, data, source)
    return loaded_policy(document, source=source)


def read_policy_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of the file at *path*. Raises PolicyError if it cannot be read."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise PolicyError(
            f"{name}: the policy cannot be read: {reason}",
            remedy="give the path of a policy file; `gatekeeper init` writes one to begin with",
        ) from None


def parse_policy(data: bytes, source: str = "-") -> dict[str, Any]:
    """The JSON object of a policy file, fit for a digest, its content not yet validated.

    Enough for a policy whose digest the log holds: what a digest cannot tell apart (a bare NaN and
    the text "NaN") is refused here.

    Raises:
        PolicyError: not strict JSON, no object, or a value that no policy can hold.
    """
    try:
        document = parse_json(data, source=source)
    except DocumentError as error:
        raise PolicyError(error.message, remedy=error.remedy) from error
    if not isinstance(document, dict) or next(_odd_places(document), None) is not None:
        raise _refusal(_problems(document), data, source)
    return document


def check_policy_document(data: bytes, source: str = "-") -> tuple[LoadedPolicy | None, list[Diagnostic]]:
    """For `policy check`: the policy if it loads, and every error, else every warning."""
    from gatekeeper.review.diagnostics import Diagnostic, Severity, placed, warnings_for

    try:
        document = parse_json(data, source=source)
    except DocumentError as error:
        message = error.message.removeprefix(source).lstrip(":0123456789 ")
        found = Diagnostic(error.code, Severity.ERROR, "", error.line, error.column, message, error.remedy)
        return None, [found]
    problems = _problems(document)
    if problems:
        return None, placed(problems, Severity.ERROR, data)
    loaded = loaded_policy(document, source=source)
    return loaded, warnings_for(loaded, data)


def _refusal(problems: Sequence[Problem], data: bytes, source: str) -> PolicyError:
    from gatekeeper.review.diagnostics import Severity, placed

    lines = [one.text(source) for one in placed(problems, Severity.ERROR, data)]
    remedy = "correct the policy, then: gatekeeper policy check" + ("" if source == "-" else f" {source}")
    return PolicyError("\n".join(lines), remedy=remedy)


def _problems(document: Any) -> list[Problem]:
    """All that keeps *document* from being a policy; empty for a policy."""
    from gatekeeper.review.rules import policy_problems

    if not isinstance(document, dict):
        from gatekeeper.review.problem import Problem

        return [
            Problem(
                "policy.wrong_type", "", f"a policy is one JSON object, found {json_type(document)}", f"write {_FORM}"
            )
        ]
    structural = _structure(document)
    places = {problem.pointer for problem in structural}

    def sound(pointer: str) -> bool:
        return not any(place == pointer or place.startswith(pointer + "/") for place in places)

    return [*structural, *policy_problems(document, sound)]


def _structure(document: dict[str, Any]) -> list[Problem]:
    """Problems of keys and types, one for each place."""
    from gatekeeper.review.reader import type_errors

    odd = list(_odd_places(document))
    errors = type_errors(_readable(document, _DEEPEST) if odd else document)
    if not errors and not odd:
        return []
    from gatekeeper.review.structure import from_pydantic

    found = from_pydantic(errors)
    unknown = [problem for problem in found if problem.code == "policy.unknown_key"]
    gone = tuple(problem.pointer + "/" for problem in unknown)  # what stands below goes with its key
    odd = [problem for problem in odd if not problem.pointer.startswith(gone)]
    return list({problem.pointer: problem for problem in [*found, *odd, *unknown]}.values())


def _odd_places(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Values that no policy can hold anywhere; without recursion, since the depth is the author's."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, (dict, list)):
            if len(path) >= _DEEPEST:
                yield _odd(path, value, too_deep=True)
                continue
            members = value.items() if isinstance(value, dict) else enumerate(value)
            waiting.extend(((*path, key), inner) for key, inner in members)
        if value is None or isinstance(value, NotADouble) or not _is_unicode(value):
            yield _odd(path, value)
        if path and not _is_unicode(path[-1]):
            yield _odd(path, value, at_key=True)


def _odd(path: Sequence[str | int], value: object, **what: bool) -> Problem:
    from gatekeeper.review.structure import odd_value

    return odd_value(path, value, **what)


def _is_unicode(value: object) -> bool:
    """Whether *value* is anything but text with half of a surrogate pair."""
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
    return True


def _readable(value: Any, levels: int) -> Any:
    """*value* as pydantic can read it, so that the rest of a file with odd values is checked, too."""
    if isinstance(value, dict):
        members = ((key, inner) for key, inner in value.items() if _is_unicode(key))
        return {key: _readable(inner, levels - 1) for key, inner in members} if levels else None
    if isinstance(value, list):
        return [_readable(inner, levels - 1) for inner in value] if levels else None
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
