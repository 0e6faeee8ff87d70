"""What decides, and what reads records, must not be able to ask anybody: it loads no HTTP stack and no collector."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from gatekeeper.cli import tables
from tests.proof.samples import PLAIN, PLAIN_LINE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NETWORK = {
    "_socket", "_ssl", "asyncio", "certifi", "charset_normalizer", "email", "http", "idna", "prometheus_api_client",
    "promql_parser", "psycopg", "requests", "socket", "sqlalchemy", "ssl", "urllib3",
}  # fmt: skip
FILES_ONLY = {"gatekeeper.evidence", "gatekeeper.evidence.file"}
"""All of the room beside sources that a question about files may load."""

COMMAND = """
import sys
from gatekeeper.cli.app import run
code = run(sys.argv[1:])
sys.stderr.write(" ".join(["", *sys.modules]))
sys.exit(code)
"""
LIBRARY = """
import sys
from gatekeeper import Context, evaluate, load_policy, load_snapshot
policy, snapshot = load_policy(sys.argv[1]), load_snapshot(sys.argv[2])
decision = evaluate(policy, snapshot, Context(stage="CANARY_10", evaluated_at="2026-02-18T01:00:10Z"))
sys.stderr.write(" ".join(sys.modules))
sys.exit(len(decision.findings) == 0)
"""
BARE = "import sys; sys.stderr.write(' '.join(sys.modules))"

POLICY = str(ROOT / "policies" / "exp-eval-policy.json")
SNAPSHOT = str(ROOT / "snapshots" / "CANARY_10.json")
CHECK = [
    "check", "--policy", POLICY, "--experiment", "exp-42", "--variant", "B", "--snapshot", SNAPSHOT,
    "--as-of", "snapshot", "--stage", "DRY_RUN", "--evidence", "change_id=CHG-1",
]  # fmt: skip
HELD = 2
"""A reference that the policy asks for is missing, so the run is held: there is something to resume and to explain."""
RUN = "exp-42:B:2026-02-18"
WITHOUT_EVIDENCE = {
    "explain": ["explain", f"{RUN}:DRY_RUN"],
    "log export": ["log", "export"],  # with --parquet, pyarrow asks ssl where certificates are
    "log head": ["log", "head"],
    "log import": ["log", "import", str(ROOT / "logs" / "example.ndjson"), "--log", "imported.ndjson"],
    "log metrics": ["log", "metrics"],
    "log rebuild": ["log", "rebuild"],
    "log stat": ["log", "stat"],
    "log rotate": ["log", "rotate"],
    "log archive": ["log", "archive"],
    "policy backtest": ["policy", "backtest", POLICY, "--simulated"],
    "policy check": ["policy", "check", POLICY],
    "policy diff": ["policy", "diff", POLICY, POLICY],
    "policy explain": ["policy", "explain", POLICY],
    "policy suggest-cases": ["policy", "suggest-cases", "--simulated", "--at-least", "1"],
    "policy test": ["policy", "test", str(ROOT / "policies" / "golden"), "--mutants"],
    "queue": ["queue"],
    "replay": ["replay", "--run", RUN],
    "status": ["status"],
    "stop": ["stop", RUN, "--reason", "test"],
    "verify": ["verify"],
}

PROOF = {
    "log checkpoint": ["log", "checkpoint", "--key", "key"],
    "log prove": ["log", "prove", "1", "--with-line", "--out", "proof"],
    "log check-proof": ["log", "check-proof", "proof", "--public-key", "key.pub"],
    "log prune": [
        *("log", "prune", "--before", "1", "--public-key", "key.pub"),
        *("--checkpoint", "logs/decision.ndjson.checkpoint"),
    ],
}
"""What signs and checks, each with what the one before has made."""


def modules(directory: Path, program: str, *arguments: str, code: int = 0) -> set[str]:
    """Modules that a fresh interpreter in *directory* has loaded in the end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GATEKEEPER_", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=directory, env={**environment, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return set(done.stderr.split())


@cache
def at_start() -> set[str]:
    """Modules that an interpreter loads by itself here."""
    return modules(ROOT, BARE)


