"""Every command that reads a policy reads it in YAML, too: the same answers, and the places of the YAML file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gatekeeper.cli.app import run
from gatekeeper.model.document import escape_pointer, locate

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
Place = tuple[int, int]

GUARDED = json.loads((ROOT / "policies" / "checkout-guarded.json").read_bytes())
FIRST, *OTHERS = GUARDED["guardrails"]
CHANGED = {**GUARDED, "policy_version": "4", "guardrails": [{**FIRST, "threshold": 0.9}, *OTHERS], "suppressions": []}
SLIP = {**GUARDED, "guardrails": [{**FIRST, "op": "=<"}, *OTHERS], "stagse": ["ROLLOUT_100"]}
KNOWN = json.loads((ROOT / "policies" / "exp-eval-policy.json").read_bytes())
"""The policy of the example log."""
POLICIES = {
    "policy": GUARDED,
    "changed": CHANGED,
    "slip": SLIP,
    "known": KNOWN,
    "strict": {**KNOWN, "guardrails": [{**one, "threshold": 0} for one in KNOWN["guardrails"]]},
}
LANGUAGES: dict[str, Callable[[Any], str]] = {
    ".json": lambda document: json.dumps(document, indent=2),
    ".yaml": lambda document: "# what a rollout must not harm\n" + yaml.safe_dump(document, sort_keys=False),
    ".yml": lambda document: "---\n\n" + yaml.safe_dump(document, sort_keys=False, default_flow_style=True, width=50),
}
HELD = "exp-42:B:2026-02-18:DRY_RUN"
EVIDENCE = ["--snapshot", str(ROOT / "snapshots" / "CANARY_10.json"), "--as-of", "snapshot"]

COMMANDS: dict[str, tuple[str, int]] = {
    "check": ("policy check {policy} {changed} --fail-on warning", 10),
    "check a slip": ("policy check {slip}", 65),
    "explain": ("policy explain {policy}", 0),
    "diff": ("policy diff {policy} {changed} --fail-on loosened", 10),
    "diff a revision": ("policy diff git:HEAD:{policy} git:HEAD:{changed}", 0),
    "test": ("policy test policies/golden", 10),
    "mutants": ("policy test {golden/accept-minimal} {golden/reject-budget} --mutants", 0),
    "backtest": (f"policy backtest {{strict}} --simulated --log {ROOT}/logs/example.ndjson --fail-on any", 10),
    "from-log": (f"policy test --from-log {HELD} --policy {{known}} --log {ROOT}/logs/example.ndjson made", 0),
    "gate": (f"check --policy {{known}} --experiment exp-42 --variant B --stage DRY_RUN {' '.join(EVIDENCE)}", 2),
}
"""What is asked, with the names of files between braces, and the exit code."""


def lay_out(folder: Path, suffix: str) -> dict[str, str]:
    """The same policies and golden cases in one language, committed; name -> path of each."""
    (folder / "policies" / "golden").mkdir(parents=True)
    documents = dict(POLICIES)
    for path in (ROOT / "policies" / "golden").glob("*.json"):
        case = json.loads(path.read_bytes())
        wrong = {"verdict": "ACCEPT"} if path.stem == "reject-guardrail" else {}
        expect = {**case["expect"], **wrong}
        documents[f"golden/{path.stem}"] = {**case, "policy": f"../policy{suffix}", "expect": expect}
    for name, document in documents.items():
        (folder / "policies" / f"{name}{suffix}").write_text(LANGUAGES[suffix](document), encoding="utf-8")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return {name: f"policies/{name}{suffix}" for name in documents}


def places_by(marks: Any) -> dict[str, Place]:
    """JSON Pointer -> line and column of each value, and with `#` of each name, as PyYAML's own tree has them."""
    found: dict[str, Place] = {}
    waiting = [("", marks)]
    while waiting:
        pointer, node = waiting.pop()
        found[pointer] = (node.start_mark.line + 1, node.start_mark.column + 1)
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                inner = f"{pointer}/{escape_pointer(key.value)}"
                found["#" + inner] = (key.start_mark.line + 1, key.start_mark.column + 1)
                waiting.append((inner, value))
        elif isinstance(node, yaml.SequenceNode):
            waiting += [(f"{pointer}/{index}", value) for index, value in enumerate(node.value)]
    return found


class Answer:
    """What a command said about the files of one language.

    Attributes:
        document: without what tells the languages apart.
        places: file, pointer, line and column of all that it places, with the language taken off the names.
    """

    def __init__(self, document: Any, suffix: str) -> None:
        self.places: list[tuple[str, str, Place]] = []
        self._suffix = suffix
        self.document = self._without(document, "")

    def _without(self, value: Any, file: str) -> Any:
        if isinstance(value, list):
            return [self._without(one, file) for one in value]
        if isinstance(value, str):
            return value.replace(self._suffix, ".json")
        if not isinstance(value, dict):
            return value
        if "changes" in value:  # they are placed in the new policy
            file = value["new"]["source"]
        file = value.get("source") or value.get("file") or (value["policy"] if "unnoticed" in value else file)
        if value.get("line") is not None:
            self.places.append((file.removesuffix(self._suffix), value["pointer"], (value["line"], value["column"])))
        left = {key: one for key, one in value.items() if key not in {"line", "column"}}
        return {key: self._without(one, file) for key, one in left.items()}


def asked(folder: Path, suffix: str, name: str, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Answer:
    """The answer in a folder of its own."""
    folder.mkdir()
    files = lay_out(folder, suffix)
    argv, code = COMMANDS[name]
    monkeypatch.chdir(folder)
    capfd.readouterr()
    found = run([word.format(**files) for word in f"{argv} -o json".split()])
    out, err = capfd.readouterr()
    assert found == code, (out, err)
    document = json.loads(out)
    if name == "gate":
        document = {key: document[key] for key in ("decision", "policy_digest")}
    return Answer(document, suffix)


@pytest.mark.parametrize("suffix", [".yaml", ".yml"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_policy_gets_the_same_answer_in_either_language(
    name: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """And each place is the one of the same value, or name, in the file that was given."""
    in_json = asked(tmp_path / "json", ".json", name, monkeypatch, capfd)
    in_yaml = asked(tmp_path / "yaml", suffix, name, monkeypatch, capfd)
    assert in_yaml.document == in_json.document
    assert [place[:2] for place in in_yaml.places] == [place[:2] for place in in_json.places]
    for (file, pointer, place), (_, _, other) in zip(in_json.places, in_yaml.places, strict=True):
        path = file.removeprefix("git:HEAD:")
        known = locate((tmp_path / f"json/{path}.json").read_bytes())
        around = pointer
        while around not in known:
            around = around.rpartition("/")[0]
        which = around if known[around] == place else f"#{around}"
        assert known[which] == place
        data = (tmp_path / f"yaml/{path}{suffix}").read_bytes()
        assert other == places_by(yaml.compose(data))[which]
    assert in_json.places or name in {"backtest", "explain", "from-log", "gate", "test"}
