"""`policy check`: exit codes that a pipeline can trust, the same findings in every form, files mended on demand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from gatekeeper.cli.app import run
from tests.review.documents import encoded
from tests.review.test_advice import QUIET

SOUND = QUIET
INFO = {key: value for key, value in QUIET.items() if key != "stage_policy"}
GUARDRAIL = {"metric": "m", "op": "<=", "threshold": 5}
WARNING = {**QUIET, "guardrails": [GUARDRAIL]}
ANSWERED = {**WARNING, "suppressions": [{"code": "policy.guardrail_without_range", "reason": "a plain count"}]}
REFUSED = {**QUIET, "note": 1}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with one file of each kind."""
    monkeypatch.chdir(tmp_path)
    documents = {"sound": SOUND, "info": INFO, "warning": WARNING, "answered": ANSWERED, "refused": REFUSED}
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_bytes(encoded(document))
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    """Exit code and standard output."""
    code = run(["policy", "check", *argv])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "by_default", "on_warning", "on_info", "never"),
    [
        ("sound", 0, 0, 0, 0),
        ("info", 0, 0, 10, 0),
        ("warning", 0, 10, 10, 0),
        ("answered", 0, 0, 0, 0),
        ("refused", 65, 65, 65, 65),
        ("missing", 65, 65, 65, 65),
    ],
)
def test_the_exit_code_is_what_was_asked_for(
    name: str, by_default: int, on_warning: int, on_info: int, never: int
) -> None:
    """A file that does not load is never let pass; what is suppressed does not count."""
    check = ["policy", "check", "sound.json", f"{name}.json"]
    assert run(check) == by_default
    assert run([*check, "--fail-on", "error"]) == by_default
    assert run([*check, "--fail-on", "warning"]) == on_warning
    assert run([*check, "--fail-on", "info"]) == on_info
    assert run([*check, "--fail-on", "never"]) == never


def test_json_has_every_finding_with_rule_severity_and_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """What is suppressed is shown, with its reason."""
    code, text = told(capsys, "answered.json", "warning.json", "-o", "json")
    document = json.loads(text)
    assert (code, document["ok"]) == (0, True)
    (answered,), (open_,) = (one["diagnostics"] for one in document["policies"])
    assert (answered["code"], answered["rule"], answered["suppressed"]) == (
        "policy.guardrail_without_range",
        "guardrail:m",
        "a plain count",
    )
    assert (open_["severity"], open_["suppressed"], open_["line"]) == ("warning", None, 1)
    assert "mended" not in document["policies"][0]


def test_text_counts_what_is_suppressed_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """It is seen by whoever reads the page, and counts for nothing."""
    _, text = told(capsys, "answered.json", "info.json")
    assert "answered.json loads: 0 errors, 0 warnings, 1 suppressed" in text
    assert "(suppressed: a plain count)" in text
    assert "info.json loads: 0 errors, 0 warnings, 1 info" in text


def test_annotations_have_file_line_and_level(capsys: pytest.CaptureFixture[str]) -> None:
    """Without `line=` they are not shown on the diff; what is suppressed is not shown at all."""
    code, text = told(capsys, "refused.json", "warning.json", "info.json", "answered.json", "-o", "github")
    lines = [line for line in text.splitlines() if line.startswith("::")]
    column = encoded(REFUSED).index(b'"note"') + 1
    assert code == 65
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning", "::notice"]
    assert lines[0].startswith(f"::error file=refused.json,line=1,col={column},title=policy.unknown_key::")
    assert lines[1].startswith("::warning file=warning.json,line=1,col=")
    assert "answered.json" not in "".join(lines)


def test_sarif_has_every_finding_and_says_what_is_suppressed(capsys: pytest.CaptureFixture[str]) -> None:
    """With the rules' help, and the exit code."""
    code, text = told(capsys, "refused.json", "warning.json", "answered.json", "-o", "sarif")
    (sarif,) = json.loads(text)["runs"]
    assert (code, sarif["invocations"][0]["exitCode"]) == (65, 65)
    found = [(one["ruleId"], one["level"], "suppressions" in one) for one in sarif["results"]]
    assert found == [
        ("policy.unknown_key", "error", False),
        ("policy.guardrail_without_range", "warning", False),
        ("policy.guardrail_without_range", "warning", True),
    ]
    (justified,) = sarif["results"][2]["suppressions"]
    assert justified["justification"] == "a plain count"
    files = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in sarif["results"]]
    assert files == ["refused.json", "warning.json", "answered.json"]
    assert all("To do: " in rule["help"]["text"] for rule in sarif["tool"]["driver"]["rules"])


@pytest.mark.parametrize(("word", "failures", "skipped"), [("error", 1, 3), ("warning", 2, 2), ("info", 3, 1)])
def test_junit_fails_where_the_exit_code_does(
    capsys: pytest.CaptureFixture[str], word: str, failures: int, skipped: int
) -> None:
    """A remark that nobody asked to fail on is passed over, and so is one that is answered."""
    files = ("sound.json", "refused.json", "warning.json", "info.json", "answered.json")
    _, text = told(capsys, *files, "--fail-on", word, "-o", "junit")
    root = ET.fromstring(text)
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("8", str(failures), str(skipped))
    assert [suite.get("name") for suite in root] == list(files)
    assert [case.get("name") for case in root[0]] == ["loads"]
    refused = root[1][0].find("failure")
    assert refused is not None
    assert "/note: unknown key" in str(refused.text)


