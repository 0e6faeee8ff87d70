"""HO-16 a to f and SPEC 8: every other way a process can end has its own code, and a traceback only on demand."""

from __future__ import annotations

import json
import os
import shlex

import pytest

from tests.e2e.desk import Desk
from tests.e2e.documents import BLIND, HEALTHY, policy, snapshot
from tests.e2e.site import site

pytestmark = pytest.mark.slow  # many processes


BLOCK = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
"""

BUG = """
import gatekeeper.orchestrator.gate as gate
def ask(*_, **__):
    raise ZeroDivisionError("division by zero at https://ci:s3cr3t-EXAMPLE@metrics.example.test")
gate.ask = ask
"""


def test_ho_16_a_a_mistyped_option_is_wrong_usage(desk: Desk) -> None:
    """2 would be a hold, and the cron job would wait for ever."""
    assert desk.gate("--polcy", "p.json").code == 64
    done = desk.gate("check", "--polcy", "p.json")
    assert done.code == 64
    assert "--policy" in done.err


def test_ho_16_b_a_number_that_is_none_is_wrong_usage(desk: Desk) -> None:
    """Every option that takes a number, a duration or a time."""
    for argv in (["replay", "--limit", "abc"], ["verify", "--from", "abc"], desk.asking(HEALTHY, "--wait", "abc"),
                 desk.asking(HEALTHY, "--as-of", "abc"), ["replay", "--since", "abc"]):  # fmt: skip
        done = desk.gate(*argv)
        assert (done.code, done.out) == (64, b""), argv
    assert not desk.log.exists()


def test_ho_16_c_a_policy_that_does_not_exist_is_refused_input(desk: Desk) -> None:
    """The message names the path."""
    done = desk.gate(*desk.asking(HEALTHY, policy="nowhere.json"))
    assert (done.code, done.out) == (65, b"")
    assert "nowhere.json: the policy cannot be read: No such file or directory" in done.err


@pytest.mark.parametrize(
    "content", [b"", b"{", b"not json", b"[]", b"\xff\xfe{}", b"null", b'{"metrics": {"a": 1, "a": 2}}', b"[" * 200_000]
)
def test_ho_16_d_a_snapshot_that_is_no_json_object_is_refused_input(content: bytes, desk: Desk) -> None:
    """No verdict and no trace, whatever the bytes; the message names the file."""
    desk.begin_at("CANARY_10")
    before = desk.log.read_bytes()
    desk.write("bytes.json", content)
    done = desk.gate(*desk.asking("bytes.json"))
    assert (done.code, done.out) == (65, b"")
    assert "bytes.json" in done.err
    assert desk.log.read_bytes() == before


def test_ho_16_e_an_unexpected_exception_is_an_internal_error(desk: Desk) -> None:
    """70, one line, no traceback and no secret; nothing is recorded."""
    path = site(desk, BUG)
    done = desk.gate(*desk.asking(HEALTHY), PYTHONPATH=path)
    assert (done.code, done.out) == (70, b"")
    assert "internal error: ZeroDivisionError" in done.err
    assert "Traceback" not in done.err
    assert "s3cr3t-EXAMPLE" not in done.err
    as_json = desk.gate(*desk.asking(HEALTHY, "-o", "json"), PYTHONPATH=path)
    assert as_json.document["error"]["exit_code"] == as_json.code == 70
    assert not desk.log.exists()


def test_ho_16_e_a_traceback_is_there_when_asked_for(desk: Desk) -> None:
    """Whoever mends the bug needs the place, and still no secret."""
    for value, is_shown in (("1", True), ("0", False), ("", False)):
        done = desk.gate(*desk.asking(HEALTHY), PYTHONPATH=site(desk, BUG), GATEKEEPER_DEBUG=value)
        assert done.code == 70
        assert ("Traceback (most recent call last)" in done.err) is is_shown
        assert "s3cr3t-EXAMPLE" not in done.err


@pytest.mark.parametrize(
    "library",
    [
        *("pydantic", "rich", "typer", "pydantic_core", "orjson", "rfc8785"),
        *("prometheus_api_client", "promql_parser", "requests"),
    ],
)
def test_ho_16_f_a_missing_library_is_named_and_no_verdict(library: str, desk: Desk) -> None:
    """Whichever library is gone, a command that needs it ends with 64 and says so; the others go on working."""
    path = site(desk, BLOCK.format(names=[library]))
    desk.write("broken.json", policy(guardrails=[{"metric": "error_rate", "op": "<=", "threshhold": 0.02}]))
    source = {"type": "prometheus", "url": "http://127.0.0.1:9"}
    metric = {"source": "prom", "query": "sum(up)"}
    desk.write("collection.json", {"sources": {"prom": source}, "metrics": {"error_rate": metric}})
    needing = {
        "pydantic": desk.asking(HEALTHY, policy="broken.json"),  # it words what is wrong with a policy
        "pydantic_core": desk.asking(HEALTHY, policy="broken.json"),
        "prometheus_api_client": ["collect", "collection.json"],
        "promql_parser": ["collect", "collection.json"],
        "requests": ["collect", "collection.json"],
        "typer": ["check", "--help"],
        "orjson": ["verify"],
    }
    desk.begin_at_with(HEALTHY, "CANARY_10", PYTHONPATH=path)
    if library in needing:
        done = desk.gate(*needing[library], PYTHONPATH=path)
        assert (done.code, done.out) == (64, b"")
        assert f"'{library}'" in done.err
        assert "pip install" in done.err
        assert "Traceback" not in done.err
    assert len(desk.events()) == 3  # policy, start and ACCEPT: what could not be asked left no trace
    known = desk.gate(*desk.asking(BLIND), PYTHONPATH=path)  # the policy is in the log by now
    assert known.code == 2, known.err


def test_ho_16_f_an_installation_without_its_own_parts_is_no_verdict(desk: Desk) -> None:
    """Python itself would leave with 1, which is REJECT."""
    for module in ("gatekeeper.cli.call", "gatekeeper.evaluator", "gatekeeper.ledger.ndjson", "gatekeeper.render.text"):
        code = f"import sys\nsys.modules[{module!r}] = None\n"
        done = desk.gate(*desk.asking(HEALTHY), PYTHONPATH=site(desk, code))
        assert done.code == 70, (module, done)
        assert "Traceback" not in done.err


def test_a_dry_run_says_so_whatever_the_verdict(desk: Desk) -> None:
    """3: evaluated, not recorded. Nothing is created, not even a log."""
    done = desk.check(HEALTHY, "--dry-run")
    assert done.code == 3
    assert done.document["decision"]["verdict"] == "ACCEPT"
    assert not desk.log.parent.exists()
    desk.begin_at("CANARY_10")
    before = sorted((path.name, path.read_bytes()) for path in desk.log.parent.glob("*.ndjson"))
    for metrics in (HEALTHY, {**HEALTHY, "error_rate": 0.19}, BLIND):
        assert desk.check(metrics, "--dry-run").code == 3
    assert sorted((path.name, path.read_bytes()) for path in desk.log.parent.glob("*.ndjson")) == before
    assert desk.status() == ("ACTIVE", "CANARY_10")


def test_defaults_come_from_the_environment_and_the_file(desk: Desk) -> None:
    """Typed wins over GATEKEEPER_*, which win over gatekeeper.toml; the log really goes there."""
    argv = [*desk.asking(HEALTHY, "--start-stage", "CANARY_10", "--reason", "x")]
    desk.write("gatekeeper.toml", 'log = "from-file.ndjson"\noutput = "json"\nactor = "release-bot"\n')
    done = desk.gate(*argv)
    assert done.document["actor"] == "release-bot"
    assert (desk.place / "from-file.ndjson").exists()
    assert desk.gate(*argv, GATEKEEPER_LOG="from-env.ndjson", GATEKEEPER_OUTPUT="text").out.startswith(b"[OK]")
    assert (desk.place / "from-env.ndjson").exists()
    typed = desk.gate(*argv, "--log", "typed.ndjson", "-o", "markdown", GATEKEEPER_LOG="from-env.ndjson")
    assert typed.out.startswith(b"### ")
    assert (desk.place / "typed.ndjson").exists()
    assert not desk.log.exists()


@pytest.mark.parametrize("content", ['lgo = "x"\n', "log = 1\n", "log = \n", 'output = "xml"\n'])
def test_a_settings_file_that_is_wrong_is_wrong_usage(content: str, desk: Desk) -> None:
    """A default that is silently dropped would send the log elsewhere."""
    desk.write("gatekeeper.toml", content)
    done = desk.gate(*desk.asking(HEALTHY))
    assert (done.code, done.out) == (64, b"")
    assert "gatekeeper.toml" in done.err
    assert not desk.log.exists()


def test_who_asked_is_in_every_event(desk: Desk) -> None:
    """`--actor`, else the CI system's word, else the user."""
    desk.begin_at("CANARY_10", "--actor", "me")
    assert {event["actor"] for event in desk.events()} == {"me"}
    desk.gate(*desk.asking(BLIND), GITHUB_ACTOR="octocat")
    assert desk.events()[-1]["actor"] == "octocat"


