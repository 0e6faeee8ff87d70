"""`log import`: a log from one ledger into another."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command
from gatekeeper.cli.tables.shared import LOG, output

_IMPORT = Command(
    "log",
    "import",
    handler="gatekeeper.cli.importing:import_log",
    answer="effect",
    help="Take the lines of another log over into this one, byte by byte.\n\nThe chain stays the same, so checkpoints "
    "and proofs go on to hold. All of the source is checked first; what the log has already is compared and not taken "
    "twice, so an import that was cut short is given again. Exit code 65, and nothing is changed, where the source is "
    "damaged or the two are not one history.",
    arguments=(
        Argument("source", kind="path", metavar="SOURCE", help="A log file, a pattern over its parts, or an address."),
    ),
    options=(LOG, output("text", "json")),
    examples=(
        ("from a file into a database", "gatekeeper log import logs/decision.ndjson --log postgresql://db/gate"),
        (
            "and back into a file",
            "gatekeeper log import postgresql://db/gate --log logs/copy.ndjson",
        ),
    ),
)

COMMANDS = (_IMPORT,)
