"""Load golden cases: strict JSON or YAML, keys and types, the rules beyond them, then the policy and the snapshot."""

from __future__ import annotations

import os

from gatekeeper.documents.load import parsed, read_file
from gatekeeper.documents.problem import Problem
from gatekeeper.documents.structure import soundness, structural_problems
from gatekeeper.errors import DocumentError, GoldenCaseError, InputRefusedError, PolicyError, SnapshotError
from gatekeeper.model.context import Context
from gatekeeper.model.document import is_document_file
from gatekeeper.model.snapshot import Snapshot, json_type, read_snapshot, snapshot_from_document
from gatekeeper.model.times import parse_time
from gatekeeper.review.golden.case import EXPECTED, GoldenCase, LoadedCase
from gatekeeper.review.load import load_policy_document, read_policy_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.documents.diagnostics import Diagnostic
    from gatekeeper.model.policy import LoadedPolicy

DEFAULT_DIRECTORY = os.path.join("policies", "golden")
"""Where cases lie unless a caller says otherwise: beside the policies."""

MAKE_ONE = "make a case from a recorded decision: gatekeeper policy test --from-log EVENT"

_FORM = '{"name": …, "policy": …, "snapshot": …, "context": …, "expect": …}'
_TIMES = ("evaluated_at", "stage_entered_at", "first_held_at", "deadline_at")


class Unloadable:
    """A file that is no case.

    Attributes:
        path: the file.
        diagnostics: every problem, each with its place.
    """

    __slots__ = ("diagnostics", "path")

    def __init__(self, path: str, diagnostics: Sequence[Diagnostic]) -> None:
        self.path = path
        self.diagnostics = diagnostics


class CaseLoader:
    """Reads cases; a policy that several of them name is read once."""

    def __init__(self) -> None:
        self._policies: dict[str, LoadedPolicy | PolicyError] = {}

    def load(self, path: str) -> LoadedCase | Unloadable:
        """The case in the file at *path*, or all that keeps it from being one."""
        data: bytes | None = None
        try:
            data = read_case_file(path)
            document = parsed(data, path)
        except (GoldenCaseError, DocumentError) as error:
            return Unloadable(path, [_whole_file(path, error)])
        problems = case_problems(document)
        if not problems:
            case, problems = self._with_references(path, document)
            if case is not None:
                return case
        from gatekeeper.documents.diagnostics import Severity, placed

        return Unloadable(path, placed(problems, Severity.ERROR, data, path))

    def policy(self, path: str) -> LoadedPolicy:
        """The policy in the file at *path*. Raises PolicyError."""
        if path not in self._policies:
            try:
                self._policies[path] = load_policy_document(read_policy_file(path), path)
            except PolicyError as error:
                self._policies[path] = error
        found = self._policies[path]
        if isinstance(found, PolicyError):
            raise found
        return found

    def _with_references(self, path: str, document: Mapping[str, Any]) -> tuple[LoadedCase | None, list[Problem]]:
        """The case with its policy and its snapshot, or what is wrong with these."""
        problems: list[Problem] = []
        folder = os.path.dirname(path)
        policy_path = os.path.normpath(os.path.join(folder, document["policy"]))
        try:
            policy = self.policy(policy_path)
        except PolicyError as error:
            problems.append(_reference("/policy", error))
        try:
            snapshot = _snapshot(document["snapshot"], folder)
        except InputRefusedError as error:
            problems.append(_reference("/snapshot", error))
        if problems:
            return None, problems
        case = LoadedCase(
            path=path,
            name=document["name"],
            event=document.get("event"),
            policy_path=policy_path,
            policy=policy,
            snapshot=snapshot,
            context=Context.from_dict(document["context"]),
            expect=document["expect"],
        )
        return case, []


