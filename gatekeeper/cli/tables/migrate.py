"""`log migrate`: the tables of a log that is a database."""

from __future__ import annotations

from gatekeeper.cli.spec import Command, Option
from gatekeeper.cli.tables.shared import LOG, output

_MIGRATE = Command(
    "log",
    "migrate",
    handler="gatekeeper.cli.migrate:migrate_log",
    answer="effect",
    help="Make the tables of a log in PostgreSQL, or bring them to the step that this version needs.\n\nAll in one "
    "transaction, as the owner of the database; the roles gatekeeper_writer and gatekeeper_reader are made and granted "
    "what they need. Jobs log in as members of these and own nothing.",
    options=(
        Option("to", "--to", metavar="STEP", help="Go to this step, also back; 0 removes all tables."),
        Option(
            "drop_events",
            "--drop-events",
            kind="flag",
            requires=("to",),
            help="A way back that removes a log with events is meant.",
        ),
        Option("dry_run", "--dry-run", kind="flag", help="Change nothing, print the SQL."),
        LOG,
        output("text", "json"),
    ),
    examples=(
        ("set up, and after an update", "gatekeeper log migrate --log postgresql://owner@db.example.com/gate"),
        ("for somebody else to apply", "gatekeeper log migrate --dry-run --log postgresql://owner@db.example.com/gate"),
    ),
)

COMMANDS = (_MIGRATE,)