def test_both_kinds_of_baseline_are_wrong_usage(desk: Desk) -> None:
    """Which of the two would count nobody could tell."""
    desk.write("base.json", snapshot(HEALTHY))
    desk.begin_at("CANARY_10")
    assert desk.gate(*desk.asking(HEALTHY, "--baseline", "base.json")).code == 64
    without = snapshot(HEALTHY, name="w")
    baseline = without.pop("baseline")
    desk.write("without.json", without)
    desk.write("base.json", baseline)
    done = desk.gate(*desk.asking("without.json", "--baseline", "base.json", "-o", "json"))
    assert done.code == 0
    assert done.document["metrics_snapshot"]["baseline"] == baseline


def test_help_and_version_are_answers(desk: Desk) -> None:
    """Each command's help has examples; they go to standard output and end with 0."""
    assert desk.gate("--version").out.startswith(b"gatekeeper ")
    for command in ("check", "run", "resume", "reevaluate", "stop", "queue", "status", "explain", "replay", "verify"):
        done = desk.gate(command, "--help")
        assert done.code == 0
        assert b"Examples:" in done.out
    assert desk.gate().code == 64


def test_a_policy_that_changed_its_spacing_needs_no_pydantic(desk: Desk) -> None:
    """HO-11 e: the same content is the same policy, known by its digest."""
    desk.begin_at("CANARY_10")
    desk.write("spaced.json", json.dumps(dict(reversed(policy().items())), indent=4))
    done = desk.gate(
        *desk.asking(HEALTHY, policy="spaced.json"),
        PYTHONPATH=site(desk, BLOCK.format(names=["pydantic", "pydantic_core"])),
    )
    assert done.code == 0
    assert len({event["policy_digest"] for event in desk.events() if "policy_digest" in event}) == 1


