"""Where a collection file may come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatekeeper.cli.app import run

CHECK = ["check", "--policy", "policy.json", "--experiment", "e", "--variant", "v", "--collect", "-"]


@pytest.mark.parametrize(
    "argv",
    [CHECK, ["collect", "-"], ["collect", "--lint", "-"], ["policy", "check", "policy.json", "--collection", "-"]],
)
def test_a_collection_file_is_never_read_from_standard_input(
    argv: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-` is a part's path; a file named so would be looked for in vain, and a hold from it could not be resumed."""
    monkeypatch.chdir(tmp_path)
    guardrail = {"metric": "m", "op": "<=", "threshold": 1}
    Path("policy.json").write_text(json.dumps({"policy_id": "p", "policy_version": "1", "guardrails": [guardrail]}))
    assert run(argv) == 64
    assert "a collection file is never read from standard input" in capsys.readouterr().err
