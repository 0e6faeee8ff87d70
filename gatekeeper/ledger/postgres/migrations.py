"""The numbered steps that make, change and remove the tables, each with its way back."""

from __future__ import annotations

from gatekeeper.ledger.postgres.layout import INDEX, LOG, STATE
from gatekeeper.model.values import dataclass


@dataclass(frozen=True)
class Migration:
    """One step.

    Attributes:
        number: from 1, rising by one; the tables stand at the number of the last step taken.
        name: what it is about.
        up, down: SQL statements.
        drops_events: whether the way back removes the log itself.
    """

    number: int
    name: str
    up: str
    down: str
    drops_events: bool = False


MIGRATIONS = (
    Migration(
        1,
        "the log",
        LOG,
        "DROP TABLE gatekeeper.events, gatekeeper.head; DROP FUNCTION gatekeeper.refuse_change();",
        drops_events=True,
    ),
    Migration(
        2,
        "state of the runs",
        STATE,
        "DROP FUNCTION gatekeeper.lock_log; "
        "DROP TABLE gatekeeper.runs, gatekeeper.tokens, gatekeeper.policies, gatekeeper.kept;",
    ),
    Migration(
        3,
        "index over the events",
        INDEX,
        "DROP PROCEDURE gatekeeper.append_plain_lazily; DROP FUNCTION gatekeeper.append_plain, gatekeeper.time_text; "
        "DROP TABLE gatekeeper.facts, gatekeeper.facets;",
    ),
)

NEWEST = MIGRATIONS[-1].number
"""Where the tables must stand for this version of gatekeeper."""
