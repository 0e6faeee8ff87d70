"""`policy diff`: what a change of a policy means."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.tables.shared import output

_DIFF = Command(
    "policy",
    "diff",
    handler="gatekeeper.cli.policy_diff:diff",
    answer="report",
    help="What does this change let through, and what does it stop?\n\n"
    "Each change is loosened, tightened, both or neutral, with an example that shows it. Exit code 65 if a policy does "
    "not load, or if the content changed and policy_version did not; 10 as --fail-on says.",
    arguments=(
        Argument("old", kind="path", metavar="OLD", help="The policy as it was: a file, or git:REVISION:PATH."),
        Argument("new", kind="path", metavar="NEW", help="The policy as it shall be, given in the same way."),
    ),
    options=(
        Option(
            "fail_on",
            "--fail-on",
            kind="choice",
            choices=("loosened", "tightened", "any"),
            metavar="MEANING",
            help="Exit code 10 where a change loosens, tightens, or does any of the two.",
        ),
        output("text", "json", "markdown", "github"),
    ),
    examples=(
        (
            "what a branch changes",
            "gatekeeper policy diff git:origin/main:policies/checkout.json policies/checkout.json",
        ),
        ("nothing may be loosened here", "gatekeeper policy diff old.json new.json --fail-on loosened"),
    ),
)

COMMANDS = (_DIFF,)
