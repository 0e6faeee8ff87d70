"""The package as a library: light to import, complete, and typed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gatekeeper
from gatekeeper import Context, PolicyError, evaluate, load_policy, load_snapshot
from gatekeeper.errors import GatekeeperError

ROOT = Path(__file__).parents[1]


def _modules_after(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after *code*, beyond those of a bare start."""
    script = f"import sys; before = set(sys.modules)\n{code}\nprint(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_else() -> None:
    """An import at the top would be paid by every command."""
    assert _modules_after("import gatekeeper") <= {"gatekeeper", "__future__"}


def test_loading_a_sound_policy_makes_no_adapter() -> None:
    """First sight of a policy that is sound pays nothing for pydantic."""
    loaded = _modules_after(
        'import gatekeeper\ngatekeeper.load_policy("policies/exp-eval-policy.json")',
    )
    assert "gatekeeper.documents.reader" in loaded
    assert "pydantic_core" not in loaded
    assert not loaded & {"pydantic", "typer", "rich", "requests", "orjson", "difflib", "importlib.metadata"}


def test_a_policy_that_is_known_needs_no_validator_at_all() -> None:
    """Reading the file and its digest is what `check` does on a policy that the log holds."""
    loaded = _modules_after(
        "from gatekeeper.review.load import parse_policy, read_policy_file\n"
        "from gatekeeper.model.policy import loaded_policy\n"
        'loaded_policy(parse_policy(read_policy_file("policies/exp-eval-policy.json")))'
    )
    assert not loaded & {"pydantic_core", "pydantic", "typing", "gatekeeper.review.rules"}


def test_every_public_name_can_be_fetched_and_is_shown() -> None:
    """`from gatekeeper import X` works for all that `__all__` promises, and for nothing else."""
    for name in gatekeeper.__all__:
        assert getattr(gatekeeper, name) is not None
        assert name in dir(gatekeeper)
    with pytest.raises(AttributeError, match="no attribute 'load_polcy'"):
        gatekeeper.load_polcy  # noqa: B018


def test_every_error_is_public() -> None:
    """A caller can catch what the package raises without reaching into a module."""
    kinds = [GatekeeperError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert {kind.__name__ for kind in kinds if kind.__module__ == "gatekeeper.errors"} <= set(gatekeeper.__all__)


def test_the_package_says_that_it_is_typed() -> None:
    """Without the marker, type checkers of users see nothing."""
    assert (ROOT / "gatekeeper" / "py.typed").is_file()


def test_a_policy_and_a_snapshot_from_files_are_judged(tmp_path: Path) -> None:
    """The example of the package's documentation, from end to end."""
    file = tmp_path / "snapshot.json"
    file.write_text('{"error_rate_5m": 0.011, "p95_latency_ms_5m": 360, "pii_leak_incidents": 0}')
    policy = load_policy(ROOT / "policies" / "exp-eval-policy.json")
    decision = evaluate(policy, load_snapshot(file), Context(stage="CANARY_10", evaluated_at="2026-02-18T01:00:10Z"))
    assert decision.verdict.exit_code in {1, 2}


def test_bytes_are_content_and_never_a_path() -> None:
    """A policy fetched from elsewhere need not be written to disk first."""
    data = (ROOT / "policies" / "exp-eval-policy.json").read_bytes()
    assert load_policy(data) == load_policy(str(ROOT / "policies" / "exp-eval-policy.json"))
    with pytest.raises(PolicyError, match="not JSON"):
        load_policy(b"policies/exp-eval-policy.json")


@pytest.mark.parametrize("name", ["none.json", "", "a\0b", "directory"])
def test_a_policy_file_that_cannot_be_read_is_refused_with_its_path(tmp_path: Path, name: str) -> None:
    """Not a crash, which a pipeline would take for a verdict."""
    (tmp_path / "directory").mkdir()
    path = str(tmp_path / name) if name else ""
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    assert caught.value.exit_code == 65
    assert caught.value.message.startswith(f"{path}: the policy cannot be read: ")
    assert "gatekeeper init" in caught.value.remedy
