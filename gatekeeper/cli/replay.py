"""`gatekeeper replay`: query the decision log."""

from __future__ import annotations

from gatekeeper.cli.compose import SystemClock, log_index, sealed_lines
from gatekeeper.cli.damaged import as_documents, as_words, hole_words
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.output import say_once
from gatekeeper.cli.present import layout_of_output, page_outcome, told
from gatekeeper.cli.pruned import known_pruned, last_seq_of
from gatekeeper.errors import LogDamagedError, UsageError, unreadable_log
from gatekeeper.ledger.address import is_remote, shown_log
from gatekeeper.model.exchange import LogLine
from gatekeeper.model.indexed import IndexUnusableError
from gatekeeper.model.line import decode
from gatekeeper.render import load
from gatekeeper.render.logs import group_page, replay_page, replay_row
from gatekeeper.render.page import Page
from gatekeeper.replay.query import Filter, select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.cli.values import Values
    from gatekeeper.ledger.pruned import Pruned
    from gatekeeper.ports import EventIndex
    from gatekeeper.replay.follow import FileTail, LedgerTail
    from gatekeeper.replay.group import GroupRow
    from gatekeeper.replay.holes import Holes
    from gatekeeper.replay.indexed import IndexedQuery

FOLLOW_SECONDS = 0.5
"""How often a growing log is looked at."""


def replay(values: Values) -> Outcome:
    """List, count or follow the events that the filters mean."""
    wanted = _filter(values)
    if values.flag("follow"):
        return Outcome(_follow(values, wanted))
    index = log_index(values.texts("log"))
    if index is not None:
        try:
            return _from_index(index, wanted, values)
        except IndexUnusableError:
            index.close()
    return _from_lines(wanted, values)


def _from_index(index: EventIndex, wanted: Filter, values: Values) -> Outcome:
    """Raises IndexUnusableError where the lines must be read."""
    from gatekeeper.replay.indexed import IndexedQuery

    pruned = known_pruned(values.texts("log"))
    query = IndexedQuery(index, wanted, pruned_to=last_seq_of(pruned))
    if values.texts("group_by"):
        outcome = _grouped(query.groups(values.texts("group_by")), query.holes, pruned, values)
    elif values.text("output") == "ndjson":
        return Outcome(_recorded(index, query), stderr=hole_words(query.holes, pruned))
    else:
        lines = [LogLine("", 0, data, decode(data)) for data in query.data()]
        outcome = _listed(lines, query.holes, pruned, values)
    index.close()
    return outcome


def _recorded(index: EventIndex, query: IndexedQuery) -> Iterator[bytes]:
    try:
        for data in query.data():
            yield data + b"\n"
    except IndexUnusableError as error:
        raise LogDamagedError(f"the log is not as it was recorded: {error}", remedy="see gatekeeper verify") from None
    finally:
        index.close()


def _from_lines(wanted: Filter, values: Values) -> Outcome:
    from gatekeeper.cli.opened import opened_log, watched
    from gatekeeper.replay.scan import Pace, Scan

    fields = values.texts("group_by")
    if values.text("output") == "ndjson" and not fields:
        return Outcome(_found(wanted, values))
    pruned = known_pruned(values.texts("log"))
    with opened_log(values.texts("log")) as sources, watched("searching") as progress:
        scan = Scan(sources, wanted, Pace(progress=progress), pruned_to=last_seq_of(pruned))
        if fields:
            return _grouped(scan.groups(fields), scan.holes, pruned, values)
        return _listed(list(scan.lines()), scan.holes, pruned, values)


def _found(wanted: Filter, values: Values) -> Iterator[bytes]:
    """Each line as soon as it is found: there may be more of them than memory."""
    from gatekeeper.cli.opened import opened_log
    from gatekeeper.replay.scan import Scan

    pruned = known_pruned(values.texts("log"))
    with opened_log(values.texts("log")) as sources:
        scan = Scan(sources, wanted, pruned_to=last_seq_of(pruned))
        for data in scan.data():
            yield data + b"\n"
    for line in hole_words(scan.holes, pruned):
        say_once(line)


def _grouped(rows: Sequence[GroupRow], holes: Holes, pruned: Pruned | None, values: Values) -> Outcome:
    documents = [row.to_dict() for row in rows]
    page = group_page(values.texts("group_by"), documents, damaged=as_documents(holes.damaged))
    return page_outcome(page, values, stderr=hole_words(holes, pruned))


def _listed(lines: Sequence[LogLine], holes: Holes, pruned: Pruned | None, values: Values) -> Outcome:
    page = replay_page(
        [line.event for line in lines if line.event is not None],
        lines=[line.data for line in lines],
        damaged=as_documents(holes.damaged),
        gaps=[gap.to_dict() for gap in holes.gaps],
        pruned_to=last_seq_of(pruned) if holes.reaches_pruned else None,
    )
    return page_outcome(page, values, stderr=hole_words(holes, pruned))


def _filter(values: Values) -> Filter:
    since, until = values.time_range(now=SystemClock().now())
    return Filter(
        run=values.optional_text("run"),
        experiment=values.optional_text("experiment"),
        verdicts=frozenset(values.texts("verdict")),
        stage=values.optional_text("stage"),
        reason=values.optional_text("reason"),
        policy=values.optional_text("policy"),
        since=since,
        until=until,
        kinds=frozenset(values.texts("kind")),
        limit=values.integer("limit"),
    )


def _tail(log: str) -> tuple[FileTail | LedgerTail, float]:
    """What reads a growing log, and how often."""
    from gatekeeper.replay.follow import FileTail, LedgerTail

    if not is_remote(log):
        return FileTail(log, sealed=lambda seq: sealed_lines(log, seq)), FOLLOW_SECONDS
    from gatekeeper.cli.remote import follow_seconds, open_shared

    ledger = open_shared(log)
    return LedgerTail(shown_log(log), lambda seq: ledger.lines(after=seq)), follow_seconds(log)


def _follow(values: Values, wanted: Filter) -> Iterator[str | bytes]:
    import time

    from gatekeeper.replay.follow import follow
    from gatekeeper.replay.holes import Holes

    paths, output = values.texts("log"), values.text("output")
    if len(paths) != 1:
        raise UsageError("--follow reads one log", remedy="give --log one file")
    if output == "json":
        raise UsageError("--follow has no end, and json is one document", remedy="use --output ndjson")
    tail, seconds = _tail(paths[0])
    holes = Holes(since=wanted.since, until=wanted.until)

    def read_new() -> Iterator[LogLine]:
        try:
            yield from tail.read()
        except OSError as error:
            raise unreadable_log(paths[0], error) from None
        for line in (*as_words(as_documents(holes.damaged)), *told(tuple(tail.warnings))):
            say_once(line)
        holes.forget()
        tail.warnings.clear()

    def pause() -> bool:
        time.sleep(seconds)
        return True

    render, layout = load(output), layout_of_output()
    for line in select(follow(read_new, pause), wanted, holes=holes):
        if line.event is None:
            continue
        if output == "ndjson":
            yield line.data + b"\n"
        else:
            row = replay_row(line.event)
            words = "  ".join(part for part in (*row.cells, row.detail) if part)
            yield render.page(Page(words, [], document={}, tone=row.tone), layout)
