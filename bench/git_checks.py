"""`gatekeeper check` on a git ledger, against committing and pushing the same line by hand."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess

from checks import Desk
from environments import GATE, HERE, program, system_program
from figures import Figure, at_most, attempted
from timing import FailedError, ratio, rounds, timed

BRANCH = "gatekeeper-log"
EVENTS = 10_000


class GitDesk(Desk):
    """A branch of a bare repository that grows by checks of one run; the cache of this machine is warm.

    Args:
        repository: bare; its branch holds events already.
    """

    def __init__(self, directory: str, repository: str) -> None:
        super().__init__(directory)
        self.log = f"git+file://{repository}#{BRANCH}"

    def assert_recorded(self) -> None:
        """Every check that was asked has an ACCEPT of its own on the branch, and the chain holds."""
        gate = program(GATE, "gatekeeper")
        for command in (["verify", "--chain-only"], ["replay", "--verdict", "ACCEPT", "-o", "ndjson"]):
            done = subprocess.run([gate, *command, "--log", self.log], capture_output=True, check=False)
            if done.returncode:
                raise FailedError(done.stderr.decode())
        runs = [json.loads(line)["run_id"] for line in done.stdout.splitlines()]
        accepted = sum(not run_id.startswith("fill-") for run_id in runs)
        if accepted != self._asked:
            raise FailedError(f"{self._asked} checks left {accepted} ACCEPTs on {self.log}")


class Clone:
    """A clone of such a branch with all its files, in which a line becomes a new file beside the others."""

    def __init__(self, directory: str, repository: str, line: bytes) -> None:
        self._git = system_program("git")
        self._directory = os.path.join(directory, "clone")
        self._output = os.path.join(directory, "output.txt")
        self._line = line
        clone = ["clone", "--quiet", "--branch", BRANCH, f"file://{repository}", self._directory]
        subprocess.run([self._git, *clone], check=True)
        for name, value in (("user.name", "bench"), ("user.email", "bench@localhost")):
            subprocess.run([self._git, "-C", self._directory, "config", name, value], check=True)

    def commit_and_push(self, number: int) -> float:
        """Seconds of `git commit` and of `git push`; the file is written and staged before the clock starts."""
        path = os.path.join("events", "by-hand", f"{number:09d}.ndjson")
        place = os.path.join(self._directory, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(self._line[:-2] + f',"n":{number}}}\n'.encode())
        subprocess.run([self._git, "-C", self._directory, "add", path], check=True)
        return self._timed("commit", "--quiet", "--message", "by hand") + self._timed("push", "--quiet")

    def _timed(self, *arguments: str) -> float:
        return timed([self._git, *arguments], directory=self._directory, output=self._output)


def fill(repository: str, log: str, events: int) -> bytes:
    """A bare repository with one commit for each event of a new log, as the ledger leaves them; the last line."""
    subprocess.run([program(GATE, "python"), os.path.join(HERE, "fill_worker.py"), log, str(events)], check=True)
    git = system_program("git")
    subprocess.run([git, "init", "--quiet", "--bare", repository], check=True)
    importing = subprocess.Popen([git, "-C", repository, "fast-import", "--quiet"], stdin=subprocess.PIPE)
    assert importing.stdin is not None
    line = b""
    with open(log, "rb") as file, importing.stdin as out:
        for line in file:
            seq = f"{json.loads(line)['seq']:09d}"
            out.write(f"commit refs/heads/{BRANCH}\ncommitter b <b@b> {1_700_000_000 + int(seq)} +0000\n".encode())
            out.write(f"data 0\nM 100644 inline events.ndjson\ndata {len(line)}\n".encode())
            out.write(line + b"\n")
    if importing.wait():
        raise FailedError("git fast-import failed")
    return line


def checking(directory: str, count: int) -> list[Figure]:
    """A check as a whole process: look where the branch stands, decide, commit, push, keep the copy level."""
    name = f"`check` on a git ledger (bare local repository, {EVENTS:,} events, warm copy) : `git commit` + `git push`"

    def measure() -> Figure:
        os.makedirs(directory)
        kept = {name: os.environ.get(name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
        os.environ |= {name: os.path.join(directory, name) for name in kept}
        try:
            ours, theirs = (os.path.join(directory, f"{name}.git") for name in ("ours", "theirs"))
            line = fill(ours, os.path.join(directory, "fill.ndjson"), EVENTS)
            shutil.copytree(ours, theirs)
            desk, clone = GitDesk(os.path.join(directory, "desk"), ours), Clone(directory, theirs, line)
            desk.begin()
            values = rounds({"ours": desk.known, "theirs": clone.commit_and_push}, count=count)
            desk.assert_recorded()
        finally:
            for name, value in kept.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value
        told = [f"{statistics.median(values[one]) * 1000:.1f} ms" for one in ("ours", "theirs")]
        least = [f"{min(values[one]) * 1000:.1f}" for one in ("ours", "theirs")]
        note = f"{' : '.join(told)}, fastest of each {' : '.join(least)}"
        return at_most(name, ratio(values, "ours", "theirs"), 2.0, 1.3, note=note)

    return [attempted(name, "<= 2.00 x", "<= 1.30 x", measure)]
