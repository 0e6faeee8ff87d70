"""Load a policy: bytes -> strict JSON or YAML -> keys and types (pydantic) -> the rules of SPEC 3 -> values.

A policy that does not load never yields a verdict. All problems of a file are named at once, each
with file, line, column and JSON Pointer. What validates is imported only when a policy is seen for
the first time: one that the log holds was validated when it was recorded (`parse_policy` is enough).
"""

from __future__ import annotations

import os

from gatekeeper.errors import PolicyError
from gatekeeper.model.document import has_odd_places, is_yaml, parse_document
from gatekeeper.model.policy import LoadedPolicy, Policy, loaded_policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.documents.diagnostics import Diagnostic
    from gatekeeper.documents.problem import Problem

_FORM = '{"policy_id": …, "policy_version": …, "guardrails": […]}'


def load_policy(source: str | os.PathLike[str] | bytes) -> Policy:
    """The policy in a file, or in bytes that are at hand.

    Args:
        source: path of a file, YAML where its name ends in .yaml or .yml and else JSON; or the bytes of a JSON file.

    Raises:
        PolicyError: the file cannot be read, or what it holds is no policy; `message` names every
            problem on a line of its own.
    """
    if isinstance(source, bytes):
        return load_policy_document(source).policy
    return load_policy_document(read_policy_file(source), source=os.fspath(source)).policy


def load_policy_document(data: bytes, source: str = "-") -> LoadedPolicy:
    """Validate the bytes of a policy file; the values with document and digest.

    Args:
        data: the bytes.
        source: where they came from; a name that ends in .yaml or .yml says that they are YAML, any other JSON.

    Raises:
        PolicyError: as `load_policy`.
        UsageError: YAML, and its library is not installed.
    """
    from gatekeeper.documents.load import load_document

    document = load_document(data, source, _problems, error=PolicyError, remedy=_remedy(source))
    return loaded_policy(document, source=source)


def read_policy_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of the file at *path*. Raises PolicyError if it cannot be read."""
    from gatekeeper.documents.load import read_file

    remedy = "give the path of a policy file; `gatekeeper init` writes one to begin with"
    return read_file(path, what="policy", error=PolicyError, remedy=remedy)


def parse_policy(data: bytes, source: str = "-") -> dict[str, Any]:
    """The JSON object of a policy file, fit for a digest, its content not yet validated.

    Enough for a policy whose digest the log holds: what a digest cannot tell apart (a bare NaN and
    the text "NaN") is refused here.

    Raises:
        PolicyError: not strict JSON or YAML, no object, or a value that no policy can hold.
    """
    if is_yaml(source):
        from gatekeeper.documents.load import parse_reviewed

        document = parse_reviewed(data, source, error=PolicyError)
    else:
        document = parse_document(data, source, error=PolicyError)
    if not isinstance(document, dict) or has_odd_places(document):
        from gatekeeper.documents.load import refusal

        raise refusal(_problems(document), data, source, error=PolicyError, remedy=_remedy(source))
    return document


def check_policy_document(data: bytes, source: str = "-") -> tuple[LoadedPolicy | None, list[Diagnostic]]:
    """For `policy check`: the policy if it loads, and every error, else every warning."""
    from gatekeeper.review.warnings import warnings_for

    loaded, errors = diagnose_policy(data, source)
    return loaded, errors if loaded is None else warnings_for(loaded, data)


def diagnose_policy(data: bytes, source: str = "-") -> tuple[LoadedPolicy | None, list[Diagnostic]]:
    """The policy if it loads, and every error."""
    from gatekeeper.documents.load import diagnose

    document, errors = diagnose(data, source, _problems)
    return (None, errors) if errors else (loaded_policy(document, source=source), [])


def _remedy(source: str) -> str:
    return "correct the policy, then: gatekeeper policy check" + ("" if source == "-" else f" {source}")


def _problems(document: Any) -> list[Problem]:
    """All that keeps *document* from being a policy; empty for a policy."""
    from gatekeeper.documents.structure import soundness, structural_problems
    from gatekeeper.review.rules import policy_problems

    structural = structural_problems(Policy, document, kind="policy", form=_FORM)
    if not isinstance(document, dict):
        return structural
    return [*structural, *policy_problems(document, soundness(structural))]
