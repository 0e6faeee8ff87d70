"""`policy explain`: a policy for people who do not read JSON."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command
from gatekeeper.cli.tables.shared import output

_EXPLAIN = Command(
    "policy",
    "explain",
    handler="gatekeeper.cli.policy_explain:explain",
    answer="report",
    help="Say in plain sentences what a policy does, and at which stage.\n\nExit code 65 if it does not load.",
    arguments=(Argument("file", kind="path", metavar="FILE", help="The policy."),),
    options=(output("text", "json", "markdown", "github"),),
    examples=(
        ("read a policy", "gatekeeper policy explain policies/checkout.json"),
        ("for a pull request", "gatekeeper policy explain policies/checkout.json -o markdown"),
    ),
)

COMMANDS = (_EXPLAIN,)
