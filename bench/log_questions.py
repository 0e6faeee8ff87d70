"""Two questions to a log, as whole processes: gatekeeper's commands, those of its peers, and what they answered.

The first: all REJECT decisions of one policy, of the last seven days or of all. The second: how many decisions have
which verdict and reason code. A ratio counts only when both sides gave the same answer.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from typing import Any

from environments import GATE, HERE, LOG_PEERS, program, system_program
from log_files import POLICY_ID, Log
from timing import FailedError, timed

_READ = "read_json('{log}', format='newline_delimited', columns={{{columns}}})"
_HITS = (
    "select seq from {read} where kind = 'decision' and decision.verdict = 'REJECT' and policy_id = '{policy}' "
    "order by seq;"
)
_COUNTS = (
    "select v, k, count(*) from (select decision.verdict v, unnest(case when len(decision.reason_codes) = 0 "
    "then ['-'] else decision.reason_codes end) k from {read} where kind = 'decision') group by all;"
)
_DECISION = "kind:'VARCHAR', decision:'STRUCT(verdict VARCHAR, reason_codes VARCHAR[])'"

Answer = Any
Reader = Callable[[str], Answer]


class Subject:
    """A command that is timed, and how its answer is read."""

    def __init__(self, directory: str, name: str, command: list[str], read: Reader, *, log: Log | None = None) -> None:
        self._directory, self._command, self._read = directory, command, read
        self._output = os.path.join(directory, f"{name.replace(' ', '-')}.out")
        self._log = log  # one that must remain without a projection

    def __call__(self, _round: int) -> float:
        """Seconds of the whole process."""
        seconds = timed(self._command, directory=self._directory, output=self._output)
        if self._log is not None:
            self._log.assert_bare()
        return seconds

    def answer(self) -> Answer:
        """What it said the last time."""
        return self._read(self._output)


def assert_equal(subjects: dict[str, Subject], *names: str) -> int:
    """All these must have answered the same, and not nothing: how long the answer is."""
    answers = [subjects[name].answer() for name in names]
    for name, answer in zip(names, answers, strict=True):
        if not answer or answer != answers[0]:
            raise FailedError(f"{name} answered {str(answer)[:60]!r}, {names[0]} {str(answers[0])[:60]!r}")
    return len(answers[0])


def hits(log: str, since: str | None = None) -> list[str]:
    """Our command for the first question."""
    command = [program(GATE, "gatekeeper"), "replay", "--verdict", "REJECT", "--policy", POLICY_ID, "--log", log]
    return [*command, *(["--since", since] if since else []), "-o", "ndjson"]


def counts(log: str) -> list[str]:
    """Our command for the second question."""
    return [program(GATE, "gatekeeper"), "replay", "--group-by", "verdict,reason", "--log", log, "-o", "json"]


def grep_hits(log: str, since: str) -> list[str]:
    """Both literals with ripgrep, then jq: it alone can tell whose they are."""
    rg, jq = system_program("rg"), system_program("jq")
    test = (
        f'select(.kind == "decision" and .decision.verdict == "REJECT" and .policy_id == "{POLICY_ID}" '
        f'and .ts >= "{since}")'
    )
    first, second = '"verdict":"REJECT"', f'"policy_id":"{POLICY_ID}"'
    line = f"{rg} -F {shlex.quote(first)} {shlex.quote(log)} | {rg} -F {shlex.quote(second)} | "
    return [system_program("sh"), "-c", line + f"{jq} -c {shlex.quote(test)}"]


def duckdb_hits(log: str, directory: str) -> list[str]:
    """DuckDB's program with given columns, the first question without a bound in time."""
    columns = f"{_DECISION}, policy_id:'VARCHAR', ts:'VARCHAR', seq:'BIGINT'"
    return _duckdb(_HITS.format(read=_READ.format(log=log, columns=columns), policy=POLICY_ID), directory, "hits")


def duckdb_counts(log: str, directory: str) -> list[str]:
    """DuckDB's program with given columns, the second question."""
    return _duckdb(_COUNTS.format(read=_READ.format(log=log, columns=_DECISION)), directory, "counts")


def _duckdb(query: str, directory: str, name: str) -> list[str]:
    script = os.path.join(directory, f"{name}.sql")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f".mode list\n.headers off\n{query}\n")
    return [program(LOG_PEERS, "duckdb"), "-init", os.devnull, "-f", script]


def parquet(*arguments: str) -> list[str]:
    """DuckDB's library, see peers/parquet.py."""
    return [program(LOG_PEERS, "python"), os.path.join(HERE, "peers", "parquet.py"), *arguments]


def seqs_of_events(output: str) -> list[int]:
    """Of events as lines."""
    with open(output, "rb") as file:
        return [json.loads(line)["seq"] for line in file if line.startswith(b"{")]


def seqs(output: str) -> list[int]:
    """Of numbers as lines."""
    with open(output, encoding="utf-8") as file:
        return [int(line) for line in file if line.strip().isdigit()]


def groups(output: str) -> list[tuple[str, str, int]]:
    """Of our document: verdict, reason code, count, sorted."""
    with open(output, encoding="utf-8") as file:
        found = json.load(file)["groups"]
    return sorted((one["verdict"], one["reason"] or "-", one["count"]) for one in found)


def rows(output: str) -> list[tuple[str, str, int]]:
    """The same of lines with bars between."""
    with open(output, encoding="utf-8") as file:
        parts = [line.strip().split("|") for line in file if line.count("|") == 2]
    return sorted((verdict, reason, int(count)) for verdict, reason, count in parts)
