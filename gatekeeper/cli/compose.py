"""The only place that wires real parts together: the clock, the ledger, policies and evidence from files."""

from __future__ import annotations

import os
import sys
import time

from gatekeeper.cli.output import say_once
from gatekeeper.errors import PolicyError, SnapshotError, StateUnreadableError, UsageError
from gatekeeper.ledger.address import is_remote, only_remote, refuse_remote
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.canonical import digest
from gatekeeper.model.document import parse_json
from gatekeeper.model.masking import mask_url
from gatekeeper.model.policy import loaded_policy
from gatekeeper.model.snapshot import read_snapshot, with_baseline
from gatekeeper.review.load import load_policy_document, parse_policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.errors import InputRefusedError
    from gatekeeper.ledger.projection_view import ProjectionView
    from gatekeeper.model.exchange import LogLine
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.model.run import Run
    from gatekeeper.model.snapshot import Snapshot
    from gatekeeper.ports import EventIndex, Ledger, SharedLedger

STANDARD_INPUT = "-"

CI_ACTORS = (
    "GITHUB_ACTOR",
    "GITLAB_USER_LOGIN",
    "BUILDKITE_BUILD_CREATOR",
    "BUILD_USER_ID",  # Jenkins, build user vars plugin
    "CIRCLE_USERNAME",
    "BUILD_REQUESTEDFOR",  # Azure Pipelines
    "DRONE_COMMIT_AUTHOR",
    "BITBUCKET_STEP_TRIGGERER_UUID",
)
"""Variables in which CI systems state who triggered the job."""


class SystemClock:
    """The host's clock."""

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return time.time_ns() // 1000


class TellingLedger(NdjsonLedger):
    """The file ledger that tells what it noticed as soon as it was read.

    A view's warnings are told once: whoever reads first would lose them if its command then failed.
    """

    def view(self) -> ProjectionView:
        """As `NdjsonLedger.view`."""
        view = super().view()
        for warning in view.warnings:
            say_once(f"gatekeeper: {warning}")
        return view


def open_ledger(log: str, *, rotate_bytes: int | None = None) -> Ledger:
    """The ledger that `--log` names; nothing is created before the first event.

    Raises:
        UsageError: its address cannot be read or needs what is not installed, or it is no file and is to be rotated.
    """
    if not is_remote(log):
        return open_file_ledger(log, rotate_bytes=rotate_bytes)
    if rotate_bytes is not None:
        refuse_remote(log, what="it has no size to be rotated at", instead="leave --rotate-bytes and rotate_bytes out")
    return open_shared_or_file(log)


def open_shared_or_file(log: str) -> NdjsonLedger | SharedLedger:
    """The same with what both kinds have besides the port. Raises UsageError."""
    if not is_remote(log):
        return open_file_ledger(log)
    from gatekeeper.cli.remote import open_shared

    return open_shared(log)


def open_file_ledger(path: str, *, rotate_bytes: int | None = None) -> NdjsonLedger:
    """The file ledger at *path*, for what only a file can do (`log rotate`)."""
    return TellingLedger(path, clock=SystemClock(), rotate_bytes=rotate_bytes)


def who_asks(stated: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """`--actor`, else what the CI system states in its environment, else the user of this machine."""
    if stated is not None:
        return stated
    for variable in CI_ACTORS:
        if environ.get(variable):
            return environ[variable]
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid:{os.getuid()}"


def read_bytes(
    path: str, *, what: str, error: type[InputRefusedError] = SnapshotError, remedy: str | None = None
) -> bytes:
    """Bytes of a file, or of standard input for `-`. Raises *error* (65), which names path and *what*."""
    try:
        if path == STANDARD_INPUT:
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError, AttributeError) as failed:
        reason = getattr(failed, "strerror", None) or str(failed)
        raise error(
            f"{path}: the {what} cannot be read: {reason}", remedy=remedy or f"give the path of a readable {what}"
        ) from None


def read_policy(path: str, ledger: Ledger) -> LoadedPolicy:
    """The policy in a file; one that the log holds by digest was validated when it was recorded.

    Raises:
        PolicyError, DocumentError: it does not load (65).
    """
    data = read_bytes(path, what="policy", error=PolicyError)
    document = parse_policy(data, path)
    if _is_known(document, ledger):
        return loaded_policy(document, source=path)
    return load_policy_document(data, path)


def _is_known(document: Mapping[str, Any], ledger: Ledger) -> bool:
    try:
        return ledger.view().policy(digest(document)) is not None
    except StateUnreadableError:
        return False  # nothing can be looked up: it is validated again


def read_evidence(snapshot_path: str, baseline_path: str | None) -> Snapshot:
    """A snapshot file, with the content of a baseline file as its baseline part.

    Raises:
        SnapshotError, DocumentError: a file that is not one JSON object (65).
        UsageError: both state a baseline, or both are standard input (64).
    """
    if snapshot_path == STANDARD_INPUT == baseline_path:
        raise UsageError("--snapshot and --baseline cannot both be standard input", remedy="give one of them as a file")
    snapshot = read_snapshot(read_bytes(snapshot_path, what="snapshot"), source=snapshot_path)
    if baseline_path is None:
        return snapshot
    if snapshot.document.get("baseline") is not None:
        raise UsageError(
            f"{snapshot_path} has a baseline part, and --baseline {baseline_path} was given too",
            remedy="leave one of the two out",
        )
    return with_baseline(snapshot, read_snapshot(read_bytes(baseline_path, what="baseline"), source=baseline_path))


