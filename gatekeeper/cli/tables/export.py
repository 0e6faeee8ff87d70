"""`log export`: the log for other programs and other places."""

from __future__ import annotations

from gatekeeper.cli.spec import Command, Option
from gatekeeper.cli.tables.shared import LOGS, output

_EXPORT = Command(
    "log",
    "export",
    handler="gatekeeper.cli.export:export",
    answer="report",
    help="The recorded lines, byte for byte; as Parquet with --parquet.\n\nAgain into the same file or directory, only "
    "what is new is added, and nothing twice. A log that does not go on where the file or directory ends is refused "
    "(exit code 65).",
    options=(
        Option(
            "to",
            "--to",
            kind="path",
            metavar="FILE",
            conflicts=("parquet",),
            help="Append to this file what it lacks, instead of printing all lines.",
        ),
        Option(
            "parquet",
            "--parquet",
            kind="path",
            metavar="DIR",
            help="Add typed Parquet files, in directories by date. Needs the extra lake.",
        ),
        LOGS,
        output("text", "json"),
    ),
    examples=(
        ("all lines, in the order of the chain", "gatekeeper log export"),
        ("a copy elsewhere, by cron", "gatekeeper log export --to /backup/decision.ndjson"),
        ("for DuckDB, Spark or Trino", "gatekeeper log export --parquet /lake/decisions"),
    ),
)

COMMANDS = (_EXPORT,)