def loaded(directory: Path, program: str, *arguments: str, code: int = 0) -> set[str]:
    """Modules that *program* has loaded in the end."""
    return modules(directory, program, *arguments, code=code) - at_start()


def forbidden(found: set[str]) -> set[str]:
    """Which of the modules *found* reach, or prepare to reach, somebody else."""
    evidence = {name for name in found if name.startswith("gatekeeper.evidence")}
    return (evidence - FILES_ONLY) | {name for name in found if name.partition(".")[0] in NETWORK}


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """A directory whose log holds a run."""
    loaded(tmp_path, COMMAND, *CHECK, code=HELD)
    return tmp_path


def test_a_check_of_a_file_loads_no_network_stack(tmp_path: Path) -> None:
    """An import at the top of a module that a check meets would cost each check more than all the rest of it."""
    unseen = loaded(tmp_path, COMMAND, *CHECK, code=HELD)
    known = loaded(tmp_path, COMMAND, *("C" if word == "B" else word for word in CHECK), code=HELD)
    assert "gatekeeper.documents.reader" in unseen - known
    assert "gatekeeper.orchestrator.gate" in known
    assert forbidden(unseen | known) == set()


@pytest.mark.parametrize("command", ["resume", "reevaluate"])
def test_a_hold_from_a_file_is_asked_again_without_a_network_stack(held: Path, command: str) -> None:
    """What may collect must not prepare to before it knows that the evidence is a file's."""
    log = held / "logs" / "decision.ndjson"
    token = json.loads(log.read_bytes().splitlines()[-1])["resume"]["resume_token"]
    words = {
        "resume": ["resume", token, "--snapshot", SNAPSHOT, "--as-of", "snapshot", "--evidence", "change_id=CHG-2"],
        "reevaluate": ["reevaluate", "--as-of", "2026-02-18T01:45:00Z"],
    }
    found = loaded(held, COMMAND, *words[command], code=HELD)
    assert len(log.read_bytes().splitlines()) == 3  # the policy, the hold, and this answer
    assert forbidden(found) == set()


@pytest.mark.parametrize("name", sorted(WITHOUT_EVIDENCE))
def test_what_reads_records_loads_no_network_stack(held: Path, name: str) -> None:
    """A replay that could ask a server might answer with today's data."""
    assert forbidden(loaded(held, COMMAND, *WITHOUT_EVIDENCE[name])) == set()


def test_what_proves_a_log_loads_no_network_stack(held: Path) -> None:
    """A key is in memory there: nothing that could send it anywhere belongs beside it."""
    (held / "key").write_bytes(PLAIN)
    (held / "key.pub").write_text(PLAIN_LINE)
    for name, arguments in PROOF.items():
        assert forbidden(loaded(held, COMMAND, *arguments)) == set(), name


def test_a_collection_of_files_alone_loads_no_network_stack(tmp_path: Path) -> None:
    """Source types are loaded by need: whoever only merges files must not wait for a client to be imported."""
    file = tmp_path / "collection.json"
    metrics = {"error_rate_5m": {"source": "part"}}
    file.write_text(json.dumps({"sources": {"part": {"type": "file", "path": SNAPSHOT}}, "metrics": metrics}))
    found = loaded(tmp_path, COMMAND, "collect", str(file))
    assert "gatekeeper.evidence.parts.reader" in found
    assert {name for name in found if name.partition(".")[0] in NETWORK} == set()


def test_every_command_is_looked_at() -> None:
    """A new command would be left out unnoticed."""
    elsewhere = {"check", "resume", "reevaluate", "collect", "run", "init", "demo", "policy schema", "log migrate"}
    assert {" ".join(command.path) for command in tables.every()} == set(WITHOUT_EVIDENCE) | set(PROOF) | elsewhere


def test_evaluating_as_a_library_loads_no_network_stack(tmp_path: Path) -> None:
    """A judge that loads a client is no pure function to whoever embeds it."""
    found = loaded(tmp_path, LIBRARY, POLICY, SNAPSHOT)
    assert "gatekeeper.evaluator" in found
    assert forbidden(found) == set()