def source_of(snapshot_path: str, baseline_path: str | None) -> dict[str, Any] | None:
    """How `reevaluate` can read the evidence again; None for standard input and for a path that is not UTF-8."""
    if STANDARD_INPUT in {snapshot_path, baseline_path}:
        return None
    snapshot = os.path.abspath(snapshot_path)
    baseline = None if baseline_path is None else os.path.abspath(baseline_path)
    try:
        f"{snapshot}{baseline}".encode()
    except UnicodeEncodeError:  # no event could hold it
        return None
    return {"kind": "file", "snapshot": snapshot, "baseline": baseline}


def read_references(given: tuple[str, ...]) -> dict[str, str]:
    """`--evidence K=V` and JSON files of references, later ones winning.

    Raises:
        UsageError: it is neither of the two, or names `approval`, which only an approval event can meet (64).
    """
    references: dict[str, str] = {}
    for item in given:
        name, equals, value = item.partition("=")
        if equals and name:
            references[name] = value
            continue
        if not os.path.exists(item):
            raise UsageError(
                f"--evidence {item!r} is neither KEY=VALUE nor a file",
                remedy="write it like --evidence change_id=CHG-123",
            )
        document = parse_json(read_bytes(item, what="evidence"), source=item)
        if not isinstance(document, dict) or not all(isinstance(value, str) for value in document.values()):
            raise UsageError(
                f"{item}: a file of evidence is one JSON object of texts", remedy='write {"change_id": "CHG-123"}'
            )
        references.update(document)
    if "approval" in references:
        raise UsageError(
            "approval is never a reference: only an approval event of this run, stage and revision meets it",
            remedy="leave --evidence approval=… out",
        )
    # a dashboard's address stays one that people can follow; who signed in with it is nobody's business
    return {name: mask_url(value, keep_query=True) for name, value in references.items()}


def log_lines(
    paths: tuple[str, ...],
    may_match: Callable[[bytes], bool] | None = None,
) -> Iterator[LogLine]:
    """Every line of the logs that `--log` names, in chain order.

    Args:
        may_match: lines in whose bytes it finds nothing to look for are passed over unparsed.

    Raises:
        LogError: a file cannot be read, a ledger cannot be reached.
    """
    from gatekeeper.replay.lines import parse_line

    remote = only_remote(paths)
    if remote is not None:
        from gatekeeper.cli.remote import log_lines_of

        yield from log_lines_of(remote, may_match)
        return
    from gatekeeper.ledger.reading import raw_lines

    for path, number, data, is_terminated in raw_lines(paths):
        if may_match is None or not is_terminated or may_match(data):
            yield parse_line(path, number, data, is_terminated=is_terminated)


def sealed_lines(path: str, after: int) -> Iterator[LogLine]:
    """The lines behind a seq in the files of a log that are not appended to any more. Raises as `log_lines` does."""
    from gatekeeper.ledger.segments import files_of, lines_of
    from gatekeeper.model.line import is_blank
    from gatekeeper.replay.lines import parse_line

    for file in files_of(path):
        if file.is_live or (file.last_seq or 0) <= after:
            continue
        for number, _, data, is_terminated in lines_of(file):
            if not is_blank(data):
                yield parse_line(file.path, number, data, is_terminated=is_terminated)


def log_index(paths: tuple[str, ...]) -> EventIndex | None:
    """The index over the events of the one log that `--log` names; None where the log itself must be read."""
    remote = only_remote(paths)
    if remote is not None:
        from gatekeeper.cli.remote import open_shared

        return open_shared(remote).index()
    if len(paths) != 1 or has_pattern(paths[0]):
        return None
    from gatekeeper.ledger.indexing import open_index

    index, warnings = open_index(paths[0])
    for warning in warnings:
        say_once(f"gatekeeper: {warning}")
    return index


def logged_runs(paths: tuple[str, ...]) -> tuple[Sequence[Run], Sequence[str]]:
    """All runs in the order of their first events, and what the reader noticed.

    One log is asked through its projection; several files are folded here, and nothing is written.
    """
    remote = only_remote(paths)
    if remote is not None:
        view = open_ledger(remote).view()
        return view.runs(), (*view.warnings, *(() if view.runs() else missing_log(remote)))
    if len(paths) == 1 and not has_pattern(paths[0]):
        view = open_ledger(paths[0]).view()
        return view.runs(), (*view.warnings, *missing_log(paths[0]))
    from gatekeeper.ledger.several import fold_files

    return fold_files(paths)


def missing_log(path: str) -> tuple[str, ...]:
    """What a person is told whose log does not exist yet, or is named wrongly."""
    if is_remote(path):
        from gatekeeper.cli.remote import no_event_words, open_shared

        return () if open_shared(path).head()["seq"] else (no_event_words(path),)
    return () if os.path.exists(path) else (f"there is no log at {os.path.abspath(path)} yet",)


def has_pattern(path: str) -> bool:
    """Whether a `--log` is a pattern over several files."""
    return not is_remote(path) and any(sign in path for sign in "*?[") and not os.path.exists(path)
