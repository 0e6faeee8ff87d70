"""The shell of the GitLab and Jenkins snippets, with a real gate and with every exit code that is no verdict."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from string import Template
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gatekeeper.cli.init import starter
from gatekeeper.ledger.address import GIT, POSTGRESQL, address_of
from tests.actions.conftest import CI_PASSWORD, TOKEN
from tests.actions.runner import PROGRAMS
from tests.actions.site import HEALTHY, METRICS, Site, script, snapshot, without_gatekeeper
from tests.docs.console import blocks

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

GUIDE = "docs/guides/gitlab-jenkins.md"
LOG = "/srv/gate/exp-42-B"
NO_VERDICT = [3, 64, 65, 69, 70, 74, 127, 137, 143]


@dataclass
class Shop:
    """A checkout with the scripts that the snippets call, and the environment of a job.

    `project`: GitLab's variables. `ledger`: how the address begins by which the snippet without a volume is known.
    """

    site: Site
    checkout: Path
    environment: dict[str, str] = field(default_factory=dict)
    project: dict[str, str] = field(default_factory=dict)
    ledger: str = ""

    def shell(self, command: list[str], text: str, **environment: str) -> int:
        """The exit code of one shell with *text*; the volume of the log is a directory of the test's."""
        return subprocess.run(
            [*command, "-c", text.replace(LOG, str(self.site.base))],
            cwd=self.checkout,
            env=self.environment
            | {name: value.replace(LOG, str(self.site.base)) for name, value in environment.items()},
            capture_output=True,
            check=False,
        ).returncode


def gate(text: str) -> str:
    """A stand-in: it has a version, and answers a check with *text*."""
    return f'if [ "$1" = --version ]; then exit 0; fi; {text}'


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A clone of the team's repository."""
    site = Site(tmp_path)
    site.found()
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin/python3", "exit 0")  # pip: what it would install is there
    environment = {
        "PATH": f"{tmp_path / 'bin'}:{PROGRAMS}",
        "TRAFFIC": str(tmp_path / "traffic"),
        "HOME": str(tmp_path),
    }
    return Shop(site, site.checkout(), {**environment, "CHANGE_ID": "CHG-123"})


def stand_in(shop: Shop, line: str) -> None:
    """Put *line* of bash in gatekeeper's place; "" takes it away."""
    if line:
        script(shop.site.base / "bin/gatekeeper", line)
    else:
        shop.environment["PATH"] = f"{shop.site.base / 'bin'}:{without_gatekeeper(shop.site.base / 'few')}"


# --- GitLab: script lines go to one shell, as gitlab-runner starts it


def gitlab(shop: Shop, job: str, metrics: dict[str, Any]) -> int:
    """Run *job*; the exit code of its shell."""
    (shop.checkout / "collected.json").write_text(json.dumps(snapshot(metrics)))
    text, *others = blocks(GUIDE, "yaml")
    document = yaml.safe_load(text)
    template, own = document[".gate"], document[job]
    for other in others:
        if shop.ledger and shop.ledger in other:  # as GitLab merges a file that is included with its own
            changed = yaml.safe_load(other)[".gate"]
            template = template | changed | {"variables": template["variables"] | changed["variables"]}
    assert own["extends"] == ".gate"
    lines = [*template["before_script"], *template["script"]]
    given = shop.project | {"CI_JOB_STAGE": own["stage"], "CI_COMMIT_SHA": "c" * 40}
    stated = {**template["variables"], **own["variables"]}
    assert stated.pop("PGSSLMODE", "verify-full") == "verify-full"  # the server of these tests knows no TLS
    variables = given | {name: Template(value).safe_substitute(given) for name, value in stated.items()}
    return shop.shell(["bash", "-eo", "pipefail"], "\n".join(lines), **variables)


@pytest.mark.parametrize(
    ("verdict", "code", "moved"), [("ACCEPT", 0, ["0", "10"]), ("REJECT", 1, ["0", "0"]), ("DEGRADE", 2, ["0"])]
)
def test_gitlab_moves_by_the_verdict(shop: Shop, verdict: str, code: int, moved: list[str]) -> None:
    """Forward, back, or not at all; only an ACCEPT leaves the job green."""
    assert gitlab(shop, "dry-run", HEALTHY) == 0
    assert gitlab(shop, "canary-10", METRICS[verdict]) == code
    assert shop.site.moved == moved


@pytest.mark.parametrize("code", NO_VERDICT)
def test_gitlab_moves_nothing_without_a_verdict(shop: Shop, code: int) -> None:
    """The job fails with that code."""
    stand_in(shop, gate(f"exit {code}"))
    assert gitlab(shop, "canary-10", HEALTHY) == code
    assert shop.site.moved == []


@pytest.mark.parametrize("line", ["", "echo Traceback >&2; exit 1", "kill -9 $$"], ids=["missing", "broken", "killed"])
def test_gitlab_stops_before_it_asks_an_installation_that_is_broken(shop: Shop, line: str) -> None:
    """Python's own 1 is no REJECT: no roll back."""
    stand_in(shop, line)
    assert gitlab(shop, "canary-10", HEALTHY) != 0
    assert shop.site.moved == []


