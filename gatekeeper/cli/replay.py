"""`gatekeeper replay`: query the decision log."""

from __future__ import annotations

from gatekeeper.cli.compose import SystemClock, log_lines
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.present import layout_of_output, page_outcome
from gatekeeper.errors import UsageError
from gatekeeper.render import load
from gatekeeper.render.logs import group_page, replay_page
from gatekeeper.replay.query import Filter, select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.cli.values import Values
    from gatekeeper.model.exchange import LogLine

FOLLOW_SECONDS = 0.5
"""How often a growing log is looked at."""


def replay(values: Values) -> Outcome:
    """List, count or follow the events that the filters mean."""
    wanted = _filter(values)
    if values.flag("follow"):
        return Outcome(_follow(values, wanted))
    damaged: list[LogLine] = []
    found = select(log_lines(values.texts("log")), wanted, damaged=damaged)
    fields = values.texts("group_by")
    if fields:
        from gatekeeper.replay.group import group

        rows = [row.to_dict() for row in group(found, fields)]
        return page_outcome(group_page(fields, rows, damaged=_named(damaged)), values, stderr=_told(damaged))
    lines = list(found)
    page = replay_page(
        [line.event for line in lines if line.event is not None],
        lines=[line.data for line in lines],
        damaged=_named(damaged),
    )
    return page_outcome(page, values, stderr=_told(damaged))


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

    from gatekeeper.replay.follow import FileTail, follow

    paths = values.texts("log")
    if len(paths) != 1:
        raise UsageError("--follow reads one log", remedy="give --log one file")

    def pause() -> bool:
        time.sleep(FOLLOW_SECONDS)
        return True

    render, layout = load(values.text("output")), layout_of_output()
    for line in select(follow(FileTail(paths[0]).read, pause), wanted):
        if line.event is None:
            continue
        if values.text("output") == "ndjson":
            yield line.data + b"\n"
        else:
            yield render.page(replay_page([line.event], lines=[line.data]), layout)


def _named(damaged: list[LogLine]) -> list[dict[str, object]]:
    return [{"source": line.source, "line": line.number, "problem": line.problem} for line in damaged]


def _told(damaged: list[LogLine]) -> tuple[str, ...]:
    return tuple(f"gatekeeper: {line.source}:{line.number}: {line.problem} line, passed over" for line in damaged)
