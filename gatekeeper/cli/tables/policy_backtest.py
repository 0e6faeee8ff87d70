"""`policy backtest`: what a changed policy would have answered to all that was recorded."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.tables.shared import LOGS, output

FAIL_ON = ("accept-to-reject", "reject-to-accept", "any")

_BACKTEST = Command(
    "policy",
    "backtest",
    handler="gatekeeper.cli.policy_backtest:backtest",
    answer="report",
    help="What would this policy have answered to the decisions that were recorded?\n\n"
    "Evaluates every recorded snapshot of the policy's runs again, with the context as recorded, and tells which "
    "verdicts would have been others, and by which rules. Exit code 10 if it finds what --fail-on names.",
    arguments=(Argument("new", kind="path", metavar="NEW", help="The policy file to try."),),
    options=(
        Option(
            "policy_id",
            "--policy-id",
            metavar="ID",
            repeat=True,
            help="Decisions under this policy_id, instead of the one in NEW; several are alternatives.",
        ),
        Option("since", "--since", kind="since", metavar="TIME|DURATION", help="From this time on, or this long ago."),
        Option("until", "--until", kind="time", metavar="TIME", help="Up to this time."),
        Option("simulated", "--simulated", kind="flag", help="Also the decisions of simulated runs (--as-of)."),
        Option(
            "fail_on",
            "--fail-on",
            kind="choice",
            choices=FAIL_ON,
            metavar="FLIP",
            repeat=True,
            help=f"{FAIL_ON[0]}, {FAIL_ON[1]} or {FAIL_ON[2]}: end with 10 if a verdict flips so.",
        ),
        Option("jobs", "--jobs", kind="count", metavar="N", help="Processes at most; one for each core unless set."),
        LOGS,
        output("text", "json", "markdown", "github"),
    ),
    examples=(
        ("a changed policy on the whole log", "gatekeeper policy backtest policies/checkout.json"),
        ("on the last month, for CI", "gatekeeper policy backtest new.json --since 30d --fail-on reject-to-accept"),
        ("a policy that got another id", "gatekeeper policy backtest new.json --policy-id exp-eval-policy"),
        ("a rotated log, in a pull request", "gatekeeper policy backtest new.json --log 'logs/*.ndjson' -o github"),
    ),
)

COMMANDS = (_BACKTEST,)
