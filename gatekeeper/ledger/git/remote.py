"""The branch on the other side: where it stands, what it holds, and moving it on by one commit."""

from __future__ import annotations

import os

from gatekeeper.errors import LedgerUnreachableError
from gatekeeper.ledger.git.running import TimeLimitError
from gatekeeper.model.masking import mask_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.address import Address
    from gatekeeper.ledger.git.command import Git
    from gatekeeper.ledger.git.running import Ended, Running

LOOK_SECONDS = 30.0
PUSH_SECONDS = 60.0
FETCH_SECONDS = 600.0
"""How long the other side may take to say where the branch stands, to take a commit, to hand a whole log over."""

TIP_REF = "refs/gatekeeper/tip"
"""What was fetched last stands here, so that git keeps its objects."""

# Of a repository on this machine the receiving side is ours to ask: the commit is on the device when it answers.
_LOCAL_RECEIVER = "git -c core.fsync=all receive-pack"
_HURRIED_RECEIVER = "git -c core.fsync=all -c receive.autogc=false receive-pack"
_TIDIES_ONE_IN = 32  # so seldom is it let look whether it has to pack what has gathered
_SHOWN_LINES = 6

_NOISE = ("hint:", "remote: hint:", "Please make sure you have the correct access", "and the repository exists", "To ")

# What git says where the other side has not even told its branches, so that nothing was sent to it.
_AT_FIRST_CONTACT = ("Could not read from remote repository", "hung up upon initial contact", "unable to access")


class Pushed:
    """What the other side said of a push.

    Attributes:
        answer: one of the words below.
        reason: for people; empty where it was taken.
    """

    __slots__ = ("answer", "reason")

    TAKEN = "taken"
    STOOD_THERE = "stood there"  # the branch stands at just this commit already
    NOT_EXPECTED = "not expected"  # it stands elsewhere: nothing was changed
    REFUSED = "refused"  # a hook, a rule, or another push at the same moment: nothing was changed
    NOT_SENT = "not sent"  # the other side was not reached at all
    UNKNOWN = "unknown"  # no answer: it may have been taken

    def __init__(self, answer: str, reason: str = "") -> None:
        self.answer = answer
        self.reason = reason


class Remote:
    """One branch of one repository, asked through *git*."""

    def __init__(self, address: Address, git: Git) -> None:
        self.address = address
        self.ref = f"refs/heads/{address.branch}"
        self._git = git
        self._is_prepared = not address.target.startswith("ssh:")

    def start_looking(self) -> Running:
        """Ask where the branch stands, and do not wait for the answer."""
        self._prepare()
        return self._git.start("ls-remote", self.address.target, self.ref)

    def tip(self, looking: Running | None = None) -> str | None:
        """The commit at which the branch stands; None where there is no such branch.

        Args:
            looking: an answer that is under way.

        Raises:
            LedgerUnreachableError: the repository cannot be reached, or does not let us in.
        """
        looking = looking if looking is not None else self.start_looking()
        try:
            ended = looking.finish(LOOK_SECONDS)
        except TimeLimitError:
            raise self.unreachable(f"no answer within {LOOK_SECONDS:.0f} s") from None
        if ended.code != 0:
            raise self.unreachable(words_of(ended))
        for line in ended.out.split(b"\n"):
            commit, _, name = line.partition(b"\t")
            if name == self.ref.encode():
                return commit.decode()
        return None

    def fetch(self) -> Ended | None:
        """Get the branch with its history, as far as it is not here; None: not within the time."""
        self._prepare()
        wanted = f"+{self.ref}:{TIP_REF}"
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance")
        try:
            return self._git.start("fetch", *options, self.address.target, wanted).finish(FETCH_SECONDS)
        except TimeLimitError:
            return None

    def push(self, commit: str, *, expected: str | None) -> Pushed:
        """Move the branch on from *expected* (None: there is none) to *commit*, whose parent that is.

        The lease is the compare-and-set: the branch must stand at just that commit, and the receiving side compares
        once more while it holds the branch's lock. Nothing is forced: the new commit continues the expected one.
        """
        self._prepare()
        options = ["--porcelain", "--no-progress", "--no-verify", f"--force-with-lease={self.ref}:{expected or ''}"]
        if self.address.target.startswith("file:"):
            receiver = _HURRIED_RECEIVER if os.urandom(1)[0] % _TIDIES_ONE_IN else _LOCAL_RECEIVER
            options.append(f"--receive-pack={receiver}")
        try:
            ended = self._git.start("push", *options, self.address.target, f"{commit}:{self.ref}").finish(PUSH_SECONDS)
        except TimeLimitError:
            return Pushed(Pushed.UNKNOWN, f"no answer within {PUSH_SECONDS:.0f} s")
        return _read_answer(ended, self.ref)

    def unreachable(self, why: str) -> LedgerUnreachableError:
        """The error for people."""
        return LedgerUnreachableError(
            f"{self.address.shown} cannot be reached: {why}",
            remedy=f"check that `git ls-remote` reaches it from here and may read and push {self.address.branch}",
        )

    def _prepare(self) -> None:
        if not self._is_prepared:
            self._git.ask_nothing_over_ssh()
            self._is_prepared = True


def words_of(ended: Ended) -> str:
    """What git said, in few lines and without credentials."""
    lines = [line.strip() for line in ended.err.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith(_NOISE)]
    return mask_text("; ".join(lines[-_SHOWN_LINES:])) or f"git ended with {ended.code}"


def _read_answer(ended: Ended, ref: str) -> Pushed:
    """Read `git push --porcelain`: a flag, the refs, a summary, between tabs."""
    for line in ended.out.decode("utf-8", "replace").splitlines():
        flag, _, rest = line.partition("\t")
        refs, _, summary = rest.partition("\t")
        if refs.partition(":")[2] != ref:
            continue
        if flag == "=":
            return Pushed(Pushed.STOOD_THERE)
        if flag != "!" and ended.code == 0:
            return Pushed(Pushed.TAKEN)
        if summary.startswith("[rejected]"):
            return Pushed(Pushed.NOT_EXPECTED, summary)
        if summary.startswith("[remote rejected]"):
            return Pushed(Pushed.REFUSED, _refusal(summary, ended))
    words = words_of(ended)
    return Pushed(Pushed.NOT_SENT if any(sign in words for sign in _AT_FIRST_CONTACT) else Pushed.UNKNOWN, words)


def _refusal(summary: str, ended: Ended) -> str:
    """Why the other side refused, with what its hook has said."""
    said = [
        line[8:].strip() for line in ended.err.decode("utf-8", "replace").splitlines() if line.startswith("remote: ")
    ]
    reason = summary.removeprefix("[remote rejected] ").strip("()")
    return mask_text("; ".join([reason, *(line for line in said if line)][: _SHOWN_LINES + 1]))
