"""`resume`, `reevaluate` and `stop`: go on with a hold, or end the run."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.tables.shared import (
    ACTOR,
    BASELINE,
    COLLECT,
    DRY_RUN,
    EVERY_FORMAT,
    EVIDENCE,
    EVIDENCE_SOURCES,
    IDEMPOTENCY_KEY,
    LOG,
    REVISION,
    ROTATE_BYTES,
    SNAPSHOT,
    VERBOSE,
    as_of,
    output,
)

_RESUME = Command(
    "resume",
    handler="gatekeeper.cli.resume:resume",
    answer="verdict",
    help="Ask the stage of a hold again, with new evidence.\n\nExit codes as for check.",
    arguments=(Argument("token", metavar="TOKEN", help="The resume token that the hold stated."),),
    options=(
        SNAPSHOT,
        COLLECT,
        BASELINE,
        EVIDENCE,
        REVISION,
        IDEMPOTENCY_KEY,
        as_of(),
        DRY_RUN,
        VERBOSE,
        ACTOR,
        LOG,
        ROTATE_BYTES,
        output(*EVERY_FORMAT),
    ),
    one_of=EVIDENCE_SOURCES,
    examples=(
        ("bring the metric that was missing", "gatekeeper resume TOKEN --snapshot now.json"),
        (
            "bring the reference that was missing",
            "gatekeeper resume TOKEN --snapshot now.json --evidence change_id=CHG-123",
        ),
    ),
)

_REEVALUATE = Command(
    "reevaluate",
    handler="gatekeeper.cli.reevaluate:reevaluate",
    answer="verdict",
    help="Ask every hold again whose evidence can be read again.\n\n"
    "The exit code is the worst verdict of the holds that it asked, 0 when it asked none.",
    options=(
        Option("due", "--due", kind="flag", help="Only the holds whose next evaluation is due."),
        Option("watch", "--watch", kind="flag", help="Go on asking until interrupted."),
        Option(
            "interval",
            "--interval",
            kind="duration",
            metavar="DURATION",
            requires=("watch",),
            help="Time between two rounds of --watch; 60s unless set.",
        ),
        Option(
            "as_of",
            "--as-of",
            kind="time",
            metavar="TIME",
            conflicts=("watch",),
            help="Ask the holds of simulated runs, as if it were this time; they are left out otherwise.",
        ),
        ACTOR,
        LOG,
        ROTATE_BYTES,
        output(*EVERY_FORMAT),
    ),
    examples=(
        ("from cron", "gatekeeper reevaluate --due"),
        ("as a service", "gatekeeper reevaluate --due --watch --interval 60s"),
    ),
)

_STOP = Command(
    "stop",
    handler="gatekeeper.cli.stop:stop",
    answer="effect",
    help="End a run for good; every check of it is then a REJECT.",
    arguments=(Argument("run", kind="run_id", metavar="RUN", help="The run id."),),
    options=(
        Option("reason", "--reason", kind="sentence", metavar="TEXT", required=True, help="Why it ends."),
        ACTOR,
        LOG,
        ROTATE_BYTES,
        output("text", "json"),
    ),
    examples=(("by hand", "gatekeeper stop exp-42:B:2026-02-18 --reason 'support tickets about wrong prices'"),),
)

COMMANDS = (_RESUME, _REEVALUATE, _STOP)
