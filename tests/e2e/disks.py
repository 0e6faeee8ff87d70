"""HO-13: five ways in which a log cannot be written, each for as long as a block lasts."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from tests.e2e.desk import COMMAND, LIMIT_SECONDS, Desk, Done


@contextmanager
def full_device(desk: Desk) -> Iterator[Callable[[list[str]], Done]]:
    """The log stands on a file system of its own that is full, where this user may mount one."""
    room = desk.place / "room"
    room.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(room)], check=True)
    try:
        shutil.copytree(desk.log.parent, room, dirs_exist_ok=True)
        filler = room / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass

        def ask(argv: list[str]) -> Done:
            return desk.gate(*argv, "--log", "room/decision.ndjson")

        yield ask
        filler.unlink()
        shutil.copytree(room, desk.log.parent, dirs_exist_ok=True)
    finally:
        subprocess.run(["umount", str(room)], check=True)


@contextmanager
def file_limit(desk: Desk) -> Iterator[Callable[[list[str]], Done]]:
    """The process may write no file beyond the size that the log has: what a quota does."""
    blocks = -(-desk.log.stat().st_size // 1024)

    def ask(argv: list[str]) -> Done:
        script = f'trap "" XFSZ\nulimit -f {blocks}\nexec "$@"'
        done = subprocess.run(
            ["bash", "-c", script, "-", *COMMAND, *argv],
            cwd=desk.place,
            env=desk.env(),
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT_SECONDS,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    yield ask


@contextmanager
def folder_in_place(desk: Desk) -> Iterator[Callable[[list[str]], Done]]:
    """A folder has the log's name."""
    kept = desk.place / "kept"
    desk.log.rename(kept)
    desk.log.mkdir()
    yield lambda argv: desk.gate(*argv)
    desk.log.rmdir()
    kept.rename(desk.log)


@contextmanager
def read_only(desk: Desk) -> Iterator[Callable[[list[str]], Done]]:
    """The log's folder is on a file system that is mounted read-only, where this user may mount one."""
    folder = str(desk.log.parent)
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        yield lambda argv: desk.gate(*argv)
    finally:
        subprocess.run(["umount", folder], check=True)


@contextmanager
def under_a_file(desk: Desk) -> Iterator[Callable[[list[str]], Done]]:
    """What should be the log's folder is a file."""
    kept = desk.place / "kept"
    desk.log.parent.rename(kept)
    desk.log.parent.write_bytes(b"")
    yield lambda argv: desk.gate(*argv)
    desk.log.parent.unlink()
    kept.rename(desk.log.parent)


@contextmanager
def no_permission(desk: Desk) -> Iterator[Callable[[list[str]], Done]]:
    """The log and its folder belong to somebody who lets this user read only; root is not stopped by that."""
    modes = {path: path.stat().st_mode for path in [*desk.log.parent.iterdir(), desk.log.parent]}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        yield lambda argv: desk.gate(*argv)
    finally:
        for path, mode in reversed(modes.items()):
            path.chmod(mode)


def may_mount() -> bool:
    """Whether this user may mount: root in most containers for CI may not."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    probe = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]
    return subprocess.run(probe, check=False, capture_output=True).returncode == 0


Situation = Callable[[Desk], AbstractContextManager[Callable[[list[str]], Done]]]
SITUATIONS: list[Situation] = [file_limit, folder_in_place, under_a_file]
SITUATIONS += [full_device, read_only] if may_mount() else []
SITUATIONS += [no_permission] if os.geteuid() != 0 else []
