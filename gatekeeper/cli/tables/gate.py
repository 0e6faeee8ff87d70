"""`check` and `run`: ask whether a run may go on."""

from __future__ import annotations

from gatekeeper.cli.spec import Command, Option
from gatekeeper.cli.tables.shared import (
    ACTOR,
    BASELINE,
    CHANGE_CLASS,
    COLLECT,
    DRY_RUN,
    EVERY_FORMAT,
    EVIDENCE,
    EVIDENCE_SOURCES,
    EXPERIMENT,
    IDEMPOTENCY_KEY,
    LOG,
    POLICY,
    REVISION,
    ROTATE_BYTES,
    RUN_ID,
    SNAPSHOT,
    SUPERSEDE,
    VARIANT,
    VERBOSE,
    as_of,
    output,
)

_CHECK = Command(
    "check",
    handler="gatekeeper.cli.check:check",
    answer="verdict",
    help="May this run enter the stage, or remain in it?\n\n"
    "Exit code 0 is ACCEPT, 1 REJECT, 2 DEGRADE: a hold, which says what is missing and how to resume.",
    options=(
        POLICY,
        EXPERIMENT,
        VARIANT,
        SNAPSHOT,
        COLLECT,
        BASELINE,
        Option(
            "stage",
            "--stage",
            kind="name",
            metavar="STAGE",
            conflicts=("start_stage",),
            help="The next stage or the current one; else the held one, else the next.",
        ),
        REVISION,
        RUN_ID,
        SUPERSEDE,
        Option(
            "start_stage",
            "--start-stage",
            kind="name",
            metavar="STAGE",
            requires=("reason",),
            help="Take over a rollout that is under way, at this stage; only at a run's first check.",
        ),
        Option(
            "reason",
            "--reason",
            kind="sentence",
            metavar="TEXT",
            requires=("start_stage",),
            help="Why the run begins at --start-stage.",
        ),
        EVIDENCE,
        CHANGE_CLASS,
        IDEMPOTENCY_KEY,
        Option(
            "adopt_policy",
            "--adopt-policy",
            kind="sentence",
            metavar="REASON",
            help="Judge the run by the given policy from now on, and say why.",
        ),
        Option(
            "wait",
            "--wait",
            kind="duration",
            metavar="DURATION",
            conflicts=("as_of",),
            help="Ask again until ACCEPT, REJECT or this time is up.",
        ),
        Option(
            "interval",
            "--interval",
            kind="duration",
            metavar="DURATION",
            requires=("wait",),
            help="Time between two asks of --wait; 60s unless set.",
        ),
        as_of("wait"),
        DRY_RUN,
        VERBOSE,
        ACTOR,
        LOG,
        ROTATE_BYTES,
        output(*EVERY_FORMAT),
    ),
    one_of=EVIDENCE_SOURCES,
    examples=(
        (
            "gate the next stage",
            "gatekeeper check --policy policies/checkout.json --experiment exp-42 --variant B --snapshot now.json",
        ),
        (
            "ask Prometheus first, and go on asking for half an hour",
            "gatekeeper check --policy p.json --experiment exp-42 --variant B --collect collection.json --wait 30m",
        ),
        (
            "look without recording",
            "gatekeeper check --policy p.json --experiment exp-42 --variant B --snapshot now.json --dry-run -o json",
        ),
    ),
)

_RUN = Command(
    "run",
    handler="gatekeeper.cli.run:run",
    answer="verdict",
    help="Ask all stages in turn until one does not pass.\n\nThe exit code is that of its last check.",
    options=(
        POLICY,
        EXPERIMENT,
        VARIANT,
        Option(
            "snapshots",
            "--snapshots",
            kind="path",
            metavar="DIR",
            required=True,
            help="A directory with the evidence of each stage in <STAGE>.json.",
        ),
        REVISION,
        RUN_ID,
        SUPERSEDE,
        EVIDENCE,
        CHANGE_CLASS,
        as_of(),
        ACTOR,
        LOG,
        ROTATE_BYTES,
        output(*EVERY_FORMAT),
    ),
    examples=(
        (
            "replay a recorded rollout as it would have been decided",
            (
                "gatekeeper run --policy policies/exp-eval-policy.json --experiment exp-42 --variant B "
                "--snapshots snapshots --as-of snapshot --evidence change_id=CHG-123 --evidence dashboard_id=dash-foo"
            ),
        ),
    ),
)

COMMANDS = (_CHECK, _RUN)
