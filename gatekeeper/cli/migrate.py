"""`gatekeeper log migrate`: the tables of a log in PostgreSQL, up and down."""

from __future__ import annotations

from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.present import page_outcome, told
from gatekeeper.errors import UsageError
from gatekeeper.ledger.address import POSTGRESQL, address_of
from gatekeeper.render.migration import migration_page, migration_sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.values import Values


def migrate_log(values: Values) -> Outcome:
    """64 where the log is no database; 65 where events would be removed, or a newer gatekeeper was here."""
    address = address_of(values.text("log"))
    if address.kind != POSTGRESQL:
        raise UsageError(
            f"{address.shown} has no tables: only a log in PostgreSQL is migrated",
            remedy="name the database: --log postgresql://OWNER@HOST/DATABASE",
        )
    from gatekeeper.ledger.postgres.migrating import migrate

    is_dry = values.flag("dry_run")
    done = migrate(
        address, to=_step(values.optional_text("to")), dry_run=is_dry, drop_events=values.flag("drop_events")
    )
    document = {
        "log": address.shown,
        "dry_run": is_dry,
        "found": done.found,
        "reached": done.reached,
        "steps": list(done.steps),
        "statements": list(done.statements),
    }
    if is_dry and values.text("output") == "text":
        return Outcome(migration_sql(document), stderr=told(done.notes))
    return page_outcome(migration_page(document), values, stderr=told(done.notes))


def _step(stated: str | None) -> int | None:
    if stated is None:
        return None
    if not (stated.isascii() and stated.isdecimal()):
        raise UsageError(f"--to: {stated!r} is no step", remedy="give --to a number from 0 (no tables) on")
    return int(stated)