def test_gitlab_retries_a_hold_as_its_next_attempt(shop: Shop) -> None:
    """The log on the volume knows the hold, and in a later stage the run."""
    gitlab(shop, "dry-run", HEALTHY)
    gitlab(shop, "canary-10", METRICS["DEGRADE"])
    assert gitlab(shop, "canary-10", HEALTHY) == 0
    assert gitlab(shop, "canary-50", HEALTHY) == 0
    events = [json.loads(line) for line in (shop.site.base / "decision.ndjson").read_text().splitlines()]
    assert [event["event_id"] for event in events if event["kind"] == "decision"][-2:] == [
        "exp-42:B:1:CANARY_10#2",
        "exp-42:B:1:CANARY_50",
    ]


def on_an_empty_runner(shop: Shop, job: str, metrics: dict[str, Any]) -> int:
    """The same with a clone and a home of its own: nothing is left of a job before."""
    number = len(list(shop.site.base.glob("runner-*")))
    home = shop.site.base / f"runner-{number}"
    home.mkdir()
    shop.checkout, shop.environment["HOME"] = shop.site.checkout(f"checkout-{number}"), str(home)
    return gitlab(shop, job, metrics)


@pytest.fixture(params=["git+$CI_SERVER_URL", pytest.param("postgresql://", marks=pytest.mark.server)])
def shared(request: pytest.FixtureRequest, shop: Shop) -> Shop:
    """A shop whose runners have no volume: by the snippet for a branch, and the one for a database."""
    shop.ledger = request.param
    if shop.ledger == "postgresql://":
        shop.project["PGPASSWORD"] = CI_PASSWORD
        shop.site.database = request.getfixturevalue("gate_database")
        shop.environment |= request.getfixturevalue("guarded_postgres").as_any_host()
    else:
        host = request.getfixturevalue("host")
        shop.project |= {"CI_SERVER_URL": host.url, "CI_PROJECT_PATH": "acme/shop", "GATE_TOKEN": TOKEN}
    return shop


def test_gitlab_without_a_volume_connects_empty_runners(shared: Shop) -> None:
    """Let in, held, tried again, rejected, and rejected for good: each job knows those before."""
    assert on_an_empty_runner(shared, "dry-run", HEALTHY) == 0
    assert on_an_empty_runner(shared, "canary-10", METRICS["DEGRADE"]) == 2
    assert on_an_empty_runner(shared, "canary-10", HEALTHY) == 0
    assert on_an_empty_runner(shared, "canary-50", METRICS["REJECT"]) == 1
    assert on_an_empty_runner(shared, "canary-50", HEALTHY) == 1
    assert shared.site.verdicts == ["ACCEPT", "DEGRADE", "ACCEPT", "REJECT"]
    assert shared.site.moved == ["0", "10", "0", "0"]


def test_gitlab_without_its_secret_moves_nothing(shared: Shop) -> None:
    """A pipeline of a branch that is not protected is not given it."""
    for name in {"PGPASSWORD", "GATE_TOKEN"} & set(shared.project):
        shared.project[name] = ""
    assert on_an_empty_runner(shared, "dry-run", HEALTHY) == 69
    assert shared.site.moved == []


