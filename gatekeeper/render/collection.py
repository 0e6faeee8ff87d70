"""What was collected, as a table that a person can act on: each query, its value, watermark, age and trouble."""

from __future__ import annotations

from gatekeeper.model.masking import mask_text
from gatekeeper.model.snapshot import meta_of
from gatekeeper.model.times import MICROSECONDS, parse_time
from gatekeeper.render.page import BAD, GOOD, HELD, Column, Fields, Lines, Page, Row, Table
from gatekeeper.render.sentences import NONE, second_text, time_text, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gatekeeper.render.page import Block

_MOST_NAMES = 10  # in a sentence; the table of --verbose has all
_LONGEST_NAME = 100

_COLUMNS = (
    Column("metric", code=True),
    Column("of"),
    Column("value", right=True),
    Column("watermark"),
    Column("age", right=True),
    Column("covered", right=True),
    Column("problem", code=True),
)


def observations_page(snapshot: Mapping[str, Any]) -> Page:
    """The observations of a collected snapshot, variant and baseline.

    Args:
        snapshot: the wrapped document.
    """
    rows = [_row(*item) for item in _observations(snapshot)]
    troubled = sum(row.tone == HELD for row in rows)
    meta = meta_of(snapshot)
    facts = [
        ("asked for", [time_text(meta.get("query_time"))]),
        ("collected", [time_text(meta.get("collected_at"))]),
        ("window", [value_text(meta.get("window"))]),
    ]
    blocks: list[Block] = [Fields(facts), Table(_COLUMNS, rows, detail="query")]
    skew = _ages(meta)
    if skew:
        blocks.append(Lines(skew, title="sources"))
    plural = "" if len(rows) == 1 else "s"
    headline = f"{len(rows)} observation{plural}, {troubled} with a problem"
    tone = HELD if troubled else GOOD if rows else BAD
    return Page(headline, blocks, document=snapshot, tone=tone)


def problem_lines(snapshot: Mapping[str, Any]) -> list[str]:
    """One sentence for each trouble, with all that it hit: a source that is down is one trouble."""
    hit: dict[tuple[str, str], list[str]] = {}
    for side, metric, observation in _observations(snapshot):
        problem = observation.get("problem")
        if isinstance(problem, dict):
            trouble = value_text(problem.get("code")), mask_text(str(problem.get("detail")))
            hit.setdefault(trouble, []).append(metric if side == "variant" else f"baseline.{metric}")
    return [f"{code}: {_listed(metrics)}: {detail}" for (code, detail), metrics in hit.items()]


def _listed(metrics: list[str]) -> str:
    names = [
        metric if len(metric) <= _LONGEST_NAME else f"{metric[:_LONGEST_NAME]}..." for metric in metrics[:_MOST_NAMES]
    ]
    more = len(metrics) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _observations(snapshot: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    baseline = snapshot.get("baseline")
    for side, part in (("variant", snapshot), ("baseline", baseline)):
        if not isinstance(part, dict):
            continue
        metrics = part.get("metrics") or {}
        for metric, observation in (part.get("observations") or {}).items():
            known = {**observation, "value": metrics.get(metric), "collected_at": meta_of(part).get("collected_at")}
            yield side, metric, known


def _row(side: str, metric: str, observation: Mapping[str, Any]) -> Row:
    problem = observation.get("problem")
    watermark = observation.get("watermark_event_time")
    value = observation.get("value")
    coverage = observation.get("coverage_ratio")
    detail = str(observation.get("query") or observation.get("pointer") or observation.get("endpoint") or "")
    if problem is not None:
        trouble = mask_text(str(problem.get("detail")))
        detail = f"{trouble}  <-  {detail}" if detail else trouble
    return Row(
        metric,
        side,
        value_text(observation.get("value_text") if value is None else value),
        NONE if watermark is None else second_text(watermark),
        _age(observation.get("collected_at"), watermark),
        NONE if coverage is None else f"{round(100 * coverage)} %",
        NONE if problem is None else value_text(problem.get("code")),
        detail=detail,
        tone=GOOD if problem is None else HELD,
    )


def _age(collected_at: object, watermark: object) -> str:
    now, then = parse_time(collected_at), parse_time(watermark)
    return NONE if now is None or then is None else f"{(now - then) / MICROSECONDS:.1f} s"


def _ages(meta: Mapping[str, Any]) -> list[str]:
    """Each source with its age and its metrics, the oldest first."""
    sources = meta.get("sources")
    listed = [source for source in sources if isinstance(source, dict)] if isinstance(sources, list) else []
    listed.sort(key=lambda source: str(source.get("watermark_event_time") or ""))
    return [
        f"{value_text(source.get('name'))}: {_age(meta.get('collected_at'), source.get('watermark_event_time'))} old"
        f" ({', '.join(map(str, source.get('metrics') or ()))})"
        for source in listed
    ]
