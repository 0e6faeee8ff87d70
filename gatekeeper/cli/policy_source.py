"""Where a policy is read from: a file, or `git:REV:PATH`, a file as it was in a revision.

The git command reads it, as the caller of this program has it; nothing is fetched or checked out.
"""

from __future__ import annotations

import os

from gatekeeper.errors import PolicyError, UsageError
from gatekeeper.review.load import load_policy_document, read_policy_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.model.policy import LoadedPolicy

_GIT = "git:"
_FORM = "write git:REVISION:PATH, like git:origin/main:policies/checkout.json"


def load_policy_from(source: str) -> tuple[LoadedPolicy, bytes]:
    """The policy at *source*, and its bytes.

    Raises:
        UsageError: `git:` without revision or path, or no git command.
        PolicyError: it cannot be read, or is no policy.
    """
    data = read_policy_from(source)
    return load_policy_document(data, source), data


def read_policy_from(source: str) -> bytes:
    """The bytes of a policy file. Raises as `load_policy_from` does, but for what the bytes hold."""
    return _read_from_git(source) if source.startswith(_GIT) else read_policy_file(source)


def _read_from_git(source: str) -> bytes:
    revision, colon, path = source.removeprefix(_GIT).partition(":")
    if not (revision and colon and path) or revision.startswith("-"):
        raise UsageError(f"{source}: it names no revision and path", remedy=_FORM)
    found, why = _git("rev-parse", "--git-dir")
    if found is None:
        raise PolicyError(f"{source}: git finds no repository here: {why}", remedy="go into a checkout, or give a file")
    tree, _ = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}")
    if tree is None:
        raise PolicyError(
            f"{source}: the repository knows no revision {revision!r}",
            remedy="fetch it first (a shallow clone holds only the last commits): git fetch origin",
        )
    data, _ = _git("cat-file", "blob", f"{revision}:{path}")
    if data is None:
        raise PolicyError(
            f"{source}: revision {revision!r} has no file {path!r}",
            remedy="give the path from the top of the repository, or from here with ./ before it",
        )
    return data


def _git(*arguments: str) -> tuple[bytes | None, str]:
    """What git prints, or None and what it complains about."""
    import subprocess

    # no promise of a partial clone is redeemed: reading a policy opens no connection
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603 - no shell; what begins with a dash is refused before
            ["git", *arguments],  # noqa: S607 - the caller's git
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as failed:
        raise UsageError(f"the git command cannot be run: {failed.strerror}", remedy="install git") from None
    if done.returncode == 0:
        return done.stdout, ""
    complaint = done.stderr.decode(errors="replace").strip().splitlines()
    return None, complaint[0] if complaint else "it fails without a word"