def test_the_gitlab_file_is_one_and_asks_the_stages_in_order(tmp_path: Path) -> None:
    """Valid for GitLab's own schema; every stage waits for the one before, and no hold is let pass."""
    text = blocks(GUIDE, "yaml")[0]
    (tmp_path / ".gitlab-ci.yml").write_text(text)
    program = os.path.join(os.path.dirname(sys.executable), "check-jsonschema")
    schema = ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"]
    ended = subprocess.run([program, *schema, ".gitlab-ci.yml"], cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stdout.decode()
    document = yaml.safe_load(text)
    jobs = {name: job for name, job in document.items() if name != "stages" and not name.startswith(".")}
    assert [job["stage"] for job in jobs.values()] == document["stages"] == json.loads(starter("policy.json"))["stages"]
    names = list(jobs)
    assert [job.get("needs", []) for job in jobs.values()] == [[], *([name] for name in names[:-1])]
    assert "allow_failure" not in text


# --- Jenkins: `sh` is a shell of its own each, started with -xe; the branches are Groovy's

_SHELL = re.compile(r"\bsh '(?P<text>[^'\n]+)'")
_QUESTION = re.compile(r"int code = sh\(returnStatus: true, script: '''(?P<text>.*?)'''\)", re.DOTALL)
_BRANCHES = re.compile(r"switch \(code\) \{(?P<body>.*?)\n    \}", re.DOTALL)
_LABEL = re.compile(r"^ *(?:case (?P<code>\d+)|default):$", re.MULTILINE)


def jenkins(shop: Shop, stage: str, percent: str, metrics: dict[str, Any]) -> str:
    """Carry out the function `gate` of the snippet; how it ends: "" or the words of its error."""
    (shop.checkout / "collected.json").write_text(json.dumps(snapshot(metrics)))
    text = blocks(GUIDE, "groovy")[0]
    body = text[text.index("void gate(") :]
    question, branches = _QUESTION.search(body), _BRANCHES.search(body)
    assert question is not None
    assert branches is not None
    environment = {
        "STAGE": stage,
        "PERCENT": percent,
        "GIT_COMMIT": "c" * 40,
        "GATEKEEPER_LOG": f"{LOG}/decision.ndjson",
    }
    for before in _SHELL.finditer(body[: question.start()]):
        if shop.shell(["sh", "-xe"], before["text"], **environment) != 0:
            return "script returned an exit code"
    code = shop.shell(["sh", "-xe"], question["text"], **environment)
    return _branch(shop, branches["body"], code, environment)


def _branch(shop: Shop, body: str, code: int, environment: dict[str, str]) -> str:
    """What Groovy does from the label of *code* on: statement by statement until `break`, `error` or the end."""
    labels = list(_LABEL.finditer(body))
    start = next(label for label in labels if label["code"] in {str(code), None})
    for line in body[start.end() :].splitlines():
        statement = line.strip()
        if not statement or _LABEL.fullmatch(line):
            continue
        if statement == "break":
            return ""
        if shell := _SHELL.fullmatch(statement):
            assert shop.shell(["sh", "-xe"], shell["text"], **environment) == 0
        else:
            assert statement.startswith("error("), statement
            return statement
    return ""


@pytest.mark.parametrize(
    ("verdict", "error", "moved"),
    [("ACCEPT", "", ["0", "10"]), ("REJECT", "rolled back", ["0", "0"]), ("DEGRADE", "held", ["0"])],
)
def test_jenkins_moves_by_the_verdict(shop: Shop, verdict: str, error: str, moved: list[str]) -> None:
    """Forward, back, or not at all; only an ACCEPT lets the next stage begin."""
    assert jenkins(shop, "DRY_RUN", "0", HEALTHY) == ""
    ended = jenkins(shop, "CANARY_10", "10", METRICS[verdict])
    assert bool(ended) == bool(error)
    assert error in ended
    assert shop.site.moved == moved


@pytest.mark.parametrize("code", NO_VERDICT)
def test_jenkins_moves_nothing_without_a_verdict(shop: Shop, code: int) -> None:
    """The pipeline ends."""
    stand_in(shop, gate(f"exit {code}"))
    assert "no verdict" in jenkins(shop, "CANARY_10", "10", HEALTHY)
    assert shop.site.moved == []


@pytest.mark.parametrize("line", ["", "echo Traceback >&2; exit 1", "kill -9 $$"], ids=["missing", "broken", "killed"])
def test_jenkins_stops_before_it_asks_an_installation_that_is_broken(shop: Shop, line: str) -> None:
    """Python's own 1 is no REJECT: no roll back."""
    stand_in(shop, line)
    assert jenkins(shop, "CANARY_10", "10", HEALTHY) != ""
    assert shop.site.moved == []


def test_the_jenkins_file_asks_the_stages_in_order() -> None:
    """Those of the starter policy with their shares, one build at a time, and nothing that lets a hold pass."""
    text = blocks(GUIDE, "groovy")[0]
    asked = re.findall(r"stage\('(\w+)'\) \{ steps \{ gate\('(\w+)', '(\d+)'\) \} \}", text)
    assert [stage for stage, _, _ in asked] == json.loads(starter("policy.json"))["stages"]
    assert all(stage == argument for stage, argument, _ in asked)
    assert [percent for _, _, percent in asked] == ["0", "10", "50", "100"]
    assert "disableConcurrentBuilds()" in text
    assert "unstable(" not in text


def test_the_jenkins_lines_without_a_volume_name_ledgers(shop: Shop) -> None:
    """Their addresses are read as what they are meant to be; the key reaches ssh whole, however it is named."""
    _, *others = blocks(GUIDE, "groovy")
    addresses = [re.findall(r"GATEKEEPER_LOG = '(.*)'", text)[0] for text in others]
    assert [address_of(address).kind for address in addresses] == [POSTGRESQL, GIT]
    (ssh,) = re.findall(r"GIT_SSH_COMMAND = '(.*)'", others[1])
    script(shop.site.base / "bin/ssh", f'printf "%s\\n" "$@" > {shop.site.base}/ssh; exit 1')
    shop.shell(
        ["sh", "-xe"], "gatekeeper log head", GATEKEEPER_LOG=addresses[1], GIT_SSH_COMMAND=ssh, GATE_KEY="/keys/a b"
    )
    told = (shop.site.base / "ssh").read_text().splitlines()
    assert told[:2] == ["-i", "/keys/a b"]
    assert "git@git.example.com" in told
