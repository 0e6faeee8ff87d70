"""What `reevaluate` ends with when one hold could not be asked: its code, unless another must be rolled back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.cli.app import run
from gatekeeper.cli.reevaluate import read_source
from gatekeeper.errors import CollectionError, LogError, UsageError

Capture = pytest.CaptureFixture[str]
POLICY = {
    "policy_id": "p",
    "policy_version": "1",
    "guardrails": [{"metric": "errors", "op": "<=", "threshold": 0.01}],
}
MISTAKE = CollectionError("gate.json: 400 unclosed parenthesis", remedy="mend the query")
UNSET = UsageError("gate.json: PROMETHEUS_URL is not set", remedy="set it")
LOST = LogError("no space left", remedy="make room")


@pytest.fixture(autouse=True)
def two_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Runs `first` and `second`, held for want of the metric, each with a file of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("GATEKEEPER_LOG", "GATEKEEPER_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    Path("policy.json").write_text(json.dumps(POLICY))
    for name in ("first", "second"):
        Path(f"{name}.json").write_text("{}")
        given = ["--policy", "policy.json", "--experiment", "e", "--variant", name, "--run-id", name]
        assert run(["check", *given, "--snapshot", f"{name}.json"]) == 2
    capsys.readouterr()


def failing(*errors: Exception) -> Callable[[Mapping[str, Any]], Any]:
    """A reader of sources in whose way these errors stand, one after the other, and that then reads."""
    waiting = list(errors)

    def read(source: Mapping[str, Any]) -> Any:
        if waiting:
            raise waiting.pop(0)
        return read_source(source)

    return read


@pytest.mark.parametrize(
    ("errors", "evidence", "code"),
    [
        ((), {}, 2),
        ((MISTAKE,), {}, 65),
        ((UNSET,), {}, 64),
        ((UNSET, MISTAKE), {}, 65),
        ((MISTAKE, LOST), {}, 74),
        ((MISTAKE,), {"errors": 0.001}, 65),
        ((MISTAKE,), {"errors": 0.5}, 1),
        ((UNSET,), {"errors": 0.5}, 1),
    ],
)
def test_a_hold_that_could_not_be_asked_is_not_passed_over(
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    errors: tuple[Exception, ...],
    evidence: dict[str, float],
    code: int,
) -> None:
    """A job must not see 0 or 2 while a file needs mending; harm that was found is acted on first."""
    Path("second.json").write_text(json.dumps(evidence))
    monkeypatch.setattr("gatekeeper.cli.reevaluate.read_source", failing(*errors))
    assert run(["reevaluate", "-o", "json"]) == code
    told = capsys.readouterr()
    listed = {hold["run_id"]: hold["problem"] for hold in json.loads(told.out)["holds"]}
    wrong = [getattr(error, "message", "") for error in errors]
    assert list(listed.values()) == [*wrong, *([None] * (2 - len(wrong)))]
    assert all(f"gatekeeper: {message}" in told.err for message in wrong)
