"""`policy …`: what a reviewer of a policy file needs."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.tables.shared import REPORT_FORMATS, output

_CHECK = Command(
    "policy",
    "check",
    handler="gatekeeper.cli.policy:check",
    answer="report",
    help="Do these policies load, and what is odd about them?\n\n"
    "Exit code 65 if one does not load, 10 if something is found that --fail-on names, else 0. With --collection, the "
    "file that feeds them is reviewed, too, and held against them; its defects are errors.",
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
        Option(
            "fail_on",
            "--fail-on",
            kind="choice",
            choices=("error", "warning", "info", "never"),
            metavar="SEVERITY",
            default="error",
            help="End with 10 on this severity or a worse one: error, warning, info, never.",
        ),
        Option(
            "fix",
            "--fix",
            kind="flag",
            help="Mend what can be mended without a doubt, in the files; say what was done.",
        ),
        output("text", "json", "markdown", "github", *REPORT_FORMATS),
    ),
    examples=(
        ("before a commit", "gatekeeper policy check policies/checkout.json"),
        (
            "with what it is fed by",
            "gatekeeper policy check policies/checkout.json --collection collection.json",
        ),
        ("as a gate for pull requests", "gatekeeper policy check policies/*.json --fail-on warning"),
        ("for code scanning", "gatekeeper policy check policies/*.json -o sarif"),
        ("mend what is certain", "gatekeeper policy check policies/checkout.json --fix"),
        ("as annotations of a pull request", "gatekeeper policy check policies/checkout.json -o github"),
    ),
)

COMMANDS = (_CHECK,)
