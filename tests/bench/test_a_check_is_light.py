"""What the benchmark promises without a clock: a heavy import or a second flush would go unnoticed until a slow day."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "policies" / "exp-eval-policy.json"
SNAPSHOT = ROOT / "snapshots" / "CANARY_10.json"
HEAVY = {
    "dataclasses", "decimal", "inspect", "numpy", "orjson", "pandas", "prometheus_api_client", "pydantic",
    "pydantic_core", "requests", "rfc8785", "rich", "typer", "typing", "urllib3",
}  # fmt: skip
CHECKS = 5

MODULES = """
import sys
from gatekeeper.cli.app import run
code = run(sys.argv[1:])
sys.stderr.write(" ".join(sys.modules))
sys.exit(code)
"""
CHECK = "import sys; from gatekeeper.cli.app import main; sys.exit(main())"


def command_line(number: int, policy: Path = POLICY) -> list[str]:
    """A check whose evidence makes it a question of its own."""
    return [
        "check", "--policy", str(policy), "--experiment", f"exp-{policy.stem}", "--variant", "B", "--snapshot",
        str(SNAPSHOT), "--as-of", "snapshot", "--stage", "DRY_RUN", "--evidence", f"change_id=CHG-{number}",
        "--evidence", "dashboard_id=dash-foo",
    ]  # fmt: skip


def environment() -> dict[str, str]:
    """Nothing that changes what a check does or loads."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GATEKEEPER_", "PYTHON"))}


def python(directory: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter in *directory*; it must end with ACCEPT."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=directory, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def flushes(directory: Path, number: int, policy: Path = POLICY) -> dict[str, int]:
    """System calls by which one check waits for the device, name to number."""
    counter = [sys.executable, str(ROOT / "bench" / "flushes.py"), sys.executable, "-c", CHECK]
    done = subprocess.run(
        [*counter, *command_line(number, policy)],
        cwd=directory, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    counted = json.loads(done.stdout)
    assert counted["exit_code"] == 0, done.stderr
    calls: dict[str, int] = counted["calls"]
    return calls


@pytest.fixture
def used_log(tmp_path: Path) -> Path:
    """A directory whose log has the policy and one decision."""
    python(tmp_path, CHECK, *command_line(0))
    return tmp_path


def test_a_check_on_a_known_policy_loads_nothing_heavy(used_log: Path) -> None:
    """Each of these would cost more than all the rest of a check."""
    bare = set(python(used_log, "import sys; sys.stderr.write(' '.join(sys.modules))").stderr.split())
    loaded = set(python(used_log, MODULES, *command_line(1)).stderr.split()) - bare
    assert "gatekeeper.orchestrator.gate" in loaded
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
    assert len((used_log / "logs" / "decision.ndjson").read_bytes().splitlines()) == 3  # policy and two decisions


def test_a_check_waits_for_the_device_exactly_once(used_log: Path) -> None:
    """For its line, and for nothing that can be made again from the log; check after check."""
    counted = [flushes(used_log, number) for number in range(1, CHECKS + 1)]
    assert counted == [{"fdatasync": 1}] * CHECKS
    lines = (used_log / "logs" / "decision.ndjson").read_bytes().splitlines()
    assert len(lines) == 2 + CHECKS


def test_a_new_policy_goes_with_the_decision_in_one_flush(used_log: Path) -> None:
    """Policy and decision are one write."""
    policy = used_log / "other.json"
    policy.write_text(POLICY.read_text(encoding="utf-8").replace("0.01,", "0.011,"), encoding="utf-8")
    assert flushes(used_log, 1, policy) == {"fdatasync": 1}


def test_the_counter_counts_what_children_flush(tmp_path: Path) -> None:
    """A counter that overlooks a thread or a child would promise too much."""
    program = (
        "import os; d = os.open('f', os.O_CREAT | os.O_RDWR); os.fsync(d); os.fork() or os.fdatasync(d); os.fork()"
    )
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "flushes.py"), sys.executable, "-c", program],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == {"exit_code": 0, "calls": {"fsync": 1, "fdatasync": 1}}
