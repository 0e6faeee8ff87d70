"""`queue`, `status` and `explain`: what is held, where runs are, what one event says."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.tables.shared import LOGS, output

_QUEUE = Command(
    "queue",
    handler="gatekeeper.cli.queue:queue",
    answer="report",
    help="Open holds: what each waits for, its owner, when it is due.",
    options=(
        Option("simulated", "--simulated", kind="flag", help="Also the holds of simulated runs (--as-of)."),
        LOGS,
        output("text", "json", "ndjson", "markdown"),
    ),
    examples=(
        ("what waits for whom", "gatekeeper queue"),
        ("for a chat message", "gatekeeper queue -o markdown"),
    ),
)

_STATUS = Command(
    "status",
    handler="gatekeeper.cli.status:status",
    answer="report",
    help="Runs with their state, stage, revision and last decision.",
    arguments=(Argument("run", kind="run_id", metavar="RUN", required=False, help="One run; all of them without it."),),
    options=(LOGS, output("text", "json", "ndjson", "markdown")),
    examples=(
        ("all runs", "gatekeeper status"),
        ("one run for a script", "gatekeeper status exp-42:B:2026-02-18 -o json"),
    ),
)

_EXPLAIN = Command(
    "explain",
    handler="gatekeeper.cli.explain:explain",
    answer="report",
    help="One event in full: each rule, what it saw, what it allows.",
    arguments=(Argument("event", kind="sentence", metavar="EVENT", help="The event id, or its seq in the log."),),
    options=(LOGS, output("text", "json", "markdown")),
    examples=(("why was it stopped", "gatekeeper explain exp-42:B:2026-02-18:CANARY_25"),),
)

COMMANDS = (_QUEUE, _STATUS, _EXPLAIN)
