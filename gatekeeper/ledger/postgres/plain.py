"""The plain append where writers wait for each other: one event of a run that is known, sealed by the database.

What the event makes of its run does not depend on its place, but for `version` and `updated_at`. So it is folded here,
as ever, and the database puts `prev`, `seq` and `ts` where they belong while it has the lock: no process has to wake up
in between. Whatever is not plain, or has changed meanwhile, takes the way over `Writer.lock_and_seal`.
"""

from __future__ import annotations

from gatekeeper.ledger.projection_rows import body_of, slot_of, tokens_changed
from gatekeeper.model.facts import text_of
from gatekeeper.model.fold import apply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.ledger.postgres.known import Known
    from gatekeeper.ledger.postgres.writing import Wanted
    from gatekeeper.model.run import Run

_GIVEN = (
    "ARRAY[%b::bytea, %b::bytea, %b::bytea, %b::bytea, %b::bytea], %s::bigint, "
    "%s, %s::bigint, %s, %s, %s, %s, %s::bigint, %s, %s, %s, %s, %s::bigint"
)
APPEND = f"SELECT * FROM gatekeeper.append_plain({_GIVEN}, false)"  # noqa: S608 - our own text
"""Gives `seq`, digest of the line before, `ts` and `clock`, or no row."""

APPEND_LAZILY = f"CALL gatekeeper.append_plain_lazily({_GIVEN}, NULL, NULL, NULL, NULL)"
"""The same, NULL for no row: a transaction that does not wait, and one that waits for the device, in one call."""

_MARK = "\x7f when it is sealed \x7f"
_SLOT = 3  # experiment, variant, whether simulated; behind them whether the run is live


def plain_parameters(wanted: Wanted, known: Known, *, now: int) -> tuple[tuple[Any, ...], Run] | None:
    """What `APPEND` takes, and the run after the event but for its place; None where the append is not plain.

    Args:
        now: the clock's reading.
    """
    expect = wanted.expect
    if len(wanted.prepared) != 1 or wanted.policies or wanted.needs_lock or expect is None:
        return None
    prepared, before = wanted.prepared[0], known.seen.get(expect.run_id)
    draft = prepared.draft
    if before is None or before.version != expect.version or draft.get("run_id") != expect.run_id:
        return None
    is_asking_more = expect.slot is not None or expect.key is not None or draft.get("idempotency_key") is not None
    if is_asking_more or prepared.facet not in known.facets or draft["kind"] == "policy":
        return None
    after = apply(before, {**draft, "ts": _MARK})
    if slot_of(after)[:_SLOT] != slot_of(before)[:_SLOT] or tokens_changed(before, after):
        return None
    parts, body = prepared.around_place(), body_of(after).split(_MARK)
    if parts is None or len(body) != 2 or after.history != before.history:
        return None
    texts = text_of(draft, "experiment_id"), text_of(draft, "variant_id"), text_of(draft, "actor")
    return (
        *parts, now, before.run_id, before.version, after.state.value, after.is_live, *body, prepared.facet,
        *texts, draft["event_id"], prepared.question,
    ), after  # fmt: skip