def test_fix_writes_the_file_and_says_what_it_did(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The review that follows is that of the mended file, and so is the exit code."""
    data = encoded({**SOUND, "guardrails": [{**GUARDRAIL, "op": "lte", "range": [0, 9]}]})
    (place / "slip.json").write_bytes(data)
    os.chmod(place / "slip.json", 0o640)
    code, text = told(capsys, "slip.json", "sound.json", "--fix", "-o", "json")
    slip, sound = json.loads(text)["policies"]
    assert (code, slip["loads"], slip["diagnostics"]) == (0, True, [])
    assert slip["mended"] == [
        {"code": "policy.unknown_value", "pointer": "/guardrails/0/op", "message": '"lte" is written "<="'}
    ]
    assert sound["mended"] == []
    assert (place / "slip.json").read_bytes() == data.replace(b'"lte"', b'"<="')
    assert (place / "slip.json").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in place.iterdir() if not path.name.endswith(".json")) == []


def test_without_fix_nothing_is_written(place: Path) -> None:
    """A review reads."""
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in place.iterdir()}
    assert run(["policy", "check", *(path.name for path in place.iterdir())]) == 65
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in place.iterdir()} == before


def test_a_file_that_needs_no_mending_is_not_written(place: Path) -> None:
    """Its time of change is what builds look at."""
    before = (place / "sound.json").stat().st_mtime_ns
    assert run(["policy", "check", "sound.json", "--fix"]) == 0
    assert (place / "sound.json").stat().st_mtime_ns == before


def test_a_link_is_mended_where_it_points(place: Path) -> None:
    """And stays a link."""
    (place / "slip.json").write_bytes(encoded({**SOUND, "guardrails": [{**GUARDRAIL, "op": "lte", "range": [0, 9]}]}))
    (place / "link.json").symlink_to("slip.json")
    assert run(["policy", "check", "link.json", "--fix"]) == 0
    assert (place / "link.json").is_symlink()
    assert b'"<="' in (place / "slip.json").read_bytes()


def test_a_file_that_cannot_be_written_stays_as_it_was(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """74, and nothing left behind."""
    data = encoded({**SOUND, "guardrails": [{**GUARDRAIL, "op": "lte", "range": [0, 9]}]})
    (place / "slip.json").write_bytes(data)

    def fail(_source: str, _target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert run(["policy", "check", "slip.json", "--fix"]) == 74
    assert (place / "slip.json").read_bytes() == data
    assert not list(place.glob("slip.json.*"))


def in_yaml(document: dict[str, object]) -> str:
    """The document as a team writes it."""
    return str(yaml.safe_dump(json.loads(encoded(document)), sort_keys=False))


def test_a_yaml_file_is_mended_with_its_comments(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the mend would take a comment along, it is said, not done."""
    text = "# whose it is\n" + in_yaml({**SOUND, "evidence": {"required": ["a", "b", "a"]}})
    (place / "p.yaml").write_text(text)
    _, said = told(capsys, "p.yaml", "--fix")
    assert "taken out" in said
    assert (place / "p.yaml").read_text() == text.replace("  - b\n  - a\n", "  - b\n")
    twice = text.replace("  required:\n  - a\n  - b\n  - a\n", "  required: [a,  # the ticket\n    a]\n")
    (place / "p.yaml").write_text(twice)
    _, said = told(capsys, "p.yaml", "--fix")
    assert "not mended: a change at /evidence/required/1 would lose a part of the text" in " ".join(said.split())
    assert (place / "p.yaml").read_text() == twice


def test_a_collection_gives_the_window_and_a_case_its_metrics(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is known of the files around a policy is used."""
    source = {"type": "http", "url": "https://metrics.example.com"}
    metric = {"source": "svc", "pointer": "/m", "watermark_pointer": "/at"}
    (place / "collection.json").write_bytes(
        encoded({"sources": {"svc": source}, "window": "4m", "metrics": {"leaks": metric}})
    )
    (place / "golden").mkdir()
    (place / "golden" / "case.json").write_bytes(encoded({"policy": "../sound.json", "snapshot": {"laeks": 0}}))
    _, text = told(capsys, "sound.json", "--collection", "collection.json", "-o", "json")
    found = {(one["code"], one["rule"]) for one in json.loads(text)["policies"][0]["diagnostics"]}
    assert found == {("policy.freshness_exceeds_window", "freshness"), ("policy.metric_in_case_only", "metric:laeks")}


def test_a_review_of_sound_files_loads_nothing_heavy(place: Path) -> None:
    """A hundred files in the time of another validator: no pydantic, no typer, no rich, nothing that evidence needs."""
    import subprocess
    import sys

    program = (
        "import sys; from gatekeeper.cli.app import run; code = run(['policy', 'check', 'sound.json', 'info.json'])\n"
        "print(code, *sorted({'pydantic', 'typer', 'rich', 'dataclasses', 'decimal', 'inspect', 'difflib',"
        " 'gatekeeper.evidence', 'gatekeeper.documents.wording', 'gatekeeper.review.fix'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=place)
    assert done.stdout.splitlines()[-1] == "0"
