"""`policy test` and `policy suggest-cases`: golden cases beside the policies."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.tables.shared import LOGS, output

_CASES = Argument(
    "cases",
    kind="path",
    metavar="DIR|FILE...",
    required=False,
    repeat=True,
    help="Directories of golden cases (*.json) or single ones; policies/golden unless given.",
)

_TEST = Command(
    "policy",
    "test",
    handler="gatekeeper.cli.policy_test:run_cases",
    answer="report",
    help="Do the policies still answer as their golden cases say?\n\n"
    "Exit code 10 if a case fails, 65 if one does not load. With --mutants, each limit, operator and rule of the "
    "policies is changed in turn, and those changes are named that no case notices.",
    arguments=(_CASES,),
    options=(
        Option(
            "update",
            "--update",
            kind="flag",
            requires=("reason",),
            conflicts=("from_log", "mutants"),
            help="Write what is answered now into the cases that fail, and the reason.",
        ),
        Option("reason", "--reason", kind="sentence", metavar="TEXT", requires=("update",), help="Why that is right."),
        Option(
            "mutants",
            "--mutants",
            kind="flag",
            conflicts=("from_log",),
            help="Name the small changes of the policies that no case notices.",
        ),
        Option(
            "fail_on",
            "--fail-on",
            kind="choice",
            choices=("survivors",),
            metavar="WHAT",
            requires=("mutants",),
            help="survivors: exit code 10 if a change goes unnoticed.",
        ),
        Option(
            "min_score",
            "--min-score",
            kind="count",
            metavar="PERCENT",
            requires=("mutants",),
            help="Exit code 10 if a policy's share of noticed changes is smaller.",
        ),
        Option(
            "from_log",
            "--from-log",
            metavar="EVENT",
            repeat=True,
            help="Make a case from this recorded decision instead: its event_id or seq.",
        ),
        Option(
            "policy",
            "--policy",
            kind="path",
            metavar="FILE",
            requires=("from_log",),
            help="The policy of that case; the one beside the cases with the event's policy_id unless given.",
        ),
        LOGS,
        output("text", "json", "ndjson", "markdown", "github", "junit"),
    ),
    examples=(
        ("before a commit", "gatekeeper policy test"),
        ("take over a change on purpose", "gatekeeper policy test --update --reason 'SHOP-71: 3 % errors are fine'"),
        ("what would nobody notice", "gatekeeper policy test --mutants --min-score 60"),
        ("freeze a decision", "gatekeeper policy test --from-log exp-42:B:3:CANARY_20"),
    ),
)

_SUGGEST = Command(
    "policy",
    "suggest-cases",
    handler="gatekeeper.cli.policy_cases:suggest",
    answer="report",
    help="Which reasons recur in the log and have no golden case yet?\n\n"
    "Lists reason codes and entries of missing, the frequent ones first, with the command that makes the case.",
    arguments=(_CASES,),
    options=(
        Option(
            "at_least", "--at-least", kind="count", metavar="N", help="Only what stands in N decisions; 2 unless set."
        ),
        Option("policy", "--policy", metavar="ID", help="Decisions under this policy_id, id@version or digest."),
        Option("since", "--since", kind="since", metavar="TIME|DURATION", help="From this time on, or this long ago."),
        Option("simulated", "--simulated", kind="flag", help="Count decisions of simulated runs, too."),
        LOGS,
        output("text", "json", "ndjson", "markdown", "github"),
    ),
    examples=(
        ("of the last month", "gatekeeper policy suggest-cases --since 30d"),
        ("of one policy", "gatekeeper policy suggest-cases --policy checkout-guarded"),
    ),
)

COMMANDS = (_TEST, _SUGGEST)
