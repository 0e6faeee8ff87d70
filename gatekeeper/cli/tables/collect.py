"""`collect`: evidence from real sources, printed instead of judged."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.tables.shared import output

_LINT_FORMATS = ("text", "json", "markdown", "github")

_COLLECT = Command(
    "collect",
    handler="gatekeeper.cli.collect:collect",
    answer="report",
    help="Take a snapshot from real sources and print it.\n\n"
    "What goes wrong with a source is part of the snapshot and of its exit code 0: a check of it holds. "
    "With --lint nothing is printed but what is wrong with the file: exit code 65 if it does not load, 10 if it has "
    "a defect.",
    arguments=(
        Argument("file", kind="path", metavar="FILE", required=False, help="The collection file; not with --schema."),
    ),
    options=(
        Option(
            "at",
            "--at",
            kind="time",
            metavar="TIME",
            conflicts=("lint", "schema"),
            help="Ask for this moment instead of the present.",
        ),
        Option(
            "lint", "--lint", kind="flag", conflicts=("schema",), help="Review the file; the evidence is not taken."
        ),
        Option(
            "policy",
            "--policy",
            kind="path",
            metavar="FILE",
            requires=("lint",),
            help="Review it together with the policy that it feeds.",
        ),
        Option(
            "ask",
            "--ask",
            kind="flag",
            requires=("lint",),
            help="Ask the servers, too, for what only they know (the highest bucket of a histogram).",
        ),
        Option("schema", "--schema", kind="flag", help="Print the JSON Schema of collection files."),
        Option(
            "verbose",
            "--verbose",
            kind="flag",
            conflicts=("lint", "schema"),
            help="Show on standard error each query, its value, watermark and age.",
        ),
        output(*_LINT_FORMATS),
    ),
    examples=(
        ("look at the evidence", "gatekeeper collect collection.json --verbose"),
        ("review a change of the file", "gatekeeper collect --lint collection.json --policy policies/checkout.json"),
        ("let an editor check it", "gatekeeper collect --schema"),
    ),
)

COMMANDS = (_COLLECT,)
