"""SARIF and JUnit: what code scanning and test reports read, whatever a file or a metric is called."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from gatekeeper.render import FORMATS, REPORTS, junit, load, sarif
from gatekeeper.render.page import Layout, Page
from gatekeeper.render.report import Case, Remark, Report, Rule

ODD = 'a "b" <c> & d\x1b[31m\x00 \u202e ::error::x ü 😀'
"""A metric may have any name."""

CASES = [
    Case("policies/a.json", "loads"),
    Case("policies/a.json", ODD, failure={"message": "one\ntwo", "text": "- ACCEPT\n+ REJECT"}, line=7),
    Case("policies/b.json", "minimal", seconds=0.0125, file="golden/minimal.json", skipped="no evidence"),
    Case("policies/b.json", "exact", seconds=0.25),
]

REMARKS = [
    Remark("policies/a b.json", "policy.x", "error", "it is odd", remedy="mend it", pointer="/a", line=3, column=5),
    Remark("policies/a b.json", "policy.y", "warning", "doubtful", pointer="/b", line=4, column=1, about="guardrail:m"),
    Remark("/tmp/ü.json", "policy.x", "info", ODD),
    Remark(
        "policies/a b.json", "policy.y", "warning", "again", pointer="/c", about="guardrail:m", suppressed="on purpose"
    ),
]
RULES = {"policy.x": Rule("error", "Something is odd", "mend it"), "policy.unused": Rule("info", "s", "r")}


def page(report: Report | None) -> Page:
    """A page with nothing but its report."""
    return Page("a page", [], document={}, report=report)


def sarif_run(**report: Any) -> dict[str, Any]:
    """The one run of the log that is printed."""
    log = json.loads(load("sarif").page(page(Report(**report)), Layout()))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    return dict(run)


def test_formats_of_reports_are_no_formats_of_decisions() -> None:
    """A check has no place in a file and is no test: `check -o sarif` must be wrong usage."""
    assert set(REPORTS) == {"sarif", "junit"}
    assert not set(REPORTS) & set(FORMATS)


@pytest.mark.parametrize("name", REPORTS)
def test_a_page_without_a_report_is_no_empty_report(name: str) -> None:
    """An empty report reads as: nothing was found."""
    with pytest.raises(ValueError, match="no report"):
        load(name).page(page(None), Layout())


@pytest.mark.parametrize("name", REPORTS)
def test_the_bytes_are_ascii_and_no_command_of_a_ci_system(name: str) -> None:
    """Any encoding of standard output carries them, and a metric's name cannot forge an annotation."""
    text = load(name).page(page(Report(cases=CASES, remarks=REMARKS)), Layout())
    assert text.isascii()
    assert text.endswith("\n")
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())
    assert not any(ord(letter) < 32 and letter != "\n" for letter in text)


def test_junit_counts_and_groups_the_cases() -> None:
    """CI systems trust the counts of a suite and group by class."""
    root = ET.fromstring(load("junit").page(page(Report(cases=CASES)), Layout()))
    assert root.tag == "testsuites"
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == ("4", "1", "0", "1")
    assert root.get("time") == "0.263"  # 0.0125 + 0.25 = 0.2625
    first, second = root
    assert (first.tag, first.get("name"), first.get("tests"), first.get("failures")) == (
        "testsuite",
        "policies/a.json",
        "2",
        "1",
    )
    assert first.get("time") is None
    assert (second.get("name"), second.get("skipped"), second.get("failures")) == ("policies/b.json", "1", "0")
    assert [case.get("classname") for case in root.iter("testcase")] == ["policies/a.json"] * 2 + [
        "policies/b.json"
    ] * 2


