"""`policy diff`: exit codes that a pipeline can trust, places in the new file, and annotations on them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.cli.app import run

OLD = """{
  "policy_id": "p",
  "policy_version": "1.0.0",
  "guardrails": [
    {"metric": "p95", "op": "<=", "threshold": 400},
    {"metric": "success", "op": ">=", "threshold": 0.9}
  ],
  "constraints": [{"kind": "must_be_zero", "metric": "leaks"}]
}
"""
NEXT = OLD.replace("1.0.0", "2.0.0")
FILES = {
    "old": OLD,
    "loosened": NEXT.replace("400", "500"),
    "tightened": NEXT.replace("400", "300"),
    "both": NEXT.replace("400", "500").replace("0.9", "0.95"),
    "neutral": NEXT.replace('"leaks"', '"leaks", "description": "words"'),
    "removed": NEXT.replace(',\n    {"metric": "success", "op": ">=", "threshold": 0.9}', ""),
    "same-version": OLD.replace("400", "500"),
    "other-spelling": json.dumps(json.loads(OLD), indent=8),
    "refused": OLD.replace("<=", "=<"),
    "hostile": NEXT.replace('"p95"', '"::error::\\u001b[31m|x"'),
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with one file of each kind."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / f"{name}.json").write_text(text)
    return tmp_path


def outcome(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    """Exit code and the one JSON document of a comparison with the old policy."""
    code = run(["policy", "diff", "old.json", *argv, "-o", "json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("name", "fail_on", "code"),
    [
        ("loosened", None, 0),
        ("loosened", "loosened", 10),
        ("loosened", "tightened", 0),
        ("loosened", "any", 10),
        ("tightened", "loosened", 0),
        ("tightened", "tightened", 10),
        ("tightened", "any", 10),
        ("both", "loosened", 10),
        ("both", "tightened", 10),
        ("neutral", "any", 0),
        ("old", "any", 0),
        ("other-spelling", "any", 0),
        ("same-version", None, 65),
        ("same-version", "loosened", 65),
        ("refused", "any", 65),
        ("missing", None, 65),
        ("loosened", "everything", 64),
    ],
)
def test_the_exit_code_says_what_was_found(name: str, fail_on: str | None, code: int) -> None:
    """10 only for what was named; a version with two contents and a file that does not load are 65."""
    asked = [] if fail_on is None else ["--fail-on", fail_on]
    assert run(["policy", "diff", "old.json", f"{name}.json", *asked]) == code


def test_a_change_states_its_place_its_values_and_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Pointer, line and column in the new file; the fingerprint is the SHA-256 of rule, pointer and both values."""
    code, document = outcome(capsys, "loosened.json")
    (change,) = document["changes"]
    consequences = change.pop("consequences")
    assert change == {
        "fingerprint": hashlib.sha256(b"guardrail:p95:/guardrails/0/threshold:400:500").hexdigest()[:12],
        "meaning": "loosened",
        "effects": ["lets_more_through"],
        "rule": "guardrail:p95",
        "pointer": "/guardrails/0/threshold",
        "old_pointer": None,
        "line": 5,
        "column": 48,
        "before": 400,
        "after": 500,
        "was": "<= 400",
        "becomes": "<= 500",
        "message": "lets more through: p95 500 stopped, now passes",
    }
    assert [one["example"] for one in consequences] == ["p95 500 stopped, now passes"]
    assert code == 0
    assert document["meaning"] == "loosened"
    assert document["counts"] == {"loosened": 1, "both": 0, "tightened": 0, "neutral": 0}
    assert document["version"] == {"old": "1.0.0", "new": "2.0.0", "calls_for": "2.0.0", "standing": "fits"}
    assert (document["old"]["source"], document["new"]["policy_version"]) == ("old.json", "2.0.0")


def test_what_is_gone_points_at_what_it_was_part_of(capsys: pytest.CaptureFixture[str]) -> None:
    """Where it stood in the old file is told apart, for another guardrail may stand there now."""
    _, document = outcome(capsys, "removed.json")
    (change,) = document["changes"]
    assert (change["pointer"], change["old_pointer"], change["line"]) == ("/guardrails", "/guardrails/1", 4)
    assert (change["before"]["metric"], change["after"]) == ("success", None)


def test_a_version_that_names_two_contents_is_told_with_the_one_to_take(capsys: pytest.CaptureFixture[str]) -> None:
    """The changes are shown all the same: the reviewer needs them to choose."""
    code, document = outcome(capsys, "same-version.json")
    assert (code, document["version"]["standing"], document["version"]["calls_for"]) == (65, "unchanged", "2.0.0")
    assert len(document["changes"]) == 1
    run(["policy", "diff", "old.json", "same-version.json"])
    told = capsys.readouterr()
    assert "gatekeeper: policy.version_unchanged: 1.0.0 is UNCHANGED" in told.err
    assert "set policy_version to 2.0.0" in " ".join(told.out.split())


def test_the_text_tells_what_loosens_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Rule, both values, place, fingerprint, and an example on the line below."""
    run(["policy", "diff", "old.json", "both.json"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "both.json: 1 change loosens, 1 tightens"
    rows = [line.split() for line in lines if line.startswith(("loosened", "tightened"))]
    assert [row[:7] for row in rows] == [
        ["loosened", "guardrail:p95", "<=", "400", "<=", "500", "both.json:5:48"],
        ["tightened", "guardrail:success", ">=", "0.9", ">=", "0.95", "both.json:6:52"],
    ]
    assert lines[-1].strip() == "lets less through: success 0.9 passed, now stops"


def test_annotations_stand_on_the_lines_of_the_new_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loosening warns, a tightening is a notice, a neutral change none; the summary has them all."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    assert run(["policy", "diff", "old.json", "both.json", "-o", "github"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert [line.partition(",title")[0] for line in lines] == [
        "::warning file=both.json,line=5,col=48",
        "::notice file=both.json,line=6,col=52",
    ]
    assert "`guardrail:success`" in (tmp_path / "summary").read_text()
    run(["policy", "diff", "old.json", "neutral.json", "-o", "github"])
    assert "\n::" not in capsys.readouterr().out
    assert run(["policy", "diff", "old.json", "same-version.json", "-o", "github"]) == 65
    assert "\n::error file=same-version.json,title=policy.version_unchanged::" in capsys.readouterr().out


@pytest.mark.parametrize("output", ["text", "markdown", "github"])
def test_a_name_in_a_policy_gives_no_orders(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A metric's name is any text: no escape sequence, annotation or table cell comes of it."""
    run(["policy", "diff", "old.json", "hostile.json", "-o", output])
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert not any(line.startswith("::error") for line in told.splitlines())
    rows = [line for line in told.splitlines() if line.startswith("| ")]
    assert len({row.replace("\\|", "").count("|") for row in rows}) <= 1


def test_the_same_question_has_the_same_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """No clock, no order of a set."""
    answers = set()
    for _ in range(3):
        run(["policy", "diff", "old.json", "both.json", "-o", "json"])
        answers.add(capsys.readouterr().out)
    assert len(answers) == 1
