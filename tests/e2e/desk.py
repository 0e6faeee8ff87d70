"""A working directory in which the installed command is called as a pipeline calls it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO, Any

from tests.e2e.documents import HEALTHY, Document, policy, snapshot, text

ROOT = str(Path(__file__).parents[2])
_SCRIPT = os.path.join(os.path.dirname(sys.executable), "gatekeeper")
COMMAND = [_SCRIPT] if os.path.exists(_SCRIPT) else [sys.executable, "-m", "gatekeeper"]
"""The installed console script where there is one."""

RUN = "r-41"
FIXED = ["--experiment", "checkout", "--variant", "B"]
LIMIT_SECONDS = 60

GENESIS = "sha256:" + "0" * 64


@dataclass(frozen=True)
class Done:
    """What a process left behind."""

    code: int
    out: bytes
    err: str

    @property
    def document(self) -> Document:
        """Standard output as exactly one JSON document and a newline."""
        assert self.out.endswith(b"\n"), (self.out, self.err)
        assert b"\n" not in self.out[:-1]
        document = json.loads(self.out)
        assert isinstance(document, dict)
        return document

    @property
    def verdict(self) -> tuple[int, list[str], list[str]]:
        """Exit code, reason codes and missing of a check in json."""
        decision = self.document["decision"]
        return self.code, decision["reason_codes"], decision["missing"]


def line_from(stream: IO[bytes] | None) -> bytes:
    """The next line of an unbuffered pipe; fails when none comes."""
    assert stream is not None
    ready, _, _ = select.select([stream], [], [], 30)
    assert ready, "nothing came"
    return stream.readline()


@dataclass
class Desk:
    """Files and processes of one test.

    Attributes:
        place: the working directory.
        environment: changes to the environment of every process; None removes a variable.
    """

    place: Path
    environment: dict[str, str | None] = field(default_factory=dict)
    _numbers: Any = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        """Lay P0 out."""
        self.write("policy.json", policy())

    @property
    def log(self) -> Path:
        """Where the log stands by default."""
        return self.place / "logs" / "decision.ndjson"

    def write(self, name: str, document: Document | str | bytes) -> str:
        """Put a file in place, as a whole at once; its name."""
        data = (
            document
            if isinstance(document, bytes)
            else (document if isinstance(document, str) else text(document)).encode()
        )
        temporary = self.place / f".{next(self._numbers)}.tmp"
        temporary.write_bytes(data)
        temporary.replace(self.place / name)
        return name

    def evidence(self, metrics: Document = HEALTHY, **changes: Any) -> str:
        """A new file of evidence, other than all before it."""
        number = next(self._numbers)
        return self.write(f"snapshot-{number}.json", snapshot(metrics, **{"name": str(number), **changes}))

    def env(self, **changes: str | None) -> dict[str, str]:
        """The environment of a process."""
        wanted: dict[str, str | None] = {**os.environ, "PYTHONPATH": ROOT, **self.environment, **changes}
        return {name: value for name, value in wanted.items() if value is not None}

    def start(self, *argv: str, **env: str | None) -> subprocess.Popen[bytes]:
        """A process with pipes for its output, from which nothing is read ahead."""
        return subprocess.Popen(
            [*COMMAND, *argv],
            bufsize=0,
            cwd=self.place,
            env=self.env(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def gate(self, *argv: str, **env: str | None) -> Done:
        """Call the command and wait for its end."""
        with self.start(*argv, **env) as process:
            out, err = process.communicate(timeout=LIMIT_SECONDS)
        return Done(process.returncode, out, err.decode())

    def pipe(self, data: bytes, *argv: str) -> Done:
        """The same with *data* as standard input."""
        done = subprocess.run(
            [*COMMAND, *argv],
            input=data,
            cwd=self.place,
            env=self.env(),
            capture_output=True,
            check=False,
            timeout=LIMIT_SECONDS,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    def shell(self, line: str, **env: str | None) -> Done:
        """A line of bash in which `gatekeeper` is the command."""
        words = " ".join(f"'{word}'" for word in COMMAND)
        script = f'gatekeeper() {{ {words} "$@"; }}\n{line}'
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.place,
            env=self.env(**env),
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=LIMIT_SECONDS,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    def asking(
        self, metrics: Document | str = HEALTHY, *more: str, run: str | None = RUN, policy: str = "policy.json"
    ) -> list[str]:
        """The arguments of a check with new evidence, or with that of a file."""
        evidence = metrics if isinstance(metrics, str) else self.evidence(metrics)
        run_id = [] if run is None else ["--run-id", run]
        return ["check", "--policy", policy, *FIXED, *run_id, "--snapshot", evidence, *more]

    def check(
        self, metrics: Document | str = HEALTHY, *more: str, run: str | None = RUN, policy: str = "policy.json"
    ) -> Done:
        """A check in json."""
        return self.gate(*self.asking(metrics, "-o", "json", *more, run=run, policy=policy))

    def begin_at(self, stage: str, *more: str, run: str = RUN) -> None:
        """A run that has just been let into *stage*."""
        done = self.check(HEALTHY, "--start-stage", stage, "--reason", "under way", *more, run=run)
        assert done.code == 0, done.err

    def begin_at_with(self, metrics: Document, stage: str, **env: str | None) -> None:
        """The same with other evidence and environment."""
        argv = self.asking(metrics, "--start-stage", stage, "--reason", "under way")
        done = self.gate(*argv, **env)
        assert done.code == 0, done.err

    def hold_at_canary_25(self) -> str:
        """A run at CANARY_10 that is held for a metric on entering CANARY_25; its token."""
        from tests.e2e.documents import BLIND

        self.begin_at("CANARY_10")
        done = self.check(BLIND)
        assert done.verdict == (2, ["observation_missing:guardrail_metric"], ["error_rate"])
        token: str = done.document["resume"]["resume_token"]
        return token

    def events(self, path: Path | None = None) -> list[Document]:
        """What the log holds, every line whole."""
        data = (path or self.log).read_bytes()
        assert data.endswith(b"\n")
        return [json.loads(line) for line in data.split(b"\n")[:-1]]

    def status(self, run: str = RUN) -> tuple[str, str | None]:
        """State and stage of a run."""
        document = self.gate("status", run, "-o", "json").document
        return document["state"], document["stage"]

    def assert_verifies(self, *argv: str) -> None:
        """The log is intact and every decision is what it should be."""
        done = self.gate("verify", *argv)
        assert (done.code, done.out[:16]) == (0, b"the log verifies"), (done.out.decode(), done.err)
