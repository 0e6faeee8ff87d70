"""`policy schema`: what editors and other programs check a file with."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command

_SCHEMA = Command(
    "policy",
    "schema",
    handler="gatekeeper.cli.policy_schema:schema",
    answer="report",
    help="Print the JSON Schema of a format: policy, snapshot, collection or event.\n\n"
    "Draft 2020-12, with descriptions, examples and units. docs/schema/README.md says how editors use it, and what is "
    "asked of a file beyond it.",
    arguments=(
        Argument(
            "format",
            metavar="FORMAT",
            required=False,
            help="policy, snapshot, collection or event (one line of the log); policy if not given.",
        ),
    ),
    examples=(
        ("for an editor", "gatekeeper policy schema policy"),
        ("of the log's events", "gatekeeper policy schema event"),
    ),
)

COMMANDS = (_SCHEMA,)
