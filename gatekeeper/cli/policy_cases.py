"""Golden cases from the log: `policy test --from-log` makes them, `policy suggest-cases` says which are worth it."""

from __future__ import annotations

import os

from gatekeeper.cli.present import page_outcome, told
from gatekeeper.cli.whole_file import replace_file
from gatekeeper.errors import GoldenCaseError, LogError, PolicyError, UsageError
from gatekeeper.ledger.address import shown_log
from gatekeeper.model.document import is_document_file
from gatekeeper.render.policy_test import made_page, suggestions_page
from gatekeeper.review.golden.judge import judge
from gatekeeper.review.golden.load import DEFAULT_DIRECTORY, CaseLoader, Unloadable, case_files
from gatekeeper.review.golden.recorded import case_bytes, case_of, file_name
from gatekeeper.review.golden.suggest import recurring, without_case

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values
    from gatekeeper.review.golden.case import LoadedCase
    from gatekeeper.review.golden.suggest import Suggestion

OFTEN = 2
"""In how many decisions something must stand to recur, unless a caller says otherwise."""


def make_cases(values: Values) -> Outcome:
    """Write a case for each event of `--from-log`; nothing is written if one cannot be, and no file is replaced."""
    from gatekeeper.cli.explain import find_in_log

    if values.text("output") == "junit":
        raise UsageError(
            "--from-log makes cases and runs none, so there is no test report", remedy="use another output"
        )
    directories = values.texts("cases") or (DEFAULT_DIRECTORY,)
    if len(directories) != 1 or os.path.isfile(directories[0]):
        raise UsageError("--from-log writes into one directory", remedy="give one DIR, or none for policies/golden")
    directory, loader = directories[0], CaseLoader()
    events = [find_in_log(values.texts("log"), wanted) for wanted in values.texts("from_log")]
    files: dict[str, bytes] = {}
    for event in events:
        policy_path = values.optional_text("policy") or _policy_of(event, directory, loader)
        loader.policy(policy_path)
        document = case_of(event, os.path.relpath(policy_path, directory))
        path = os.path.join(directory, file_name(document["event"]))
        if os.path.lexists(path):
            raise GoldenCaseError(f"{path}: there is a file already", remedy="keep it, or move it away first")
        files[path] = case_bytes(document)
    for path, data in files.items():
        _create(path, data)
    written, notes = [], []
    for path in files:
        case = loader.load(path)
        if isinstance(case, Unloadable):  # pragma: no cover - a recorded decision has all that a case needs
            raise GoldenCaseError("\n".join(one.text(path) for one in case.diagnostics), remedy="correct the case")
        passes = judge(case).passes
        verdict = case.expect.get("verdict")
        written.append({"file": path, "event": case.event, "verdict": verdict, "passes": passes})
        if not passes:
            notes.append(
                f"{path}: {case.policy_path} answers otherwise than was recorded: gatekeeper policy test {path}"
            )
    return page_outcome(made_page(written), values, stderr=told(tuple(notes)))


def suggest(values: Values) -> Outcome:
    """What recurs and has no case; a case that does not load is named on standard error and covers nothing."""
    from gatekeeper.cli.compose import SystemClock
    from gatekeeper.cli.damaged import as_documents, as_words
    from gatekeeper.cli.opened import opened_log, watched
    from gatekeeper.cli.pruned import known_pruned, last_seq_of, pruned_words
    from gatekeeper.replay.query import Filter
    from gatekeeper.replay.scan import Pace, Scan

    cases, notes = _cases(values.texts("cases"))
    wanted = Filter(
        policy=values.optional_text("policy"),
        since=values.since("since", now=SystemClock().now()),
        include_simulated=values.flag("simulated"),
    )
    pruned = known_pruned(values.texts("log"))
    with opened_log(values.texts("log")) as sources, watched("counting") as progress:
        scan = Scan(sources, wanted, Pace(progress=progress), pruned_to=last_seq_of(pruned))
        found = recurring(line.event for line in scan.lines() if line.event is not None)
    least = values.integer("at_least") or OFTEN
    open_ones = without_case(found, cases, at_least=least)
    covered = sum(one.count >= least for one in found) - len(open_ones)
    page = suggestions_page(
        [one.to_dict() for one in open_ones], [_command(one, values) for one in open_ones], covered=covered
    )
    removed = pruned_words(pruned) if scan.holes.reaches_pruned else ()
    words = (*as_words(as_documents(scan.holes.damaged)), *removed, *told(tuple(notes)))
    return page_outcome(page, values, stderr=words)


def rewrite_case(path: str, data: bytes) -> None:
    """Put *data* in the place of a case's file. Raises LogError."""
    try:
        replace_file(path, data)
    except OSError as error:
        raise _unwritable(path, error) from None


def _create(path: str, data: bytes) -> None:
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "xb") as file:
            file.write(data)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: str, error: OSError) -> LogError:
    failed = LogError(f"{path} cannot be written: {error.strerror}", remedy="mend that, and give the command again")
    failed.code = "golden.unwritable"
    return failed


def _policy_of(event: Mapping[str, Any], directory: str, loader: CaseLoader) -> str:
    """The one policy beside the cases that has the event's `policy_id`. Raises GoldenCaseError."""
    beside = os.path.dirname(os.path.normpath(directory)) or "."
    found = []
    for name in sorted(os.listdir(beside)) if os.path.isdir(beside) else ():
        path = os.path.join(beside, name) if beside != "." else name
        if is_document_file(name) and os.path.isfile(path) and _has_id(path, event, loader):
            found.append(path)
    if len(found) == 1:
        return found[0]
    what = f"several policies in {beside} have" if found else f"no policy in {beside} has"
    raise GoldenCaseError(
        f"{what} the policy_id {event.get('policy_id')!r} of event {event.get('event_id')}"
        + (f": {', '.join(found)}" if found else ""),
        remedy="name it with --policy FILE",
    )


def _has_id(path: str, event: Mapping[str, Any], loader: CaseLoader) -> bool:
    try:
        return loader.policy(path).policy.policy_id == event.get("policy_id")
    except (PolicyError, UsageError):  # another kind of file, or one that `policy check` will tell about
        return False


def _cases(paths: tuple[str, ...]) -> tuple[list[LoadedCase], list[str]]:
    """The cases, and a word for each that does not load; without a directory of cases there is none."""
    if not paths and not os.path.isdir(DEFAULT_DIRECTORY):
        return [], [f"there is no {DEFAULT_DIRECTORY} yet: nothing has a case"]
    loader, cases, notes = CaseLoader(), list["LoadedCase"](), list[str]()
    for path in case_files(paths or (DEFAULT_DIRECTORY,)):
        case = loader.load(path)
        if isinstance(case, Unloadable):
            notes.append(f"{path} does not load: gatekeeper policy test {path}")
        else:
            cases.append(case)
    return cases, notes


def _command(one: Suggestion, values: Values) -> list[str]:
    words = ["gatekeeper", "policy", "test", *values.texts("cases")[:1], "--from-log", one.last]
    from gatekeeper.cli.tables.shared import DEFAULT_LOG

    logs = values.texts("log")
    return words if logs == (DEFAULT_LOG,) else [*words, *(word for log in logs for word in ("--log", shown_log(log)))]
