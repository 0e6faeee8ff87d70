"""Options that several commands take, each written once."""

from __future__ import annotations

from gatekeeper.cli.spec import Option

DEFAULT_LOG = "logs/decision.ndjson"

EVERY_FORMAT = ("text", "json", "ndjson", "markdown", "github")
REPORT_FORMATS = ("sarif", "junit")
"""For what reviews and tests found."""

LOG = Option(
    "log",
    "--log",
    kind="path",
    metavar="FILE|ADDRESS",
    default=DEFAULT_LOG,
    setting="log",
    help="The decision log: a file, or postgresql://HOST/DATABASE, or git+ssh://HOST/PATH#BRANCH.",
)
LOGS = Option(
    "log",
    "--log",
    kind="path",
    metavar="FILE|PATTERN|ADDRESS",
    default=DEFAULT_LOG,
    setting="log",
    repeat=True,
    help="The decision log: a file or an address; several files or a pattern are read as one chain.",
)
ROTATE_BYTES = Option(
    "rotate_bytes",
    "--rotate-bytes",
    kind="bytes",
    metavar="SIZE",
    setting="rotate_bytes",
    help="Seal the log first when it has grown past this, like 64MiB; never unless given.",
)
ACTOR = Option(
    "actor",
    "--actor",
    kind="sentence",
    metavar="NAME",
    setting="actor",
    help="Who asks; else what the CI system states, else the user of this machine.",
)
EVIDENCE = Option(
    "evidence",
    "--evidence",
    kind="sentence",
    metavar="KEY=VALUE|FILE",
    repeat=True,
    help="A reference that the policy asks for, or a JSON file of them; it lasts for the run.",
)
SNAPSHOT = Option(
    "snapshot",
    "--snapshot",
    kind="path",
    metavar="FILE|-",
    conflicts=("collect",),
    help="The evidence, one JSON object; - reads it from standard input.",
)
COLLECT = Option(
    "collect",
    "--collect",
    kind="path",
    metavar="FILE",
    conflicts=("as_of", "baseline"),
    help="Take the evidence from the sources that this collection file names.",
)
EVIDENCE_SOURCES = ("snapshot", "collect")
"""Options of which a command that judges needs one."""

VERBOSE = Option(
    "verbose",
    "--verbose",
    kind="flag",
    requires=("collect",),
    help="Show on standard error each query, its value, watermark and age.",
)
BASELINE = Option(
    "baseline",
    "--baseline",
    kind="path",
    metavar="FILE",
    help="The baseline part of the evidence, where the snapshot has none.",
)
IDEMPOTENCY_KEY = Option(
    "idempotency_key",
    "--idempotency-key",
    kind="sentence",
    metavar="KEY",
    help="Identity of the CI job: the same key gets the same answer.",
)
POLICY = Option("policy", "--policy", kind="path", metavar="FILE", required=True, help="The policy file, JSON or YAML.")
EXPERIMENT = Option(
    "experiment", "--experiment", kind="name", metavar="NAME", required=True, help="What is being rolled out."
)
VARIANT = Option("variant", "--variant", kind="name", metavar="NAME", required=True, help="Which variant of it.")
REVISION = Option(
    "revision",
    "--revision",
    kind="sentence",
    metavar="TEXT",
    help="Image digest, commit or config hash; fixed by the run's first decision.",
)
RUN_ID = Option(
    "run_id",
    "--run-id",
    kind="run_id",
    metavar="RUN",
    help="Another name for the run than experiment:variant:policy_version.",
)
SUPERSEDE = Option(
    "supersede",
    "--supersede",
    kind="run_id",
    metavar="RUN",
    help="Stop this live run of the same experiment and variant in the same step.",
)
CHANGE_CLASS = Option(
    "change_class",
    "--change-class",
    choices=("reversible", "stateful_or_irreversible", "unsafe_for_experiment"),
    kind="choice",
    metavar="CLASS",
    help="reversible (what is taken for granted), stateful_or_irreversible or unsafe_for_experiment; "
    "fixed by the run's first decision.",
)
DRY_RUN = Option("dry_run", "--dry-run", kind="flag", help="Evaluate and record nothing; always ends with 3.")


def output(*formats: str) -> Option:
    """`-o/--output` of a command that can answer in *formats*."""
    return Option(
        "output",
        "--output",
        "-o",
        kind="choice",
        choices=formats,
        metavar="FORMAT",
        default="text",
        setting="output",
        help=f"How to answer: {', '.join(formats)}.",
    )


def as_of(*conflicts: str) -> Option:
    """`--as-of` of a command that can simulate."""
    return Option(
        "as_of",
        "--as-of",
        kind="moment",
        metavar="TIME|snapshot",
        conflicts=conflicts,
        help="Evaluate as if it were this time (snapshot: its collected_at); only for runs simulated from their start.",
    )
