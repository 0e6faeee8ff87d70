"""`policy backtest` as a reviewer and a pipeline call it: exit codes, what is named, what each format says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import start
from tests.replay.backtests import POLICY, BacktestLog
from tests.replay.builder import write


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two runs: 0.004 and 0.008 accepted, 0.013 rejected."""
    made = BacktestLog()
    for errors, run in ((0.004, "a"), (0.008, "a"), (0.013, "b")):
        made.judged({"errors": errors}, run=run)
    return write(tmp_path / "decision.ndjson", made.lines)


def policy(directory: Path, **changes: Any) -> str:
    """A policy file with POLICY's content but for *changes*."""
    path = directory / "new.json"
    path.write_text(json.dumps({**POLICY, "policy_version": "2", **changes}))
    return str(path)


def threshold(value: float) -> dict[str, Any]:
    """The change of one number."""
    return {"guardrails": [{**POLICY["guardrails"][0], "threshold": value}]}


def gate(*argv: str, cwd: Path) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a whole process."""
    process = start("policy", "backtest", *argv, COLUMNS="100", GITHUB_STEP_SUMMARY=str(cwd / "summary.md"))
    out, err = process.communicate()
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize(
    ("limit", "fail_on", "code"),
    [
        (0.005, (), 0),
        (0.005, ("accept-to-reject",), 10),
        (0.005, ("reject-to-accept",), 0),
        (0.005, ("reject-to-accept", "any"), 10),
        (0.02, ("reject-to-accept",), 10),
        (0.02, ("accept-to-reject",), 0),
        (0.01, ("any", "accept-to-reject", "reject-to-accept"), 0),
    ],
)
def test_a_pipeline_fails_on_the_flips_that_it_names_and_on_no_other(
    tmp_path: Path, log: Path, limit: float, fail_on: tuple[str, ...], code: int
) -> None:
    """10 and nothing else; each time stderr says which."""
    options = [word for name in fail_on for word in ("--fail-on", name)]
    found, out, err = gate(
        policy(tmp_path, **threshold(limit)), "--log", str(log), *options, "-o", "json", cwd=tmp_path
    )
    document = json.loads(out)
    assert found == code
    assert bool(document["failed"]) == (code == 10)
    assert [line for line in err.splitlines() if "--fail-on" in line] == [
        f"gatekeeper: --fail-on {name}: 1" for name in document["failed"]
    ]


def test_text_begins_with_what_changes(tmp_path: Path, log: Path) -> None:
    """The first line is what a reviewer reads; rule, run and matrix follow."""
    code, out, err = gate(policy(tmp_path, **threshold(0.02)), "--log", str(log), cwd=tmp_path)
    assert (code, err) == (0, "")
    assert "changes 1 of 3 recorded decisions: 1 REJECT -> ACCEPT" in " ".join(out.split("\n\n")[0].split())
    assert "REJECT            1           0          0" in out
    assert "guardrail:errors" in out
    assert "b:CANARY_10#4" in out


@pytest.mark.parametrize("output", ["markdown", "github"])
def test_a_pull_request_shows_the_same_as_a_table(tmp_path: Path, log: Path, output: str) -> None:
    """`github` writes the job's summary, too."""
    code, out, _ = gate(policy(tmp_path, **threshold(0.02)), "--log", str(log), "-o", output, cwd=tmp_path)
    assert code == 0
    assert "| REJECT -> ACCEPT | `guardrail:errors` | 1 |" in out.replace("`REJECT -> ACCEPT`", "REJECT -> ACCEPT")
    assert (tmp_path / "summary.md").exists() == (output == "github")


def test_a_mistyped_policy_id_does_not_look_like_a_harmless_change(tmp_path: Path, log: Path) -> None:
    """Nothing was compared; the log's own ids are named."""
    code, out, err = gate(policy(tmp_path, policy_id="P"), "--log", str(log), cwd=tmp_path)
    assert code == 0
    assert "nothing to compare" in " ".join(out.split())
    assert "no decision under P was found" in err
    assert "the log has policies of: p (--policy-id)" in err
    _, out, _ = gate(policy(tmp_path, policy_id="P"), "--log", str(log), "--policy-id", "p", cwd=tmp_path)
    assert "changes no verdict" in " ".join(out.split())


def test_a_policy_that_does_not_load_compares_nothing(tmp_path: Path, log: Path) -> None:
    """65, as for every other input that is refused; a log that is not there is 74."""
    assert gate(policy(tmp_path, guardrail=[]), "--log", str(log), cwd=tmp_path)[0] == 65
    assert gate(policy(tmp_path), "--log", str(tmp_path / "absent"), cwd=tmp_path)[0] == 74
    assert gate(policy(tmp_path), "--log", str(log), "--fail-on", "all", cwd=tmp_path)[0] == 64


def test_a_damaged_line_is_named_on_standard_error(tmp_path: Path, log: Path) -> None:
    """With its file and number, in every format."""
    log.write_bytes(log.read_bytes() + b"{\n")
    code, out, err = gate(policy(tmp_path), "--log", str(log), "-o", "json", cwd=tmp_path)
    assert code == 0
    assert json.loads(out)["damaged"] == [{"source": str(log), "line": 5, "problem": "damaged"}]
    assert f"{log}:5: damaged line, passed over" in err


def test_several_files_patterns_and_archives_are_one_log(tmp_path: Path) -> None:
    """As `replay` and `verify` read them."""
    made = BacktestLog()
    for _ in range(4):
        made.judged({"errors": 0.008})
    first, second = tmp_path / "decision.1.ndjson", tmp_path / "decision.2.ndjson"
    write(first, made.lines[:3])
    write(second, made.lines[3:])
    subprocess.run(["gzip", str(first)], check=True)
    given = policy(tmp_path, **threshold(0.005))
    for logs in (["--log", f"{first}.gz", "--log", str(second)], ["--log", str(tmp_path / "decision*")]):
        _, out, _ = gate(given, *logs, "-o", "json", cwd=tmp_path)
        assert json.loads(out)["flipped"] == 4


@pytest.mark.slow
def test_the_answer_is_the_same_with_one_process_and_with_many(tmp_path: Path) -> None:
    """Byte by byte, in a log of several ranges."""
    made = BacktestLog()
    for number in range(2500):
        made.judged({"errors": 0.004 + number % 7 / 1000}, run=f"r{number % 90}")
    log = write(tmp_path / "decision.ndjson", made.lines)
    assert log.stat().st_size > 4 << 20, "it is one range"
    given = policy(tmp_path, **threshold(0.007))
    answers = {
        gate(given, "--log", str(log), "--jobs", jobs, "-o", "json", cwd=tmp_path)[1] for jobs in ("1", "2", "3")
    }
    assert len(answers) == 1
    assert json.loads(answers.pop())["flipped"] == sum(number % 7 in {4, 5, 6} for number in range(2500))


def test_nothing_is_written_beside_the_log(tmp_path: Path, log: Path) -> None:
    """A review reads; it leaves no projection and no lock behind."""
    before = sorted(tmp_path.iterdir())
    given = policy(tmp_path)
    gate(given, "--log", str(log), cwd=tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([*before, Path(given)])
