"""What a commit of the branch holds, and what it holds more than another: files by the seq of their first line."""

from __future__ import annotations

from gatekeeper.ledger.git.commits import DIRECTORY, seq_of_place
from gatekeeper.ledger.git.remote import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gatekeeper.ledger.git.command import Git
    from gatekeeper.ledger.git.running import Ended

_BLOBS_AT_ONCE = 256
_LEAF = "100644"
_TREE = "040000"


class UnreadableObjectsError(Exception):
    """The local repository lacks an object, or holds a damaged one."""


class ChangedError(Exception):
    """A file that was there is another one now, or gone, or one was put in before it: no log does that."""


def added_files(git: Git, before: str, after: str) -> list[str]:
    """Ids of the files that commit *after* holds behind those of *before*, in order.

    Raises:
        ChangedError: what *before* holds is not the beginning of what *after* holds.
        UnreadableObjectsError: one of the two is not here.
    """
    ended = _run(git, "diff-tree", "-r", "-z", "--no-renames", before, after, "--", DIRECTORY)
    parts = ended.out.decode("utf-8", "surrogateescape").split("\0")
    found: list[tuple[int, str]] = []
    for facts, path in zip(parts[::2], parts[1::2], strict=False):
        seq = seq_of_place(path)
        if seq is None:
            continue  # no file of the log
        _, _, _, blob, status = facts.split(" ")
        if status != "A":
            raise ChangedError(path)
        found.append((seq, blob))
    last = _last_seq(git, before) if found else 0
    if found and min(found)[0] <= last:
        raise ChangedError(f"a file before seq {last}")
    return [blob for _, blob in sorted(found)]


def files_of(git: Git, commit: str, *, after: int = 0) -> Iterator[str]:
    """Ids of the files of a commit, in order, from the one on that holds the line behind seq *after*.

    Raises:
        UnreadableObjectsError: the local repository does not hold them.
    """
    waiting: str | None = None
    for seq, blob in _walk(git, f"{commit}:{DIRECTORY}", DIRECTORY, after):
        if waiting is not None and seq > after + 1:
            yield waiting
        waiting = blob
    if waiting is not None:
        yield waiting


def contents_of(git: Git, blobs: Iterable[str]) -> Iterator[bytes]:
    """The bytes of each file; a last line without its newline is given one.

    Raises:
        UnreadableObjectsError: the local repository does not hold them.
    """
    batch: list[str] = []
    for blob in blobs:
        batch.append(blob)
        if len(batch) == _BLOBS_AT_ONCE:
            yield from _contents(git, batch)
            batch = []
    if batch:
        yield from _contents(git, batch)


def _contents(git: Git, blobs: Sequence[str]) -> Iterator[bytes]:
    ended = _run(git, "cat-file", "--batch", data="".join(f"{blob}\n" for blob in blobs).encode())
    data, start = ended.out, 0
    for blob in blobs:
        end = data.find(b"\n", start)
        header = data[start:end].split(b" ")
        if end < 0 or len(header) != 3 or header[1] != b"blob":
            raise UnreadableObjectsError(f"{blob} is not there")
        start = end + 1 + int(header[2])
        content = data[end + 1 : start]
        start += 1
        yield content if content.endswith(b"\n") or not content else content + b"\n"


def _last_seq(git: Git, commit: str) -> int:
    """The seq in the name of a commit's last file; 0 when it has none."""
    place, path = f"{commit}:{DIRECTORY}", DIRECTORY
    while True:
        entries = _entries(git, place, path)
        if not entries:
            return 0
        seq, kind, name, path = entries[-1]
        if kind != _TREE:
            return seq
        place = name


def _walk(git: Git, tree: str, path: str, after: int) -> Iterator[tuple[int, str]]:
    """Seq and id of each file below a directory, less those that are far before the line behind *after*."""
    entries = _entries(git, tree, path)
    at = max((number for number, entry in enumerate(entries) if entry[0] <= after + 1), default=0)
    for seq, kind, name, below in entries[max(0, at - 1) :]:  # the one before may reach into it
        if kind == _TREE:
            yield from _walk(git, name, below, after)
        else:
            yield seq, name


def _entries(git: Git, tree: str, path: str) -> list[tuple[int, str, str, str]]:
    """Lowest seq, mode, id and path of what stands in a directory and is part of the log, by rising seq."""
    ended = git.run("ls-tree", "-z", tree)
    if ended.code != 0:
        if b"Not a valid object name" in ended.err and path == DIRECTORY and _is_commit(git, tree.partition(":")[0]):
            return []  # a branch on which no event stands
        raise UnreadableObjectsError(words_of(ended))
    entries = []
    for line in ended.out.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        facts, _, name = line.partition("\t")
        mode, _, found = facts.split(" ")
        seq = _lowest_seq(f"{path}/{name}", mode)
        if seq is not None:
            entries.append((seq, mode, found, f"{path}/{name}"))
    return sorted(entries)


def _lowest_seq(path: str, mode: str) -> int | None:
    if mode == _LEAF:
        return seq_of_place(path)
    parts = path.split("/")[1:]
    if mode != _TREE or len(parts) > 2 or not all(part.isascii() and part.isdecimal() for part in parts):
        return None
    return int(parts[0]) * 1_000_000 + (int(parts[1]) * 1_000 if len(parts) > 1 else 0)


def _is_commit(git: Git, name: str) -> bool:
    return git.run("cat-file", "-e", f"{name}^{{commit}}").code == 0


def _run(git: Git, *arguments: str, data: bytes = b"") -> Ended:
    ended = git.run(*arguments, data=data)
    if ended.code != 0:
        raise UnreadableObjectsError(words_of(ended))
    return ended
