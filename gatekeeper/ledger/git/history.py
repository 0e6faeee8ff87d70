"""The log as the history of the branch: commits from the first to the last, and the lines that each has added.

A merge counts by its first parent, and a commit that leaves the file as it was adds nothing: people may do such things
on a branch, and none of them changes what is recorded.
"""

from __future__ import annotations

from gatekeeper.ledger.git.commits import FILE
from gatekeeper.ledger.git.remote import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.ledger.git.command import Git
    from gatekeeper.ledger.git.running import Ended

_COMMITS_AT_ONCE = 512
"""So many files are in memory at once."""


class UnreadableObjectsError(Exception):
    """The local repository lacks an object, or holds a damaged one."""


class ChangedError(Exception):
    """The branch does not continue what was seen of it: no append does that."""


def commits_of(git: Git, tip: str) -> list[str]:
    """All commits up to *tip*, the first one first. Raises UnreadableObjectsError: they are not all here."""
    return _run(git, "rev-list", "--first-parent", "--reverse", tip, "--").out.decode("ascii").split()


def commits_between(git: Git, before: str, tip: str) -> list[str]:
    """The commits behind *before* up to *tip*, in order.

    Raises:
        ChangedError: *tip* does not stand on *before*.
        UnreadableObjectsError: they are not all here.
    """
    if before == tip:
        return []
    listed = _run(git, "rev-list", "--first-parent", "--reverse", "--boundary", tip, f"^{before}", "--")
    names = listed.out.decode("ascii").split()
    if [name[1:] for name in names if name.startswith("-")] != [before]:
        raise ChangedError(f"commit {before} is no part of it any more")
    return [name for name in names if not name.startswith("-")]


def contents_of(git: Git, commits: Sequence[str], *, before: str | None = None) -> Iterator[bytes]:
    """What each commit has added, whole lines; a last line without its newline is given one.

    Args:
        commits: in order, each the parent of the next.
        before: the parent of the first one.

    Raises:
        UnreadableObjectsError: the local repository does not hold them.
    """
    seen = None if before is None else next(_files(git, [before]))[0]
    for start in range(0, len(commits), _COMMITS_AT_ONCE):
        for blob, content in _files(git, commits[start : start + _COMMITS_AT_ONCE]):
            if content and blob != seen:
                yield content if content.endswith(b"\n") else content + b"\n"
            seen = blob


def _files(git: Git, commits: Sequence[str]) -> Iterator[tuple[str | None, bytes]]:
    """Id and content of the file of each commit; None for a commit without it."""
    asked = "".join(f"{commit}:{FILE}\n" for commit in commits)
    data, start = _run(git, "cat-file", "--batch", data=asked.encode()).out, 0
    for commit in commits:
        end = data.find(b"\n", start)
        header = data[start:end].split(b" ")
        start = end + 1
        if end < 0:
            raise UnreadableObjectsError(f"{commit} cannot be read")
        if header[-1] == b"missing":
            yield None, b""
            continue
        if len(header) != 3:
            raise UnreadableObjectsError(f"{commit} cannot be read")
        length = int(header[2])
        if header[1] == b"blob":
            yield header[0].decode("ascii"), data[start : start + length]
        else:
            yield None, b""
        start += length + 1


def _run(git: Git, *arguments: str, data: bytes = b"") -> Ended:
    ended = git.run(*arguments, data=data)
    if ended.code != 0:
        raise UnreadableObjectsError(words_of(ended))
    return ended
