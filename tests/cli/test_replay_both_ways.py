"""`replay` from the index and `replay` from the lines: every byte that it prints, in every format, is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatekeeper.cli import replay as handler
from gatekeeper.cli.app import run
from tests.ledger.damage import lose
from tests.replay.builder import rollout
from tests.replay.logs import take_in

QUESTIONS = [
    [],
    ["--kind", "action", "--kind", "policy", "--kind", "decision"],
    ["--verdict", "REJECT", "--verdict", "DEGRADE"],
    ["--run", "exp-42:B:2026-02-18", "--limit", "2"],
    ["--since", "2026-02-18T01:03:00Z", "--until", "2026-02-18T01:06:00Z"],
    ["--run", "nobody"],
    ["--reason", "guardrail_violation:*", "--policy", "exp-eval-policy"],
    ["--group-by", "verdict,reason"],
    ["--group-by", "day,run", "--since", "2026-02-18T01:03:00Z"],
    ["--limit", "0"],
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The example log with a gap, a damaged line and an unfinished one, and its state."""
    path, whole = tmp_path / "decision.ndjson", rollout()
    take_in(path, [*whole[:2], b"no JSON", *whole[3:]], b'{"torn')
    return path


def printed(capfd: pytest.CaptureFixture[str], log: Path, *asked: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    code = run(["replay", "--log", str(log), *asked])
    captured = capfd.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("output", ["text", "json", "ndjson", "markdown"])
@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_both_ways_print_the_same(
    question: list[str], output: str, log: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user must not see which way was taken."""
    with monkeypatch.context() as patch:
        patch.setattr(handler, "_from_lines", lambda *_given: pytest.fail("the lines were read"))
        indexed = printed(capfd, log, *question, "-o", output)
    lose(log)
    assert printed(capfd, log, *question, "-o", output) == indexed


@pytest.mark.parametrize("output", ["text", "json", "ndjson"])
def test_a_line_changed_under_the_index_is_never_printed_as_recorded(
    output: str, log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Pages are then made from the lines; a series of recorded bytes ends with an error that names `verify`."""
    log.write_bytes(log.read_bytes().replace(b'"actor":"bob"', b'"actor":"zzq"'))
    code, out, err = printed(capfd, log, "-o", output)
    if output == "ndjson":
        assert (code, "gatekeeper verify" in err) == (65, True)
    else:
        assert code == 0
        assert ("zzq" in out) == (output == "json")
