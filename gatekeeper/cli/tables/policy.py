"""`policy …`: what a reviewer of a policy file needs."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command
from gatekeeper.cli.tables.shared import output

_CHECK = Command(
    "policy",
    "check",
    handler="gatekeeper.cli.policy:check",
    answer="report",
    help="Do these policies load, and what is odd about them?\n\nExit code 65 if one does not load.",
    arguments=(Argument("files", kind="path", metavar="FILES...", repeat=True, help="Policy files."),),
    options=(output("text", "json", "markdown", "github"),),
    examples=(
        ("before a commit", "gatekeeper policy check policies/checkout.json"),
        ("as annotations of a pull request", "gatekeeper policy check policies/checkout.json -o github"),
    ),
)

COMMANDS = (_CHECK,)
