"""`log rotate`, `log archive`, `log prune`: a log that grows for years, in segments."""

from __future__ import annotations

from gatekeeper.cli.spec import Command, Option
from gatekeeper.cli.tables.keys import origin, public_key
from gatekeeper.cli.tables.shared import ACTOR, LOG, output

_ROTATE = Command(
    "log",
    "rotate",
    handler="gatekeeper.cli.retention:rotate",
    answer="effect",
    help="Seal the log file and begin a new one; the chain runs on.\n\nThe new file begins with the state of all runs, "
    "so that it can go on where the sealed ones are not at hand. Every command that is given the log reads the sealed "
    "files beside it, too.",
    options=(
        Option(
            "max_bytes",
            "--max-bytes",
            kind="bytes",
            metavar="SIZE",
            help="Only when the file is larger than this: bytes, or like 64MiB.",
        ),
        ACTOR,
        LOG,
        output("text", "json"),
    ),
    examples=(
        ("now", "gatekeeper log rotate"),
        ("from cron, when it has grown", "gatekeeper log rotate --max-bytes 64MiB"),
    ),
)

_ARCHIVE = Command(
    "log",
    "archive",
    handler="gatekeeper.cli.retention:archive",
    answer="effect",
    help="Compress the sealed segments.\n\nEach original is removed once its archive is on the device and was read "
    "back. Queries read archives as they are.",
    options=(
        Option(
            "compression",
            "--compression",
            kind="choice",
            choices=("zstd", "gzip"),
            metavar="zstd|gzip",
            default="zstd",
            help="zstd needs the extra `archive`; gzip needs nothing.",
        ),
        Option("to", "--to", kind="path", metavar="DIR", help="Put the archives there; the log remembers the place."),
        LOG,
        output("text", "json"),
    ),
    examples=(
        ("beside the log", "gatekeeper log archive"),
        ("into another directory", "gatekeeper log archive --to /var/archive/gatekeeper --compression gzip"),
    ),
)

_PRUNE = Command(
    "log",
    "prune",
    handler="gatekeeper.cli.prune:prune",
    answer="effect",
    help="Remove sealed segments that a signed checkpoint covers.\n\nOnly whole segments from the log's beginning go, "
    "and only where the next one begins with the state of all runs. The checkpoint and the hashes that prove the rest "
    "against later ones are kept beside the log. Exit code 65 if the checkpoint does not cover what would go.",
    options=(
        Option(
            "before",
            "--before",
            kind="before",
            metavar="TIME|90d|SEQ",
            required=True,
            help="Segments whose last event is before this time or seq.",
        ),
        Option(
            "checkpoint",
            "--checkpoint",
            kind="path",
            metavar="FILE",
            required=True,
            help="The signed note of log checkpoint that covers them.",
        ),
        public_key(required=True),
        origin(),
        Option("dry_run", "--dry-run", kind="flag", help="Check everything, say what would go, and remove nothing."),
        LOG,
        output("text", "json"),
    ),
    examples=(
        (
            "older than a year",
            "gatekeeper log prune --before 365d --checkpoint log.checkpoint --public-key gate-log.pub",
        ),
        (
            "what would go",
            "gatekeeper log prune --before 50000 --checkpoint log.checkpoint --public-key gate-log.pub --dry-run",
        ),
    ),
)

COMMANDS = (_ROTATE, _ARCHIVE, _PRUNE)