def test_a_working_directory_that_has_gone_is_wrong_usage(desk: Desk) -> None:
    """A job whose checkout was cleaned away: no bug of ours, and no verdict."""
    (desk.place / "gone").mkdir()
    argv = desk.asking(desk.evidence())
    argv[argv.index("policy.json")] = str(desk.place / "policy.json")
    argv[argv.index("--snapshot") + 1] = str(desk.place / argv[argv.index("--snapshot") + 1])
    done = desk.shell(f"cd gone; rmdir ../gone; gatekeeper {shlex.join(argv)}")
    assert (done.code, done.out) == (64, b"")
    assert "the working directory does not exist any more" in done.err


def test_an_environment_with_nothing_in_it_is_enough(desk: Desk) -> None:
    """No PATH, no HOME, no locale; an unknown zone and locale change nothing either."""
    desk.begin_at("CANARY_10")
    bare = dict.fromkeys(os.environ)
    for changes in (bare, {"LC_ALL": "xx_YY", "TZ": "Nowhere/Land"}, {"TZ": "Asia/Tokyo"}):
        done = desk.gate(*desk.asking(BLIND, "-o", "json"), **{**changes, "PYTHONPATH": desk.env()["PYTHONPATH"]})
        assert done.verdict == (2, ["observation_missing:guardrail_metric"], ["error_rate"]), done.err
        assert done.document["ts"].endswith("Z")
