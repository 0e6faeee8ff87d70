"""`log checkpoint`, `log prove`, `log check-proof`: the log vouched for, for people who do not have it."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command, Option
from gatekeeper.cli.tables.keys import origin, public_key
from gatekeeper.cli.tables.shared import LOG, LOGS, output

_CHECKPOINT = Command(
    "log",
    "checkpoint",
    handler="gatekeeper.cli.checkpoint:checkpoint",
    answer="effect",
    help="Sign how many events the log has, and the root of their tree.\n\nKept where those who write the log cannot "
    "change it, the note proves later that nothing before it was changed, cut off or written anew. It signs only a "
    "log that still holds all of the checkpoint before. The passphrase of an encrypted key is taken from "
    "GATEKEEPER_KEY_PASSPHRASE. Needs the extra `proof`.",
    options=(
        Option(
            "key",
            "--key",
            kind="path",
            metavar="FILE",
            required=True,
            help="The private key, Ed25519: as ssh-keygen writes it, PEM, or a note key of Go's tools.",
        ),
        Option(
            "origin",
            "--origin",
            kind="sentence",
            metavar="NAME",
            help="Name of the log, like gates.example.com/prod; else that of the key, of the checkpoint before, or "
            "gatekeeper/ and the name of the file.",
        ),
        Option(
            "out", "--out", kind="path", metavar="FILE", help="Where the note is kept; the log's name and .checkpoint."
        ),
        LOG,
        output("text", "json"),
    ),
    examples=(
        ("with a key of ssh-keygen -t ed25519 -f gate-log", "gatekeeper log checkpoint --key gate-log"),
        (
            "under a name of its own, to be kept elsewhere",
            "gatekeeper log checkpoint --key gate-log --origin gates.example.com/prod --out note.txt",
        ),
    ),
)

_PROVE = Command(
    "log",
    "prove",
    handler="gatekeeper.cli.prove:prove",
    answer="report",
    help="Prove to somebody without the log that an event is in it.\n\nThe proof (c2sp.org/tlog-proof@v1) leads from "
    "the event's line to the root that was signed; log check-proof checks it.",
    arguments=(Argument("event", kind="sentence", metavar="EVENT", help="The event id, or its seq in the log."),),
    options=(
        Option(
            "checkpoint",
            "--checkpoint",
            kind="path",
            metavar="FILE",
            help="The signed note; the log's name and .checkpoint.",
        ),
        Option("out", "--out", kind="path", metavar="FILE", help="Write the proof there instead of printing it."),
        Option("with_line", "--with-line", kind="flag", help="Put the event's line into the proof."),
        LOGS,
        output("text", "json"),
    ),
    examples=(
        ("one file that says and proves it", "gatekeeper log prove exp-42:B:1:CANARY_10 --with-line --out proof.txt"),
        ("by seq, with a note from elsewhere", "gatekeeper log prove 17 --checkpoint note.txt"),
    ),
)

_CHECK_PROOF = Command(
    "log",
    "check-proof",
    handler="gatekeeper.cli.prove:check_proof",
    answer="report",
    help="Check such a proof; no log is needed.\n\nExit code 0 if the line stands in the log that was signed, 65 if "
    "that is not proven. Needs the extra `proof`.",
    arguments=(Argument("proof", kind="path", metavar="PROOF|-", help="The file that log prove wrote."),),
    options=(
        Option(
            "line",
            "--line",
            kind="path",
            metavar="FILE|-",
            help="The event's line as recorded; else the one in the proof.",
        ),
        public_key(required=True),
        origin(),
        output("text", "json"),
    ),
    examples=(
        ("what an auditor does", "gatekeeper log check-proof proof.txt --public-key gate-log.pub"),
        (
            "of a line from elsewhere",
            "gatekeeper log check-proof proof.txt --line event.json --public-key log.pub",
        ),
    ),
)

COMMANDS = (_CHECKPOINT, _PROVE, _CHECK_PROOF)
