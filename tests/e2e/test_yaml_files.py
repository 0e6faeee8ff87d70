"""A policy or a collection file in YAML, wherever one is read by name: the same verdicts, digests and places."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
import yaml

from tests.e2e.desk import FIXED, Desk
from tests.e2e.documents import BLIND, HEALTHY, policy

pytestmark = pytest.mark.slow  # many processes

SOURCES: dict[str, Any] = {"part": {"type": "file", "path": "evidence.json"}}
COLLECTION = {"sources": SOURCES, "metrics": {name: {"source": "part"} for name in (*HEALTHY, "error_rate")}}


@pytest.fixture
def in_yaml(desk: Desk) -> Desk:
    """A desk with P0 and a collection file in both languages."""
    desk.write("policy.yaml", yaml.safe_dump(policy(), sort_keys=False))
    desk.write("collection.json", json.dumps(COLLECTION))
    desk.write("collection.yml", yaml.safe_dump(COLLECTION, sort_keys=False))
    return desk


def asking(path: str, *argv: str) -> list[str]:
    """A check with the policy at *path*."""
    return ["check", "--policy", path, *FIXED, "--run-id", "r-41", "-o", "json", *argv]


def test_a_run_goes_on_when_its_policy_is_rewritten_in_yaml(in_yaml: Desk) -> None:
    """Identity is content: begun with JSON, the run knows the YAML file as its own policy, and the log has one."""
    first = in_yaml.gate(*asking("policy.json", "--snapshot", in_yaml.evidence()))
    second = in_yaml.gate(*asking("policy.yaml", "--snapshot", in_yaml.evidence()))
    assert (first.code, second.code) == (0, 0)
    assert first.document["policy_digest"] == second.document["policy_digest"]
    assert [event["kind"] for event in in_yaml.events()] == ["policy", "decision", "decision"]
    in_yaml.assert_verifies()


def test_a_hold_with_yaml_is_taken_up_by_cron(in_yaml: Desk) -> None:
    """`reevaluate` reads the collection file again by the name that the hold recorded; the policy is the log's."""
    in_yaml.write("evidence.json", (in_yaml.place / in_yaml.evidence(BLIND)).read_bytes())
    held = in_yaml.gate(*asking("policy.yaml", "--collect", "collection.yml"))
    assert held.code == 2, held.err
    assert held.document["resume"]["source"]["collection"].endswith("collection.yml")
    in_yaml.write("evidence.json", (in_yaml.place / in_yaml.evidence(HEALTHY)).read_bytes())
    assert in_yaml.gate("reevaluate").code == 0
    assert in_yaml.status() == ("ACTIVE", "DRY_RUN")


def test_collect_gives_both_files_one_digest(in_yaml: Desk) -> None:
    """`collector_digest` stands for what is asked, not for how it is written."""
    in_yaml.write("evidence.json", (in_yaml.place / in_yaml.evidence()).read_bytes())
    taken = [json.loads(in_yaml.gate("collect", name).out) for name in ("collection.json", "collection.yml")]
    assert len({one["_meta"]["collector_digest"] for one in taken}) == 1


def test_run_takes_a_policy_in_yaml(in_yaml: Desk) -> None:
    """All stages in turn; the first without a file ends it with 65."""
    (in_yaml.place / "stages").mkdir()
    in_yaml.write("stages/DRY_RUN.json", (in_yaml.place / in_yaml.evidence()).read_bytes())
    done = in_yaml.gate("run", "--policy", "policy.yaml", *FIXED, "--snapshots", "stages")
    assert "ACCEPT" in done.out.decode()
    assert done.code == 65


def test_policy_check_places_errors_and_warnings_in_yaml(in_yaml: Desk) -> None:
    """Line and column of the YAML file, for what does not load and for what loads."""
    text = 'policy_id: p\npolicy_version: "1"\nconstraints:\n- kind: must_be_zero\n  metrc: leaks\n'
    in_yaml.write("slip.yaml", text)
    done = in_yaml.gate("policy", "check", "slip.yaml", "-o", "json")
    assert done.code == 65
    (found,) = done.document["policies"]
    places = {(one["code"], one["line"], one["column"]) for one in found["diagnostics"]}
    assert places == {("policy.unknown_key", 5, 3), ("policy.missing_key", 4, 3)}
    in_yaml.write("slip.yaml", text.replace("metrc", "metric") + "missing_data_policy:\n  on_missing: DEGRADE\n")
    done = in_yaml.gate("policy", "check", "slip.yaml", "-o", "json")
    assert done.code == 0
    (found,) = done.document["policies"]
    places = {(one["code"], one["line"], one["column"]) for one in found["diagnostics"]}
    assert ("policy.no_freshness_limit", 7, 3) in places


