"""The `git` command as this ledger calls it: what it inherits, what is kept from it, how long it may take."""

from __future__ import annotations

import os

from gatekeeper.errors import LogError, UsageError
from gatekeeper.ledger.git.running import Running, TimeLimitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.ledger.git.running import Ended

LOCAL_SECONDS = 120.0
"""How long git may take for what it does on this machine."""

_OF_ANOTHER_REPOSITORY = frozenset({
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
    "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE", "GIT_CONFIG",
})  # fmt: skip
"""What a hook or an alias is given of the repository in which it runs: ours is another one."""

_OWN_CONFIG = (
    ("core.hooksPath", os.devnull),  # hooks that people have for all their repositories know nothing of this one
    ("core.fsync", "none"),  # what is kept here is a copy; the receiving side says what it waits for
    ("gc.auto", "0"),
    ("pack.threads", "1"),
    ("push.followTags", "false"),
    ("push.gpgSign", "false"),
    ("push.recurseSubmodules", "no"),
)
_SSH = "ssh -o BatchMode=yes -o ConnectTimeout=10"


class Git:
    """Calls git on one bare repository of this machine.

    Args:
        repository: where it stands, or will.
        environ: what git inherits.
    """

    def __init__(self, repository: str, environ: Mapping[str, str] = os.environ) -> None:
        self.repository = repository
        self.environment = {name: value for name, value in environ.items() if name not in _OF_ANOTHER_REPOSITORY}
        self.environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_DIR": repository}
        self.environment["GIT_DEFAULT_REF_FORMAT"] = "files"

    def command(self, *arguments: str) -> list[str]:
        """The whole command line."""
        given = [part for name, value in _OWN_CONFIG for part in ("-c", f"{name}={value}")]
        return ["git", *given, *arguments]

    def start(self, *arguments: str, data: bytes = b"") -> Running:
        """Start git and go on.

        Raises:
            UsageError: there is no git (64).
        """
        try:
            return Running(self.command(*arguments), self.environment, data)
        except FileNotFoundError:
            raise no_git() from None

    def run(self, *arguments: str, data: bytes = b"") -> Ended:
        """What git does on this machine, to its end.

        Raises:
            UsageError: there is no git (64). LogError: it does not come to an end.
        """
        try:
            return self.start(*arguments, data=data).finish(LOCAL_SECONDS)
        except TimeLimitError:
            raise LogError(
                f"git {arguments[0]} did not end within {LOCAL_SECONDS:.0f} s in {self.repository}",
                remedy="look whether this disk answers, then ask again",
            ) from None

    def ask_nothing_over_ssh(self) -> None:
        """Let ssh fail where it would ask a person, unless people have said how it is to be called."""
        if "GIT_SSH_COMMAND" not in self.environment and "GIT_SSH" not in self.environment:
            stated = self.run("config", "--get", "core.sshCommand")
            if stated.code != 0:
                self.environment["GIT_SSH_COMMAND"] = _SSH


def no_git() -> UsageError:
    """The error where the command is not there."""
    return UsageError("a git ledger needs the git command, and it is not on PATH", remedy="install git")
