"""`replay` and `verify`: query the log, and prove it."""

from __future__ import annotations

from gatekeeper.cli.spec import Command, Option
from gatekeeper.cli.tables.keys import origin, public_key
from gatekeeper.cli.tables.shared import LOGS, output

_KINDS = ("decision", "policy", "approval", "action", "checkpoint", "refusal")

_REPLAY = Command(
    "replay",
    handler="gatekeeper.cli.replay:replay",
    answer="report",
    help="Query the decision log.\n\nFilters of different kinds must all fit.",
    options=(
        Option("run", "--run", metavar="RUN", help="Events of this run."),
        Option("experiment", "--experiment", metavar="NAME", help="Events of this experiment."),
        Option(
            "verdict",
            "--verdict",
            kind="choice",
            choices=("ACCEPT", "REJECT", "DEGRADE"),
            metavar="VERDICT",
            repeat=True,
            help="ACCEPT, REJECT or DEGRADE; several are alternatives.",
        ),
        Option("stage", "--stage", metavar="STAGE", help="Events of this stage."),
        Option(
            "reason",
            "--reason",
            metavar="CODE|GLOB",
            help="Decisions with this reason code, or one that fits, like 'guardrail_violation:*'.",
        ),
        Option("policy", "--policy", metavar="ID", help="Events under this policy_id, id@version or digest."),
        Option("since", "--since", kind="since", metavar="TIME|DURATION", help="From this time on, or this long ago."),
        Option("until", "--until", kind="time", metavar="TIME", help="Up to this time.", conflicts=("follow",)),
        Option(
            "kind",
            "--kind",
            kind="choice",
            choices=_KINDS,
            metavar="KIND",
            repeat=True,
            help=f"{', '.join(_KINDS)}; decision unless set.",
        ),
        Option(
            "group_by",
            "--group-by",
            kind="names",
            metavar="FIELD,...",
            conflicts=("follow",),
            help="Count by these fields instead of listing.",
        ),
        Option("limit", "--limit", kind="count", metavar="N", help="At most so many."),
        Option(
            "follow", "--follow", kind="flag", help="Go on with new events as they are appended, until interrupted."
        ),
        LOGS,
        output("text", "json", "ndjson", "markdown"),
    ),
    examples=(
        ("why were we stopped last week", "gatekeeper replay --verdict REJECT --since 7d"),
        ("which reasons are frequent", "gatekeeper replay --group-by verdict,reason --since 30d"),
        ("recorded bytes for another program", "gatekeeper replay --run exp-42:B:2026-02-18 -o ndjson"),
    ),
)

_VERIFY = Command(
    "verify",
    handler="gatekeeper.cli.verify:verify",
    answer="report",
    help="Is the log intact, and every decision what it should be?\n\n"
    "Follows the chain, recomputes the digests, and evaluates every decision again with its recorded policy and "
    "context. Exit code 65 if anything differs.",
    options=(
        Option("from_seq", "--from", kind="count", metavar="SEQ", help="Begin at this event."),
        Option(
            "chain_only",
            "--chain-only",
            kind="flag",
            help="Only follow the chain: seq, prev and ts of each line, and nothing in it.",
        ),
        Option("jobs", "--jobs", kind="count", metavar="N", help="Processes at most; one for each core unless set."),
        Option(
            "checkpoint",
            "--checkpoint",
            kind="path",
            metavar="FILE",
            repeat=True,
            requires=("public_key",),
            help="A signed note of log checkpoint: the log must still hold all that it covers.",
        ),
        public_key(requires=("checkpoint",)),
        origin(requires=("checkpoint",)),
        LOGS,
        output("text", "json", "markdown", "github"),
    ),
    examples=(
        ("the whole log", "gatekeeper verify"),
        ("within seconds, what changed bytes would show", "gatekeeper verify --chain-only"),
        ("a rotated log", "gatekeeper verify --log 'logs/decision*.ndjson'"),
        ("against a note kept elsewhere", "gatekeeper verify --checkpoint note.txt --public-key gate-log.pub"),
    ),
)

COMMANDS = (_REPLAY, _VERIFY)
