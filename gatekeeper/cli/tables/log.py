"""`log …`: the log as a file, and what is derived from it."""

from __future__ import annotations

from gatekeeper.cli.spec import Command, Option
from gatekeeper.cli.tables.shared import ACTOR, LOG, LOGS, output

_HEAD = Command(
    "log",
    "head",
    handler="gatekeeper.cli.log:head",
    answer="report",
    help="The seq and digest of the last event.\n\nNoted elsewhere, they show whether the log was cut or rewritten.",
    options=(LOGS, output("text", "json")),
    examples=(("what to note", "gatekeeper log head -o json"),),
)

_STAT = Command(
    "log",
    "stat",
    handler="gatekeeper.cli.log:stat",
    answer="report",
    help="Size, files, events and the state of the chain.\n\nCounted by the index where it knows all of the log, else "
    "by reading it. Whether the chain is whole, verify tells; here stands what is known of it.",
    options=(LOGS, output("text", "json")),
    examples=(
        ("how large it is", "gatekeeper log stat"),
        ("for a dashboard", "gatekeeper log stat -o json"),
    ),
)

_REBUILD = Command(
    "log",
    "rebuild",
    handler="gatekeeper.cli.log:rebuild",
    answer="effect",
    help="Fold the state of all runs from the log again.",
    options=(
        Option(
            "accept_gap",
            "--accept-gap",
            kind="sentence",
            metavar="REASON",
            help="Let runs whose history crosses a gap or a damaged line go on, and say why.",
        ),
        ACTOR,
        LOG,
        output("text", "json"),
    ),
    examples=(
        ("after the state was lost", "gatekeeper log rebuild"),
        ("after a line was damaged", "gatekeeper log rebuild --accept-gap 'disk failure, see INC-7'"),
    ),
)

COMMANDS = (_HEAD, _STAT, _REBUILD)
