"""A ledger elsewhere that is not reached, as callers of the command meet it (SPEC 7 and 8)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gatekeeper.cli.app import run
from tests.cli.elsewhere import ADDRESS, SECRET, SHOWN, Elsewhere
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY, Document, policy, snapshot

ASK = ["check", "--policy", "policy.json", "--experiment", "checkout", "--variant", "B", "--run-id", "r-41"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a policy."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.json").write_text(json.dumps(policy()))
    return tmp_path


def check(capfd: pytest.CaptureFixture[str], metrics: Document, *more: str, name: str) -> tuple[int, Document, str]:
    """A check in json with new evidence: exit code, the document, standard error."""
    Path("snapshot.json").write_text(json.dumps(snapshot(metrics, name=name)))
    code = run([*ASK, "--snapshot", "snapshot.json", "--log", ADDRESS, "-o", "json", *more])
    captured = capfd.readouterr()
    assert SECRET not in captured.out + captured.err
    return code, json.loads(captured.out), captured.err


@pytest.mark.parametrize("sign", ["down", "readonly"])
@pytest.mark.parametrize("begun", [False, True], ids=["first check", "known policy"])
@pytest.mark.parametrize(("verdict", "metrics"), [("ACCEPT", HEALTHY), ("DEGRADE", BLIND)])
def test_accept_and_degrade_become_69(
    verdict: str, metrics: Document, begun: bool, sign: str, elsewhere: Elsewhere, capfd: pytest.CaptureFixture[str]
) -> None:
    """No verdict's code: a pipeline neither goes on nor rolls back, and knows an outage from a full disk."""
    if begun:
        assert check(capfd, HEALTHY, name="0")[0] == 0
    before = elsewhere.path.read_bytes() if begun else b""
    elsewhere.go(sign)
    code, document, err = check(capfd, metrics, name="1")
    error = document["error"]
    assert (code, error["code"], error["exit_code"]) == (69, "ledger.unreachable", 69)
    assert error["message"].startswith(f"{verdict} was reached")
    assert SHOWN in error["message"]
    assert error["remedy"] == "start it, or mend the address"
    assert f"remedy: {error['remedy']}" in err
    elsewhere.back()
    assert (elsewhere.path.read_bytes() if elsewhere.path.exists() else b"") == before


@pytest.mark.parametrize("output", ["text", "json", "ndjson", "markdown", "github"])
@pytest.mark.usefixtures("elsewhere")
def test_an_answer_names_the_ledger_without_its_credentials(output: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Where it was recorded stands in every page that a pull request or a job shows."""
    for metrics, name in ((HEALTHY, "1"), (HARMFUL, "2")):
        Path("snapshot.json").write_text(json.dumps(snapshot(metrics, name=name)))
        assert run([*ASK, "--snapshot", "snapshot.json", "--log", ADDRESS, "-o", output]) in {0, 1}
        captured = capfd.readouterr()
        assert SECRET not in captured.out + captured.err
        assert (SHOWN in captured.out) is (output in {"text", "markdown"})


@pytest.mark.parametrize("sign", ["down", "readonly"])
def test_reject_ends_with_1_and_is_recorded_by_the_next_call(
    sign: str, elsewhere: Elsewhere, capfd: pytest.CaptureFixture[str]
) -> None:
    """Going back is always possible; the run does not go forward when the ledger is back."""
    assert check(capfd, HEALTHY, name="0")[0] == 0
    elsewhere.go(sign)
    code, document, err = check(capfd, HARMFUL, "--stage", "SHADOW", name="1")
    assert (code, document["decision"]["verdict"]) == (1, "REJECT")
    for words in ("REJECT IS NOT RECORDED", SHOWN, "the next call records it", "gatekeeper stop r-41"):
        assert words in err
    elsewhere.back()
    code, document, _ = check(capfd, HEALTHY, name="2")
    assert (code, document["recorded"], document["from_marker"]) == (1, True, True)
    assert "guardrail_violation:error_rate" in document["decision"]["reason_codes"]


def test_an_outage_is_waited_for_once(elsewhere: Elsewhere, capfd: pytest.CaptureFixture[str]) -> None:
    """A check looks at the policy's digest and at the run; each try may take as long as the time limit."""
    elsewhere.go("down")
    assert check(capfd, HEALTHY, name="0")[0] == 69
    assert [one.views for one in elsewhere.opened] == [1]


def test_a_ledger_that_comes_back_is_asked_again(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--wait` and `reevaluate --watch` go on in the same process."""
    from gatekeeper.cli import remote
    from gatekeeper.errors import LedgerUnreachableError

    ledger = remote.open_shared(ADDRESS)
    moments = iter([0.0, 0.5, 1.5])
    monkeypatch.setattr("gatekeeper.cli.remote.time.monotonic", lambda: next(moments))
    elsewhere.go("down")
    with pytest.raises(LedgerUnreachableError):
        ledger.view()
    elsewhere.back()
    with pytest.raises(LedgerUnreachableError):
        ledger.view()
    assert list(ledger.view().runs()) == []
    remote.close_shared()


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["queue"],
        ["explain", "1"],
        ["replay"],
        ["replay", "-o", "ndjson"],
        ["replay", "--follow"],
        ["verify"],
        ["reevaluate"],
        ["stop", "r-41", "--reason", "x"],
        ["resume", "hold-000000000000000000000000", "--snapshot", "snapshot.json"],
        ["log", "head"],
        ["log", "stat"],
        ["log", "metrics"],
        ["log", "rebuild"],
        ["log", "import", "source.ndjson"],
        ["policy", "backtest", "policy.json"],
    ],
    ids=" ".join,
)
def test_every_command_ends_with_69_and_says_what_to_do(
    words: list[str], elsewhere: Elsewhere, capfd: pytest.CaptureFixture[str]
) -> None:
    """What, why and remedy; no credentials, no traceback, no code of a verdict."""
    Path("snapshot.json").write_text(json.dumps(snapshot(HEALTHY)))
    elsewhere.go("down")
    code = run([*words, "--log", ADDRESS])
    captured = capfd.readouterr()
    assert code == 69
    assert f"gatekeeper: {SHOWN}: connection refused\n  remedy: start it, or mend the address\n" in captured.err
    assert (captured.out, SECRET in captured.err) == ("", False)


@pytest.mark.parametrize(
    "words",
    [
        ["status", "too", "many"],
        ["log", "import", ADDRESS, "too many"],
        ["status", "--lgo"],
        ["status", "--output", ADDRESS],
        ["status", f"--lgo={ADDRESS}"],
        ["check", "--policy", "p", f"--experiment={ADDRESS}"],
    ],
    ids=range(6),
)
@pytest.mark.usefixtures("elsewhere")
def test_a_typing_mistake_shows_no_credentials(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """Messages repeat what was typed; a CI job's log is read by many."""
    assert run([*words, "--log", ADDRESS]) == 64
    captured = capfd.readouterr()
    assert SECRET not in captured.out + captured.err