def test_junit_tells_why_a_case_failed_or_was_passed_over() -> None:
    """Lines of a diff stay lines; a case that passed has nothing inside."""
    root = ET.fromstring(junit.suites("gatekeeper", CASES))
    passed, failed, skipped, other = root.iter("testcase")
    assert list(passed) == list(other) == []
    assert (failed.get("line"), failed.get("file"), failed.get("time")) == ("7", None, None)
    failure = failed.find("failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == ("one\ntwo", "- ACCEPT\n+ REJECT")
    assert (skipped.get("file"), skipped.get("time")) == ("golden/minimal.json", "0.013")
    assert [child.get("message") for child in skipped] == ["no evidence"]


def test_junit_holds_any_name() -> None:
    """XML has no place for control characters, not even escaped ones: they are shown as escapes."""
    root = ET.fromstring(junit.suites("gatekeeper", CASES[1:2]))
    assert root[0][0].get("name") == 'a "b" <c> & d\\x1b[31m\\x00 \\u202e \\::error::x ü 😀'


def test_sarif_states_place_level_and_rule_of_each_finding() -> None:
    """Code scanning shows a finding at its line, under its rule, with its level."""
    run = sarif_run(remarks=REMARKS, rules=RULES)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["policy.x", "policy.y"]
    results = run["results"]
    assert [rules[one["ruleIndex"]]["id"] for one in results] == [one["ruleId"] for one in results]
    assert [one["level"] for one in results] == ["error", "warning", "note", "warning"]
    assert results[0]["message"] == {"text": "it is odd (mend it)"}
    assert results[0]["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "policies/a%20b.json", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 3, "startColumn": 5},
            },
            "logicalLocations": [{"fullyQualifiedName": "/a", "kind": "member"}],
        }
    ]
    assert run["columnKind"] == "unicodeCodePoints"


def test_sarif_gives_every_finding_a_region_and_every_file_a_uri() -> None:
    """A finding without a line is shown nowhere in a pull request; a bare path with `ü` or a space is no URI."""
    third = sarif_run(remarks=REMARKS)["results"][2]["locations"][0]
    assert third == {
        "physicalLocation": {
            "artifactLocation": {"uri": "file:///tmp/%C3%BC.json"},
            "region": {"startLine": 1, "startColumn": 1},
        }
    }


def test_sarif_explains_each_rule() -> None:
    """What a rule means is told where the finding is opened; an unknown one stands for itself."""
    known, unknown = sarif_run(remarks=REMARKS, rules=RULES)["tool"]["driver"]["rules"]
    assert known == {
        "id": "policy.x",
        "shortDescription": {"text": "Something is odd."},
        "help": {"text": "Something is odd. To do: mend it."},
        "defaultConfiguration": {"level": "error"},
    }
    assert unknown["shortDescription"] == {"text": "policy.y."}


def test_a_fingerprint_knows_a_finding_again_that_has_moved() -> None:
    """A line more above must not close one alert and open another; two alike findings stay two."""

    def marks(remarks: list[Remark]) -> list[str]:
        return [str(one["partialFingerprints"]["gatekeeper/v1"]) for one in sarif_run(remarks=remarks)["results"]]

    here = Remark("a.json", "policy.x", "error", "m", pointer="/guardrails/0", line=3, about="guardrail:m")
    moved = Remark("a.json", "policy.x", "error", "m", pointer="/guardrails/1", line=9, about="guardrail:m")
    other = Remark("a.json", "policy.x", "error", "m", pointer="/guardrails/0", line=3, about="guardrail:n")
    assert marks([here]) == marks([moved])
    assert len(set(marks([here, moved, other]))) == 3


def test_what_is_suppressed_says_why_and_the_rest_is_not_suppressed() -> None:
    """Code scanning closes a suppressed alert with its reason; an empty list would read as: unknown."""
    results = sarif_run(remarks=REMARKS)["results"]
    assert [one.get("suppressions") for one in results] == [
        None,
        None,
        None,
        [{"kind": "inSource", "status": "accepted", "justification": "on purpose"}],
    ]


def test_sarif_says_how_the_command_ended() -> None:
    """A review that found something did its work: it is a success with exit code 10."""
    (call,) = sarif_run(remarks=REMARKS, exit_code=10)["invocations"]
    assert call == {"executionSuccessful": True, "exitCode": 10}


def test_no_finding_is_an_empty_list() -> None:
    """A log without `results` says that nothing was looked for."""
    assert sarif_run()["results"] == []


def test_credentials_of_an_address_are_masked() -> None:
    """A message may quote what a file holds, and reports are uploaded."""
    text = "found https://user:secret@example.com/x"
    remark = Remark("a.json", "policy.x", "error", text, suppressed=text)
    case = Case("a", "b", failure={"message": text, "text": text})
    assert "secret" not in sarif.page(page(Report(remarks=[remark])), Layout())
    assert "secret" not in junit.page(page(Report(cases=[case])), Layout())
