"""`gatekeeper init [DIR]`: policies/, collections/, snapshots/, logs/ and a CI workflow to begin with.

Nothing that exists is touched: every file is created exclusively, so even one that appears meanwhile is kept.
"""

from __future__ import annotations

import os
import shlex

from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.present import layout_of_output
from gatekeeper.errors import LogError, UsageError
from gatekeeper.render import load
from gatekeeper.render.page import Command, Fields, Lines, Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.cli.values import Values
    from gatekeeper.render.page import Block

FILES = {
    "policies/rollout.json": "policy.json",
    "policies/README.md": "policies.md",
    "policies/golden/accept.json": "golden-accept.json",
    "policies/golden/hold.json": "golden-hold.json",
    "policies/golden/reject.json": "golden-reject.json",
    "collections/rollout.json": "collection.json",
    "collections/README.md": "collections.md",
    "snapshots/example.json": "snapshot.json",
    "snapshots/README.md": "snapshots.md",
    "logs/.gitignore": "gitignore",
    "logs/README.md": "logs.md",
    ".github/workflows/rollout-gate.yml": "rollout-gate.yml",
}
"""Path below DIR -> file in `cli/starter/`."""

FIRST_CHECK = [
    *("gatekeeper", "check", "--policy", "policies/rollout.json", "--experiment", "exp-42", "--variant", "B"),
    *("--snapshot", "snapshots/example.json", "--as-of", "snapshot", "--evidence", "change_id=CHG-123"),
    *("--log", "logs/try.ndjson"),
]
"""What to type next: it is accepted. A log of its own, because a simulated run is none to keep."""

LINT = [
    *("gatekeeper", "collect", "--lint", "collections/rollout.json", "--policy", "policies/rollout.json"),
]
"""What to type once the queries in the collection file are one's own; it passes as laid out."""

SCRIPTS = {
    "ci/collect-evidence STAGE": "prints a snapshot of that stage on standard output"
    " (or let gatekeeper collect collections/rollout.json do that)",
    "ci/set-traffic PERCENT": "gives that share of users the change",
}
"""What the workflow calls and only the user can write."""


def init(values: Values) -> Outcome:
    """Write what is not there; name what was written, what was kept, and the next command."""
    directory = values.optional_text("directory") or "."
    written: list[str] = []
    kept: list[str] = []
    for path, source in FILES.items():
        (written if _write(os.path.join(directory, path), starter(source)) else kept).append(path)
    page = _page(directory, written, kept)
    return Outcome(load(values.text("output")).page(page, layout_of_output()))


def starter(name: str) -> bytes:
    """The bytes of a file of the starter content."""
    with open(os.path.join(os.path.dirname(__file__), "starter", name), "rb") as file:
        return file.read()


def _write(path: str, data: bytes) -> bool:
    """Create *path* with *data*; False where something of that name exists.

    Raises:
        UsageError: a directory that is needed cannot be one: a file has its name.
        LogError: the file cannot be written.
    """
    is_created = False
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as file:
            is_created = True
            file.write(data)
    except OSError as error:
        if is_created:  # half a file would be kept by the next call
            os.unlink(path)
        elif isinstance(error, FileExistsError) and os.path.lexists(path):
            return False
        elif isinstance(error, (FileExistsError, NotADirectoryError)):
            raise UsageError(
                f"{error.filename}: a directory is needed here, and something else has that name",
                remedy="move it away, or give gatekeeper init another DIR",
            ) from None
        raise LogError(
            f"{path} cannot be written: {error.strerror}",
            remedy="mend that, and give the same command again: what is there already is kept",
        ) from None
    return True


def _page(directory: str, written: list[str], kept: list[str]) -> Page:
    headline = f"{len(written)} files written" if written else "nothing to write"
    steps: list[Block] = []
    if not _is_here(directory):
        steps.append(Command(["cd", shlex.quote(directory)], title="next"))
    steps.append(Command(FIRST_CHECK, title="" if steps else "next"))
    steps.append(Command(LINT, title="to take evidence from your Prometheus, put your queries in, then"))
    blocks: list[Block] = [
        Fields(
            [
                ("in", [os.path.abspath(directory)]),
                ("written", written),
                ("kept", [f"{path} (was there)" for path in kept]),
            ]
        ),
        *steps,
        Lines(
            [f"{script} {what}" for script, what in SCRIPTS.items()], title="the workflow calls two scripts of yours"
        ),
    ]
    document = {
        "directory": os.path.abspath(directory),
        "written": written,
        "kept": kept,
        "next": {"directory": os.path.abspath(directory), "command": FIRST_CHECK, "lint": LINT},
    }
    return Page(headline, blocks, document=document)


def _is_here(directory: str) -> bool:
    try:
        return os.path.samefile(directory, ".")
    except OSError:  # the working directory is gone
        return False