def test_a_check_names_line_and_column_of_a_policy_in_yaml(in_yaml: Desk) -> None:
    """Of what YAML readers differ on, and of what a policy cannot be."""
    in_yaml.write("slip.yaml", "policy_id: p\npolicy_version: 2026-02-18\n")
    done = in_yaml.gate(*asking("slip.yaml", "--snapshot", in_yaml.evidence()))
    assert done.code == 65
    assert done.document["error"]["message"].startswith("slip.yaml:2:17: a date without quotes")
    in_yaml.write("slip.yaml", in_yaml.place.joinpath("policy.yaml").read_text().replace("op: <=", "op: =<"))
    done = in_yaml.gate(*asking("slip.yaml", "--snapshot", in_yaml.evidence()))
    assert done.code == 65
    lines = (in_yaml.place / "slip.yaml").read_text().splitlines()
    first = lines.index("  op: =<") + 1
    assert done.document["error"]["message"].startswith(f"slip.yaml:{first}:7: /guardrails/0/op: found text")


def test_the_lint_places_what_it_says_in_yaml(in_yaml: Desk) -> None:
    """A collection file's defects and slips, too."""
    in_yaml.write("slip.yml", "sources:\n  part: {type: file, path: x.json}\nmetrics:\n  a: {source: prt}\n")
    done = in_yaml.gate("collect", "--lint", "slip.yml")
    assert done.code == 65
    assert "slip.yml:4:15  /metrics/a/source" in done.out.decode()
    in_yaml.write("slip.yml", in_yaml.place.joinpath("collection.yml").read_text())
    done = in_yaml.gate("collect", "--lint", "slip.yml", "--policy", "policy.yaml", "-o", "json")
    for one in done.document["diagnostics"]:
        assert one["line"] is not None, one


def test_without_the_extra_every_command_that_meets_yaml_is_wrong_usage(in_yaml: Desk) -> None:
    """64 with the remedy, nothing recorded, no traceback; JSON works as before."""
    block = in_yaml.place / "without" / "yaml"
    block.mkdir(parents=True)
    (block / "__init__.py").write_text("raise ImportError('not installed', name='yaml')\n")
    paths = f"{block.parent}:{in_yaml.env()['PYTHONPATH']}"
    snapshot = in_yaml.evidence()
    in_yaml.write("case.yaml", "name: n\n")
    for argv in (
        asking("policy.yaml", "--snapshot", snapshot),
        ["policy", "check", "policy.yaml"],
        ["policy", "check", "policy.yaml", "--fix"],
        ["policy", "explain", "policy.yaml"],
        ["policy", "diff", "policy.json", "policy.yaml"],
        ["policy", "test", "case.yaml"],
        ["policy", "backtest", "policy.yaml"],
        ["collect", "collection.yml"],
        ["collect", "--lint", "collection.yml"],
        ["run", "--policy", "policy.yaml", *FIXED, "--snapshots", "."],
        asking("policy.json", "--collect", "collection.yml"),
    ):
        done = in_yaml.gate(*argv, PYTHONPATH=paths)
        assert done.code == 64, (argv, done.err, done.out)
        assert "python -m pip install 'pyyaml>=6.0.2'" in done.err + done.out.decode(), argv
    assert not in_yaml.log.exists()
    assert in_yaml.gate(*asking("policy.json", "--snapshot", snapshot), PYTHONPATH=paths).code == 0


def test_json_files_never_load_the_library(in_yaml: Desk) -> None:
    """What a check of JSON costs does not change; neither the library nor its reader is there."""
    program = (
        "import sys\nfrom gatekeeper.cli.app import run\ncode = run(sys.argv[1:])\n"
        "sys.exit(code or any('yaml' in name for name in sys.modules))"
    )
    argv = asking("policy.json", "--snapshot", in_yaml.evidence())
    for _ in range(2):  # the policy is new, and then known
        done = in_yaml.shell(f"'{sys.executable}' -c \"{program}\" {' '.join(argv)}")
        assert done.code == 0, done.err
