"""`gatekeeper log head`, `log stat` and `log rebuild`: the log as a file, and what is derived from it."""

from __future__ import annotations

from gatekeeper.cli.compose import open_shared_or_file, who_asks
from gatekeeper.cli.present import page_outcome, told
from gatekeeper.errors import InputRefusedError
from gatekeeper.ledger.address import only_remote, shown_log
from gatekeeper.model.event import line_digest
from gatekeeper.orchestrator.gate import accept_gap
from gatekeeper.render.logs import head_page
from gatekeeper.render.page import Fields, Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values
    from gatekeeper.model.exchange import LogLine


def head(values: Values) -> Outcome:
    """`seq` and digest of the last event: noted elsewhere, they show a later cut."""
    remote = only_remote(values.texts("log"))
    if remote is not None:
        from gatekeeper.cli.remote import last_line_of

        last: LogLine | None = last_line_of(remote)
    else:
        last = _last_event(values.texts("log"))
    if last is None or last.event is None:
        raise InputRefusedError("the log has no event yet", remedy="make a first check, or name the log with --log")
    document: dict[str, Any] = {
        "log": last.source,
        "line": last.number,
        "seq": last.event.get("seq"),
        "event_id": last.event.get("event_id"),
        "ts": last.event.get("ts"),
        "digest": line_digest(last.data),
    }
    return page_outcome(head_page(document), values)


def stat(values: Values) -> Outcome:
    """Size, files, events, time span, counts, the chain, and what is kept beside the log."""
    from gatekeeper.ledger.statistics import shared_statistics, statistics
    from gatekeeper.render.retention import stat_page

    remote = only_remote(values.texts("log"))
    if remote is None:
        return page_outcome(stat_page(statistics(values.texts("log"))), values)
    from gatekeeper.cli.remote import open_shared

    return page_outcome(stat_page(shared_statistics(shown_log(remote), open_shared(remote).lines())), values)


def _last_event(paths: tuple[str, ...]) -> LogLine | None:
    """The last chained event; lines before it are passed over unparsed, files before its own unread."""
    from collections import deque

    from gatekeeper.ledger.log_files import log_files
    from gatekeeper.ledger.segments import lines_of
    from gatekeeper.replay.lines import parse_line

    for file in reversed(log_files(paths)):
        latest = deque(((number, data) for number, _, data, is_whole in lines_of(file) if is_whole), maxlen=100)
        for number, data in reversed(latest):
            line = parse_line(file.path, number, data)
            if line.event is not None and "kind" in line.event:
                return line
    return None


def rebuild(values: Values) -> Outcome:
    """Fold all runs from the log again; with --accept-gap, let incomplete histories go on."""
    ledger = open_shared_or_file(values.text("log"))
    view = ledger.rebuild()
    accepted = None
    warnings = tuple(view.warnings)
    reason = values.optional_text("accept_gap")
    if reason is not None:
        event = accept_gap(reason=reason, actor=who_asks(values.optional_text("actor")), ledger=ledger)
        accepted = event["event_id"]
        view = ledger.view()
        warnings = (*warnings, *view.warnings)
    incomplete = [run.run_id for run in view.runs() if run.history != "complete"]
    document = {
        "log": shown_log(values.text("log")),
        "runs": len(view.runs()),
        "complete": view.is_complete,
        "incomplete_runs": incomplete,
        "accepted_by": accepted,
    }
    pairs = [
        (key.replace("_", " "), [str(item) for item in (value if isinstance(value, list) else [value])])
        for key, value in document.items()
        if value not in (None, [])
    ]
    ledger.close()
    return page_outcome(
        Page("state rebuilt from the log", [Fields(pairs)], document=document), values, stderr=told(warnings)
    )
