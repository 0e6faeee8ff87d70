"""`gatekeeper replay`: query the decision log."""

from __future__ import annotations

from gatekeeper.cli.compose import SystemClock, log_lines
from gatekeeper.cli.damaged import as_documents, as_words
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.present import layout_of_output, page_outcome, told
from gatekeeper.errors import LogError, UsageError
from gatekeeper.model.exchange import LogLine
from gatekeeper.render import load
from gatekeeper.render.logs import group_page, replay_page, replay_row
from gatekeeper.render.page import Page
from gatekeeper.replay.gaps import GapWatch
from gatekeeper.replay.prefilter import prefilter
from gatekeeper.replay.query import Filter, select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.cli.values import Values

FOLLOW_SECONDS = 0.5
"""How often a growing log is looked at."""


def replay(values: Values) -> Outcome:
    """List, count or follow the events that the filters mean."""
    wanted = _filter(values)
    if values.flag("follow"):
        return Outcome(_follow(values, wanted))
    damaged: list[LogLine] = []
    watch = GapWatch()
    found = select(log_lines(values.texts("log"), prefilter(wanted), watch.see), wanted, damaged=damaged)
    fields = values.texts("group_by")
    if fields:
        from gatekeeper.replay.group import group

        rows = [row.to_dict() for row in group(found, fields)]
        page = group_page(fields, rows, damaged=as_documents(damaged))
        return page_outcome(page, values, stderr=(*as_words(as_documents(damaged)), *_missing(watch)))
    lines = list(found)
    page = replay_page(
        [line.event for line in lines if line.event is not None],
        lines=[line.data for line in lines],
        damaged=as_documents(damaged),
        gaps=[gap.to_dict() for gap in watch.gaps],
    )
    return page_outcome(page, values, stderr=(*as_words(as_documents(damaged)), *_missing(watch)))


def _missing(watch: GapWatch) -> tuple[str, ...]:
    return told(
        tuple(
            f"the log lacks seq {gap.from_seq}" + ("" if gap.to_seq == gap.from_seq else f" to {gap.to_seq}")
            for gap in watch.gaps
        )
    )


def _filter(values: Values) -> Filter:
    return Filter(
        run=values.optional_text("run"),
        experiment=values.optional_text("experiment"),
        verdicts=frozenset(values.texts("verdict")),
        stage=values.optional_text("stage"),
        reason=values.optional_text("reason"),
        policy=values.optional_text("policy"),
        since=values.since("since", now=SystemClock().now()),
        until=values.time("until"),
        kinds=frozenset(values.texts("kind")),
        limit=values.integer("limit"),
    )


def _follow(values: Values, wanted: Filter) -> Iterator[str | bytes]:
    import time

    from gatekeeper.cli.output import say_once
    from gatekeeper.replay.follow import FileTail, follow

    paths, output = values.texts("log"), values.text("output")
    if len(paths) != 1:
        raise UsageError("--follow reads one log", remedy="give --log one file")
    if output == "json":
        raise UsageError("--follow has no end, and json is one document", remedy="use --output ndjson")
    tail, damaged = FileTail(paths[0]), list[LogLine]()

    def read_new() -> Iterator[LogLine]:
        try:
            yield from tail.read()
        except OSError as error:
            raise LogError(
                f"{paths[0]} cannot be read: {error.strerror or error}", remedy="check the path given as --log"
            ) from None
        for line in (*as_words(as_documents(damaged)), *told(tuple(tail.warnings))):
            say_once(line)
        damaged.clear()
        tail.warnings.clear()

    def pause() -> bool:
        time.sleep(FOLLOW_SECONDS)
        return True

    render, layout = load(output), layout_of_output()
    for line in select(follow(read_new, pause), wanted, damaged=damaged):
        if line.event is None:
            continue
        if output == "ndjson":
            yield line.data + b"\n"
        else:
            row = replay_row(line.event)
            words = "  ".join(part for part in (*row.cells, row.detail) if part)
            yield render.page(Page(words, [], document={}, tone=row.tone), layout)
