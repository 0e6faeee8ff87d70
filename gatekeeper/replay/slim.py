"""A decision without its bulk: findings, evidence and context are cut out of the bytes before the rest is read.

What nobody filters or counts by is four fifths of a line. The cuts are made where the ledger's own lines have them:
findings and context hold no lists or objects of other people's making, and the evidence, which may hold anything, is
found from both sides. So what stands in the evidence never passes for the decision.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.replay.needles import LineSearch
    from gatekeeper.replay.query import Filter

_CONTEXT = b'"context":{'
_FINDINGS = b'},"decision":{"findings":['
_SNAPSHOT = b'"metrics_snapshot":{'
_BEHIND_SNAPSHOT = b'},"policy_digest":"'

_BEHIND_FINDINGS = b'],"reason_codes":['  # where the reading goes on behind findings, actions and notes
_EVALUATOR = b',"evaluator":"'
_KIND_AND_SNAPSHOT = b'"kind":"decision",' + _SNAPSHOT
_END = b',"kind":"decision"}'

_IN_SHORT = frozenset({"verdict", "reason", "kind", "actor"})
"""What the short form of a decision is enough for."""


def is_short_enough(wanted: Filter, fields: tuple[str, ...]) -> bool:
    """Whether nothing is asked but what `short_text` holds."""
    asked = (wanted.run, wanted.experiment, wanted.stage, wanted.policy, wanted.since, wanted.until)
    return all(one is None for one in asked) and not wanted.policy_ids and _IN_SHORT.issuperset(fields)


def short_text(data: bytearray, position: int, stop: int, search: LineSearch, end: int) -> bytes | None:
    """A decision's line without all that makes it different from other decisions with the same outcome.

    Args:
        position, stop: where the line begins, and where its newline stands.
        search, end: searches the block up to *end*, where the newline of a line stands; no line holds a zero.

    Returns:
        JSON; None: it is no such line, read all of it.
    """
    find = data.find
    context = find(_CONTEXT, position, stop)
    findings = find(_FINDINGS, context, stop) if context >= 0 else -1
    reasons = search.find(_BEHIND_FINDINGS, findings, end) if findings >= 0 else -1
    if not 0 <= reasons < stop:
        return None
    evaluator = find(_EVALUATOR, reasons, stop)
    if evaluator < 0 or find(_KIND_AND_SNAPSHOT, evaluator, stop) < 0:
        return None
    return b"".join((data[position : context + len(_CONTEXT)], _FINDINGS, data[reasons:evaluator], _END))


def slim_event(data: bytearray, position: int, stop: int, search: LineSearch, end: int) -> dict[str, Any] | None:
    """The event of a decision's line without findings, evidence and context; arguments as in `short_text`."""
    import orjson

    find = data.find
    context = find(_CONTEXT, position, stop)
    findings = find(_FINDINGS, context, stop) if context >= 0 else -1
    reasons = search.find(_BEHIND_FINDINGS, findings, end) if findings >= 0 else -1
    if not 0 <= reasons < stop:
        return None
    snapshot = find(_SNAPSHOT, reasons, stop)
    rest = data.rfind(_BEHIND_SNAPSHOT, snapshot, stop) if snapshot >= 0 else -1
    if rest < 0:
        return None
    pieces = (
        data[position : context + len(_CONTEXT)],
        _FINDINGS,
        data[reasons : snapshot + len(_SNAPSHOT)],
        data[rest:stop],
    )
    try:
        event = orjson.loads(b"".join(pieces))
    except orjson.JSONDecodeError:
        return None
    return event if isinstance(event, dict) else None


def without_findings(line: bytes) -> dict[str, Any] | None:
    """The event of a decision's line with all that judges it again: less findings, `missing`, actions and notes.

    None: it is no such line, read all of it.
    """
    import orjson

    findings = line.find(_FINDINGS, line.find(_CONTEXT))
    end = line.find(_BEHIND_FINDINGS, findings)
    if findings < 0 or end < 0:
        return None
    try:
        event = orjson.loads(line[: findings + len(_FINDINGS)] + line[end:])
    except orjson.JSONDecodeError:
        return None
    return event if isinstance(event, dict) else None
