"""`gatekeeper check` on a git ledger, against committing and pushing the same line by hand."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
from collections.abc import Callable

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
    """A checkout of a branch with as many events, in which the same line is committed and pushed by hand.

    Args:
        directory: of its own.
        place: path of the file that gets the line of a seq.
    """

    def __init__(self, directory: str, repository: str, line: bytes, place: Callable[[int], str]) -> None:
        os.makedirs(directory)
        self._git = system_program("git")
        self._directory = os.path.join(directory, "clone")
        self._output = os.path.join(directory, "output.txt")
        self._line, self._place = line, place
        clone = ["clone", "--quiet", "--branch", BRANCH, f"file://{repository}", self._directory]
        subprocess.run([self._git, *clone], check=True)
        for name, value in (("user.name", "bench"), ("user.email", "bench@localhost")):
            subprocess.run([self._git, "-C", self._directory, "config", name, value], check=True)

    def commit_and_push(self, number: int) -> float:
        """Seconds of `git commit` and of `git push`; the file is written and staged before the clock starts."""
        path = self._place(EVENTS + 1 + number)
        place = os.path.join(self._directory, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(self._line[:-2] + f',"n":{number}}}\n'.encode())
        subprocess.run([self._git, "-C", self._directory, "add", path], check=True)
        return self._timed("commit", "--quiet", "--message", "by hand") + self._timed("push", "--quiet")

    def _timed(self, *arguments: str) -> float:
        return timed([self._git, *arguments], directory=self._directory, output=self._output)


def in_its_own_file(seq: int) -> str:
    """All events stand in the checkout, a thousand files in a directory at most."""
    name = f"{seq:09d}"
    return f"events/{name[:3]}/{name[3:6]}/{name}.ndjson"


def in_one_file(_seq: int) -> str:
    """The checkout has the last event alone, as the ledger's own commits have it."""
    return "events.ndjson"


def fill(repository: str, log: str, place: Callable[[int], str]) -> bytes:
    """A bare repository with one commit for each event of a log; the last line."""
    git = system_program("git")
    subprocess.run([git, "init", "--quiet", "--bare", repository], check=True)
    importing = subprocess.Popen([git, "-C", repository, "fast-import", "--quiet"], stdin=subprocess.PIPE)
    assert importing.stdin is not None
    line = b""
    with open(log, "rb") as file, importing.stdin as out:
        for line in file:
            seq = int(json.loads(line)["seq"])
            out.write(f"commit refs/heads/{BRANCH}\ncommitter b <b@b> {1_700_000_000 + seq} +0000\n".encode())
            out.write(f"data 0\nM 100644 inline {place(seq)}\ndata {len(line)}\n".encode())
            out.write(line + b"\n")
    if importing.wait():
        raise FailedError("git fast-import failed")
    return line


def checking(directory: str, count: int) -> list[Figure]:
    """A check as a whole process: look where the branch stands, decide, commit, push, keep the copy level."""
    name = (
        f"`check` on a git ledger, bare local repository with {EVENTS:,} events, warm copy : "
        "`git commit` and `git push` of the same line, all events in the checkout"
    )

    def measure() -> Figure:
        os.makedirs(directory)
        kept = {variable: os.environ.get(variable) for variable in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
        os.environ |= {variable: os.path.join(directory, variable) for variable in kept}
        try:
            log = os.path.join(directory, "fill.ndjson")
            subprocess.run(
                [program(GATE, "python"), os.path.join(HERE, "fill_worker.py"), log, str(EVENTS)], check=True
            )
            ours, theirs, lean = (os.path.join(directory, f"{name}.git") for name in ("ours", "theirs", "lean"))
            fill(theirs, log, in_its_own_file)
            line = fill(ours, log, in_one_file)
            shutil.copytree(ours, lean)
            desk = GitDesk(os.path.join(directory, "desk"), ours)
            clone = Clone(os.path.join(directory, "theirs"), theirs, line, in_its_own_file)
            lean_clone = Clone(os.path.join(directory, "lean"), lean, line, in_one_file)
            desk.begin()
            subjects = {"ours": desk.known, "theirs": clone.commit_and_push, "lean": lean_clone.commit_and_push}
            values = rounds(subjects, count=count)
            desk.assert_recorded()
        finally:
            for variable, value in kept.items():
                os.environ.pop(variable)
                if value is not None:
                    os.environ[variable] = value
        told = {one: f"{statistics.median(spent) * 1000:.1f} ms" for one, spent in values.items()}
        least = " : ".join(f"{min(values[one]) * 1000:.1f}" for one in ("ours", "theirs"))
        note = (
            f"{told['ours']} : {told['theirs']}, fastest of each {least}; with the last event alone in the checkout "
            f"by hand {told['lean']}, {ratio(values, 'ours', 'lean'):.2f} x"
        )
        return at_most(name, ratio(values, "ours", "theirs"), 2.0, 1.3, note=note)

    return [attempted(name, "<= 2.00 x", "<= 1.30 x", measure)]
