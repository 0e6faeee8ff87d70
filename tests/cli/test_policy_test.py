from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from gatekeeper.cli.app import run
from tests.review.golden.cases import CASE, POLICY, lay_out

ROOT = Path(__file__).parents[2]
EXAMPLE = str(ROOT / "logs" / "example.ndjson")
HELD = "exp-42:B:2026-02-18:DRY_RUN"
WRONG = {**CASE, "name": "it must hold", "expect": {"verdict": "DEGRADE", "missing": ["errors"]}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with one policy and one case that passes."""
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path, CASE)
    return tmp_path


@pytest.fixture
def beside_the_example(folder: Path) -> Path:
    """The same with the policy of the example log."""
    data = (ROOT / "policies" / "exp-eval-policy.json").read_bytes()
    (folder / "policies" / "exp-eval-policy.json").write_bytes(data)
    return folder


def answered(capfd: pytest.CaptureFixture[str], *argv: str, command: str = "test") -> tuple[int, dict[str, Any]]:
    """Exit code and JSON document of `policy test`."""
    capfd.readouterr()
    code = run(["policy", command, *argv, "-o", "json"])
    document: dict[str, Any] = json.loads(capfd.readouterr().out)
    return code, document


@pytest.mark.usefixtures("folder")
def test_cases_beside_the_policies_are_found_without_being_named(capfd: pytest.CaptureFixture[str]) -> None:
    """As in a pull request's job."""
    code, document = answered(capfd)
    assert (code, document["ok"], document["mutants"]) == (0, True, [])
    (case,) = document["cases"]
    assert (case["file"], case["result"], case["policy_id"]) == ("policies/golden/0.json", "pass", "shop")
    assert case["found"]["verdict"] == "ACCEPT"


def test_a_case_that_fails_ends_with_10_and_shows_both_sides(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What was expected, what was found; the others pass all the same."""
    lay_out(folder, CASE, WRONG)
    capfd.readouterr()
    assert run(["policy", "test"]) == 10
    shown = capfd.readouterr().out
    assert shown.startswith("2 golden cases: 1 failed, 1 passed\n")
    tail = shown[shown.index("it must hold") :].splitlines()
    assert tail == [
        "it must hold (- expected, + found):",
        "  - verdict: - DEGRADE",
        "  - verdict: + ACCEPT",
        "  - missing: - errors",
    ]


def test_a_lost_violation_is_explained_by_what_the_rule_says_now(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A loosened threshold is seen in the sentence of its rule."""
    beyond = {"metrics": {"errors": 0.021, "leaks": 0}}
    expect = {"verdict": "REJECT", "reason_codes": ["guardrail_violation:errors"]}
    policy = {**POLICY, "guardrails": [{"metric": "errors", "op": "<=", "threshold": 0.03}]}
    lay_out(folder, {**CASE, "snapshot": beyond, "expect": expect}, policy=policy)
    code, document = answered(capfd)
    (case,) = document["cases"]
    assert code == 10
    assert [finding["rule"] for finding in case["findings"]] == ["guardrail:errors"]
    assert [(one["key"], one["expected"], one["found"]) for one in case["differences"]] == [
        ("verdict", "REJECT", "ACCEPT"),
        ("reason_codes", ["guardrail_violation:errors"], []),
    ]


def test_a_case_that_does_not_load_ends_with_65_whatever_the_others_say(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is named with its place; a failing one beside it does not lower the code."""
    lay_out(folder, CASE, WRONG, {**CASE, "expect": {}})
    code, document = answered(capfd)
    assert code == 65
    assert [case["result"] for case in document["cases"]] == ["pass", "fail", "refused"]
    (problem,) = document["cases"][2]["diagnostics"]
    assert (problem["pointer"], problem["code"]) == ("/expect", "golden.nothing_expected")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "argv",
    [
        ["--update"],
        ["--reason", "why"],
        ["--update", "--reason", " "],
        ["--fail-on", "survivors"],
        ["--mutants", "--min-score", "101"],
        ["--mutants", "--update", "--reason", "why"],
        ["--policy", "policies/shop.json"],
        ["policies/golden", "policies", "--from-log", "1"],
        ["--from-log", "1", "-o", "junit"],
    ],
)
def test_options_that_mean_nothing_alone_are_wrong_usage(argv: list[str]) -> None:
    """An update without a reason above all."""
    assert run(["policy", "test", *argv]) == 64


def test_an_update_makes_the_case_pass_and_says_why(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The other file stays as it is, byte for byte, and so do permissions."""
    paths = lay_out(folder, CASE, WRONG)
    os.chmod(paths[1], 0o640)
    before = Path(paths[0]).stat().st_mtime_ns
    code, document = answered(capfd, "--update", "--reason", "SHOP-7: it is healthy")
    assert (code, [case["result"] for case in document["cases"]]) == (0, ["pass", "updated"])
    after = json.loads(Path(paths[1]).read_bytes())
    expect = {"verdict": "ACCEPT", "missing": []}
    assert after == {**WRONG, "expect": expect, "reason": "SHOP-7: it is healthy"}
    assert (Path(paths[0]).stat().st_mtime_ns, Path(paths[1]).stat().st_mode & 0o777) == (before, 0o640)
    assert sorted(os.listdir(folder / "policies/golden")) == ["0.json", "1.json"]
    assert answered(capfd)[0] == 0


def test_an_update_does_not_hide_what_it_cannot_mend(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A stage that is gone and a file that does not load stay what they are."""
    lay_out(folder, WRONG, {**CASE, "context": {**CASE["context"], "stage": "CANARY_7"}})
    code, document = answered(capfd, "--update", "--reason", "why")
    assert (code, [case["result"] for case in document["cases"]]) == (10, ["updated", "fail"])
    lay_out(folder, CASE, {**CASE, "expect": {}})
    assert answered(capfd, "--update", "--reason", "why")[0] == 65


def test_unnoticed_changes_are_named_with_their_line_and_fail_only_if_told_to(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A report by default, a gate where a team wants it."""
    (folder / "policies" / "shop.json").write_text(json.dumps(POLICY, indent=1))
    code, document = answered(capfd, "--mutants")
    (found,) = document["mutants"]
    assert (code, found["policy"], found["cases"]) == (0, "policies/shop.json", 1)
    lines = (folder / "policies" / "shop.json").read_text().splitlines()
    by_change = {one["change"]: lines[one["line"] - 1].strip() for one in found["unnoticed"]}
    assert by_change["threshold 0.02 -> 0.0201"] == '"threshold": 0.02'
    assert found["score"] == found["noticed"] * 100 // (found["noticed"] + len(found["unnoticed"]))
    assert answered(capfd, "--mutants", "--fail-on", "survivors")[0] == 10
    assert answered(capfd, "--mutants", "--min-score", str(found["score"]))[0] == 0
    assert answered(capfd, "--mutants", "--min-score", str(found["score"] + 1))[0] == 10


def test_changes_are_tried_only_on_cases_that_pass(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A case that fails anyway would seem to notice everything."""
    lay_out(folder, CASE, WRONG)
    capfd.readouterr()
    assert run(["policy", "test", "--mutants"]) == 10
    assert "every case must pass first" in capfd.readouterr().out
    assert answered(capfd, "--mutants")[1]["mutants"] == []


def test_github_gets_an_annotation_at_the_expectation_and_at_the_limit(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reviewer reads it in the diff."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    (path,) = lay_out(folder, WRONG)
    capfd.readouterr()
    assert run(["policy", "test", "-o", "github"]) == 10
    lines = capfd.readouterr().out.splitlines()
    place = Path(path).read_text().splitlines().index('    "verdict": "DEGRADE",') + 1
    (annotation,) = [line for line in lines if line.startswith("::")]
    assert annotation == (
        f"::error file=policies/golden/0.json,line={place},col=16,title=golden.failed::it must hold: "
        "verdict: - DEGRADE; verdict: + ACCEPT; missing: - errors"
    )
    assert "1 failed" in (folder / "summary.md").read_text()
    lay_out(folder, CASE)
    assert run(["policy", "test", "--mutants", "-o", "github"]) == 0
    assert "::warning file=policies/shop.json,line=1," in capfd.readouterr().out


def test_a_case_in_yaml_is_placed_in_its_file_and_updated_with_its_comments(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the update would take a comment along, the case goes on failing, and a note says what to do."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    path = folder / "policies" / "golden" / "1.yaml"
    before = "# it must hold\n" + yaml.safe_dump(WRONG, sort_keys=False)
    path.write_text(before, encoding="utf-8")
    line = before.splitlines().index("  verdict: DEGRADE") + 1
    assert run(["policy", "test", "-o", "github"]) == 10
    assert f"::error file=policies/golden/1.yaml,line={line},col=12," in capfd.readouterr().out
    commented = before.replace("missing:\n", "missing:  # whose?\n")
    path.write_text(commented, encoding="utf-8")
    assert run(["policy", "test", "--update", "--reason", "SHOP-7"]) == 10
    out = " ".join(capfd.readouterr().out.split())
    assert "policies/golden/1.yaml: not updated: --update would lose a part of the text" in out
    assert path.read_text() == commented
    path.write_text(before, encoding="utf-8")
    assert run(["policy", "test", "--update", "--reason", "SHOP-7"]) == 0
    after = before.replace("DEGRADE", "ACCEPT").replace("missing:\n  - errors", "missing: []")
    assert path.read_text() == after + 'reason: "SHOP-7"\n'


def test_a_test_report_has_a_test_for_each_case_in_the_suite_of_its_policy(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What a CI system shows: which failed, where, and why."""
    lay_out(folder, CASE, WRONG, {**CASE, "expect": {}})
    capfd.readouterr()
    assert run(["policy", "test", "-o", "junit"]) == 65
    report = ET.fromstring(capfd.readouterr().out)
    suites = {suite.get("name"): suite for suite in report}
    assert set(suites) == {"policies/shop.json", "golden cases that do not load"}
    passed, failed = suites["policies/shop.json"]
    assert (passed.get("name"), len(passed)) == ("policies/golden/0.json: all is well", 0)
    place = Path("policies/golden/1.json").read_text().splitlines().index('    "verdict": "DEGRADE",') + 1
    assert (failed.get("file"), failed.get("line")) == ("policies/golden/1.json", str(place))
    assert failed[0].text == "verdict: - DEGRADE\nverdict: + ACCEPT\nmissing: - errors"
    (refused,) = suites["golden cases that do not load"]
    assert "nothing is expected" in (refused[0].get("message") or "")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("argv", "code", "failures"),
    [([], 0, 0), (["--min-score", "1"], 0, 0), (["--min-score", "100"], 10, 1), (["--fail-on", "survivors"], 10, -1)],
)
def test_a_test_report_fails_where_the_command_does(
    argv: list[str], code: int, failures: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """Unnoticed changes are passed over unless they were to fail."""
    unnoticed = len(answered(capfd, "--mutants")[1]["mutants"][0]["unnoticed"])
    assert run(["policy", "test", "--mutants", *argv, "-o", "junit"]) == code
    report = ET.fromstring(capfd.readouterr().out)
    expected = (unnoticed, 0) if failures < 0 else (failures, unnoticed)
    assert (int(report.get("failures", "")), int(report.get("skipped", ""))) == expected


@pytest.mark.usefixtures("beside_the_example")
def test_a_recorded_decision_becomes_a_case_that_passes(capfd: pytest.CaptureFixture[str]) -> None:
    """By event id and by seq; the policy with its policy_id is found beside the cases."""
    code, document = answered(capfd, "--from-log", HELD, "--from-log", "6", "--log", EXAMPLE)
    assert (code, [(one["verdict"], one["passes"]) for one in document["written"]]) == (
        0,
        [("DEGRADE", True), ("REJECT", True)],
    )
    path = "policies/golden/exp-42-B-2026-02-18-DRY_RUN.json"
    assert document["written"][0]["file"] == path
    made = json.loads(Path(path).read_bytes())
    assert (made["policy"], made["event"]) == ("../exp-eval-policy.json", HELD)
    assert made["context"] == {
        "stage": "DRY_RUN",
        "attempt": 1,
        "evaluated_at": "2026-02-18T01:00:05.000000Z",
        "evidence": {"dashboard_id": "dash-foo"},
        "looks": 0,
    }
    assert made["expect"]["missing"] == ["change_id"]
    assert answered(capfd)[0] == 0


@pytest.mark.usefixtures("beside_the_example")
def test_a_case_that_is_there_is_never_replaced(capfd: pytest.CaptureFixture[str]) -> None:
    """Nor is the one beside it written: all or nothing."""
    assert run(["policy", "test", "--from-log", HELD, "--log", EXAMPLE]) == 0
    path = Path("policies/golden/exp-42-B-2026-02-18-DRY_RUN.json")
    path.write_text("mine")
    assert run(["policy", "test", "--from-log", "6", "--from-log", HELD, "--log", EXAMPLE]) == 65
    assert path.read_text() == "mine"
    assert len(os.listdir("policies/golden")) == 2
    assert "there is a file already" in capfd.readouterr().err


def test_the_policy_of_an_event_is_named_where_it_cannot_be_told(
    beside_the_example: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """None has its policy_id, or two have."""
    policy = beside_the_example / "policies" / "exp-eval-policy.json"
    twin = policy.with_name("twin.json")
    twin.write_bytes(policy.read_bytes())
    assert run(["policy", "test", "--from-log", HELD, "--log", EXAMPLE]) == 65
    assert "several policies" in capfd.readouterr().err
    os.remove(policy)
    assert run(["policy", "test", "--from-log", HELD, "--log", EXAMPLE, "--policy", "policies/shop.json"]) == 0
    assert "answers otherwise than was recorded" in capfd.readouterr().err
    os.remove(twin)
    os.remove("policies/golden/exp-42-B-2026-02-18-DRY_RUN.json")
    assert run(["policy", "test", "--from-log", HELD, "--log", EXAMPLE]) == 65
    assert "no policy in policies has" in capfd.readouterr().err


@pytest.mark.usefixtures("beside_the_example")
def test_an_event_that_is_no_decision_or_not_there_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    """The first line of a log is its policy."""
    assert run(["policy", "test", "--from-log", "1", "--log", EXAMPLE]) == 65
    assert "a case is made from a decision" in capfd.readouterr().err
    assert run(["policy", "test", "--from-log", "exp-42:B:2026-02-18:DRYRUN", "--log", EXAMPLE]) == 65
    assert "did you mean" in capfd.readouterr().err


@pytest.mark.usefixtures("beside_the_example")
def test_a_suggestion_goes_once_its_command_has_been_carried_out(capfd: pytest.CaptureFixture[str]) -> None:
    """The command line that is printed makes the case that was missing."""
    argv = ["--log", EXAMPLE, "--simulated", "--at-least", "1"]
    code, document = answered(capfd, *argv, command="suggest-cases")
    named = {one["what"]: one for one in document["suggestions"]}
    assert code == 0
    assert set(named) == {
        "evidence_missing:change_id",
        "change_id",
        "guardrail_violation:error_rate_5m",
        "budget_violation:error_rate_5m",
        "guardrail_violation:p95_latency_ms_5m",
        "budget_violation:p95_latency_ms_5m",
    }
    assert (named["change_id"]["count"], named["change_id"]["first"], named["change_id"]["last"]) == (1, HELD, HELD)
    for one in (named["change_id"], named["budget_violation:error_rate_5m"]):
        assert run(one["command"][1:]) == 0
    code, document = answered(capfd, *argv, command="suggest-cases")
    assert (code, document["suggestions"], document["covered"]) == (0, [], 6)


@pytest.mark.usefixtures("beside_the_example")
def test_what_was_simulated_or_stands_once_is_no_suggestion(capfd: pytest.CaptureFixture[str]) -> None:
    """Evidence that somebody made up does not recur; the example log is one."""
    for argv in ([], ["--at-least", "1"], ["--simulated"]):
        code, document = answered(capfd, "--log", EXAMPLE, *argv, command="suggest-cases")
        assert (code, document["suggestions"]) == (0, [])


def test_a_case_that_does_not_load_covers_nothing_and_is_named(
    beside_the_example: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A suggestion too many is better than one too few."""
    lay_out(beside_the_example, {**CASE, "expect": {}})
    argv = ["--log", EXAMPLE, "--simulated", "--at-least", "1"]
    assert run(["policy", "suggest-cases", *argv]) == 0
    assert "does not load: gatekeeper policy test policies/golden/0.json" in capfd.readouterr().err
