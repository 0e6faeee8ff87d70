"""`policy …`: what a reviewer of a policy file needs."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.tables.shared import output

_CHECK = Command(
    "policy",
    "check",
    handler="gatekeeper.cli.policy:check",
    answer="report",
    help="Do these policies load, and what is odd about them?\n\n"
    "Exit code 65 if one does not load. With --collection, the file that feeds them is reviewed, too, and held against "
    "them: exit code 65 if it does not load, 10 if it has a defect.",
    arguments=(Argument("files", kind="path", metavar="FILES...", repeat=True, help="Policy files."),),
    options=(
        Option(
            "collection",
            "--collection",
            kind="path",
            metavar="FILE",
            help="Review this collection file together with them.",
        ),
        Option(
            "ask",
            "--ask",
            kind="flag",
            requires=("collection",),
            help="Ask its servers, too, for what only they know (the highest bucket of a histogram).",
        ),
        output("text", "json", "markdown", "github"),
    ),
    examples=(
        ("before a commit", "gatekeeper policy check policies/checkout.json"),
        (
            "with what it is fed by",
            "gatekeeper policy check policies/checkout.json --collection collection.json",
        ),
        ("as annotations of a pull request", "gatekeeper policy check policies/checkout.json -o github"),
    ),
)

COMMANDS = (_CHECK,)
