"""`log metrics`: the gate under its own monitoring."""

from __future__ import annotations

from gatekeeper.cli.spec import Command, Option
from gatekeeper.cli.tables.shared import LOGS

_METRICS = Command(
    "log",
    "metrics",
    handler="gatekeeper.cli.metrics:metrics",
    answer="report",
    help="What monitoring should know of the gate, in Prometheus' text format.\n\n"
    "Totals of verdicts and reason codes over the whole log, and of each experiment's last decision its verdict, "
    "time, reasons, margins and the age of its data.",
    options=(
        Option(
            "out",
            "--out",
            kind="path",
            metavar="FILE",
            help="Replace this file, as node_exporter's textfile collector reads it (*.prom).",
        ),
        LOGS,
    ),
    examples=(
        ("look at it", "gatekeeper log metrics"),
        (
            "from cron, for the textfile collector",
            "gatekeeper log metrics --out /var/lib/node_exporter/gatekeeper.prom",
        ),
    ),
)

COMMANDS = (_METRICS,)