def case_files(paths: Sequence[str]) -> list[str]:
    """The files that *paths* name: a directory stands for its JSON and YAML files, in the order of their names.

    Raises:
        GoldenCaseError: a directory cannot be read, or holds no case.
    """
    found: list[str] = []
    for path in paths:
        if not os.path.isdir(path):
            if not os.path.exists(path):
                raise GoldenCaseError(f"{path}: there is no such file or directory of golden cases", remedy=MAKE_ONE)
            found.append(path)
            continue
        try:
            names = sorted(name for name in os.listdir(path) if is_document_file(name) and not name.startswith("."))
        except OSError as error:
            raise GoldenCaseError(f"{path}: cannot be read: {error.strerror}", remedy="check the path") from None
        if not names:
            raise GoldenCaseError(f"{path}: no golden case (*.json, *.yaml) is in it", remedy=MAKE_ONE)
        found += [os.path.join(path, name) for name in names]
    return list(dict.fromkeys(found))


def read_case_file(path: str) -> bytes:
    """The bytes of a case. Raises GoldenCaseError if they cannot be read."""
    return read_file(path, what="golden case", error=GoldenCaseError, remedy="give the path of a case, or of a folder")


def case_problems(document: Any) -> list[Problem]:
    """All that keeps a JSON value from being a golden case; policy and snapshot by path are not looked at."""
    shown = document
    if isinstance(document, dict) and isinstance(document.get("snapshot"), dict):
        shown = {**document, "snapshot": {}}  # evidence of any shape is a finding, never an error
    problems = structural_problems(GoldenCase, shown, kind="golden", form=_FORM)
    if isinstance(document, dict):
        sound = soundness(problems)
        problems = [*problems, *(problem for problem in _rules(document) if sound(problem.pointer))]
    return problems


def _rules(document: Mapping[str, Any]) -> Iterator[Problem]:
    """What must hold beyond keys and types; a value of the wrong type is passed over."""
    for key, what in (("name", "what the case is about"), ("policy", "the path of the policy from the case's folder")):
        if isinstance(document.get(key), str) and not document[key].strip():
            yield Problem("golden.empty_text", f"/{key}", f"found an empty text; allowed: {what}")
    snapshot = document.get("snapshot")
    if "snapshot" in document and not isinstance(snapshot, (dict, str)):
        message = f"found {json_type(snapshot)}; allowed: a snapshot, or the path of one from the case's folder"
        yield Problem("golden.wrong_type", "/snapshot", message)
    context = document.get("context")
    times = context if isinstance(context, dict) else {}
    for key in _TIMES:
        stated = times.get(key)
        if isinstance(stated, str) and parse_time(stated) is None:
            message = f'found "{stated}"; allowed: a time with its zone, like 2026-02-18T01:00:00Z'
            yield Problem("golden.bad_time", f"/context/{key}", message)
    if document.get("expect") == {}:
        message = f"nothing is expected, so the case could not fail; allowed: one or more of {', '.join(EXPECTED)}"
        yield Problem("golden.nothing_expected", "/expect", message)


def _snapshot(stated: Any, folder: str) -> Snapshot:
    if isinstance(stated, dict):
        return snapshot_from_document(stated)
    path = os.path.normpath(os.path.join(folder, stated))
    data = read_file(path, what="snapshot", error=SnapshotError, remedy="correct the path")
    return read_snapshot(data, source=path)


def _reference(pointer: str, error: InputRefusedError) -> Problem:
    return Problem(
        f"golden{pointer.replace('/', '.')}_refused", pointer, error.message.replace("\n", "; "), error.remedy
    )


def _whole_file(path: str, error: GoldenCaseError | DocumentError) -> Diagnostic:
    from gatekeeper.documents.diagnostics import Diagnostic, Severity

    line, column = (error.line, error.column) if isinstance(error, DocumentError) else (None, None)
    message = error.message.removeprefix(path).lstrip(":0123456789 ")
    return Diagnostic(error.code, Severity.ERROR, "", line, column, message, error.remedy)
