"""Every reading command gives the same output on the same log, whatever ledger it is in."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gatekeeper.cli import remote, tables
from gatekeeper.cli.app import run
from gatekeeper.ledger.address import shown_log
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.orchestrator import gate
from tests.cli.elsewhere import ADDRESS, SECRET, Elsewhere
from tests.lab.git import Bare, alone
from tests.ledger.postgres_logs import Databases
from tests.orchestrator.desk import POLICY, Desk, policy
from tests.replay.builder import LogBuilder, write

LOG = "file.ndjson"
COMMANDS = [
    ["status"],
    ["status", "r"],
    ["queue"],
    ["queue", "--simulated"],
    ["explain", "r:CANARY_10"],
    ["explain", "3"],
    ["explain", "held:DRY_RUN"],
    ["explain", "nothing"],
    ["explain", "999"],
    ["replay"],
    ["replay", "--verdict", "REJECT", "--verdict", "DEGRADE"],
    ["replay", "--kind", "policy", "--kind", "action", "--kind", "decision"],
    ["replay", "--since", "2026-02-18T01:02:00Z", "--until", "2026-02-18T01:04:00Z"],
    ["replay", "--run", "r", "--limit", "2"],
    ["replay", "--group-by", "verdict,reason"],
    ["replay", "--group-by", "day,run", "--since", "2026-02-18T01:02:00Z"],
    ["verify"],
    ["verify", "--chain-only"],
    ["verify", "--from", "4"],
    ["log", "head"],
    ["log", "metrics"],
    ["log", "rebuild"],
    ["policy", "backtest", "policy.json"],
    ["policy", "suggest-cases", "--at-least", "1"],
]
FORMATS = ["text", "json", "ndjson", "markdown"]


@dataclass
class Site:
    """The same log in a file and in another ledger."""

    kind: str
    address: str

    @property
    def shown(self) -> str:
        """What people see of the address."""
        return shown_log(self.address)

    def named(self, text: str) -> str:
        """The text with the file's name in the place of the address, quoted for a shell or not."""
        return text.replace(shlex.quote(self.shown), LOG).replace(self.shown, LOG)


def make_log(path: Path) -> None:
    """A policy and its edit, a run at CANARY_10, one that was rejected, a refusal, a stop, and a hold that is open."""
    desk = Desk(path)
    for stage in ("DRY_RUN", "SHADOW", "CANARY_10"):
        desk.walk(stage)
        desk.clock.advance(60)
    desk.refused("ROLLOUT_100")
    desk.check(run_id="bad", variant_id="C", metrics={"errors": 0.19})
    desk.clock.advance(60)
    desk.policy = policy(policy_version="2", guardrails=[{"metric": "errors", "op": "<=", "threshold": 0.02}])
    desk.check(run_id="ended", variant_id="D", metrics={"errors": 0.015})
    gate.stop("ended", reason="no longer wanted", actor="sre", ledger=desk.ledger)
    desk.clock.advance(60)
    desk.hold("DRY_RUN", run_id="held", variant_id="E")
    assert isinstance(desk.ledger, NdjsonLedger)
    desk.ledger.close()


@pytest.fixture(scope="module", params=["double", "git", pytest.param("postgres", marks=pytest.mark.server)])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A working directory; the log in its file is what the other ledger imports."""
    place = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("COLUMNS", "2000")  # an address is longer than a file's name
        Path("policy.json").write_bytes(canonical_bytes({**POLICY, "policy_version": "3"}))
        make_log(place / LOG)
        address = ADDRESS
        if request.param == "git":
            alone(patch, place)
            address = Bare(place).log
        elif request.param == "postgres":
            databases: Databases = request.getfixturevalue("databases")
            patch.setenv("XDG_STATE_HOME", str(place / "state"))
            address = databases.fresh(place / "state").url.replace("postgres@/", f"postgres:{SECRET}@/")
        else:
            patch.setattr(remote, "connect", Elsewhere(place / "elsewhere").connect)
        assert run(["log", "import", LOG, "--log", address]) == 0
        for log in (LOG, address):
            assert run(["status", "--log", log]) == 0  # which tells once that its state was made
        yield Site(request.param, address)


def printed(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    code = run(list(words))
    captured = capfd.readouterr()
    return code, captured.out, captured.err


def formats_of(words: list[str]) -> list[str]:
    """Those that the command has."""
    command = tables.find(words)
    assert command is not None
    choices = next((option.choices for option in command.options if option.name == "output"), ())
    return [one for one in FORMATS if one in choices] or [""]


@pytest.mark.parametrize(
    ("words", "output"),
    [(words, output) for words in COMMANDS for output in formats_of(words)],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_a_command_says_the_same_of_a_log_wherever_it_is(
    words: list[str], output: str, site: Site, capfd: pytest.CaptureFixture[str]
) -> None:
    """Only the log's name is another, and it is masked."""
    asked = [*words, *(["-o", output] if output else [])]
    code, out, err = printed(capfd, *asked, "--log", site.address)
    assert SECRET not in out + err
    ours = printed(capfd, *asked, "--log", LOG)
    assert (code, site.named(out), site.named(err)) == ours


def test_stat_counts_the_same(site: Site, capfd: pytest.CaptureFixture[str]) -> None:
    """Events, times, verdicts, kinds, chain and size; a ledger elsewhere has neither files nor a state beside it."""
    ours, theirs = (
        json.loads(printed(capfd, "log", "stat", "-o", "json", "--log", one)[1]) for one in (LOG, site.address)
    )
    same = {"size_bytes", "events", "first_ts", "last_ts", "verdicts", "kinds", "chain"}
    assert {key: theirs[key] for key in same} == {key: ours[key] for key in same}
    assert (theirs["log"], theirs["files"]) == (site.shown, [])
    text = printed(capfd, "log", "stat", "--log", site.address)[1]
    assert text.splitlines()[0] == f"{ours['events']} events"
    assert "file" not in text
    assert "projection" not in text


def test_checkpoint_and_proof_are_the_same(site: Site, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A note that was signed for the file holds for the ledger that the log was moved to, and its proofs, too."""
    key, notes = str(tmp_path / "key"), [tmp_path / "note", tmp_path / "note2"]
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    sign, named = ["log", "checkpoint", "--key", key], ["--origin", "gate"]
    proofs = [tmp_path / "proof", tmp_path / "proof2"]
    for log, note, proof in zip((LOG, site.address), notes, proofs, strict=True):
        assert run([*sign, *named, "--log", log, "--out", str(note)]) == 0
        prove = ["log", "prove", "3", "--checkpoint", str(notes[0]), "--with-line", "--out", str(proof), "--log", log]
        assert run(prove) == 0
    assert notes[0].read_bytes() == notes[1].read_bytes()
    assert proofs[0].read_bytes() == proofs[1].read_bytes()
    verify = ["verify", "--checkpoint", str(notes[0]), "--public-key", f"{key}.pub", *named, "--log", site.address]
    assert run(verify) == 0
    capfd.readouterr()
    assert printed(capfd, *sign, "--log", site.address)[0] == 64
    code, _, err = printed(capfd, "log", "prove", "3", "--log", site.address)
    assert (code, "--checkpoint" in err) == (64, True)


def test_an_import_keeps_bytes_and_chain_between_all_ledgers(
    site: Site, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """File, elsewhere, file, and all of it once more: nothing is new then."""
    back = tmp_path / "back.ndjson"
    assert run(["log", "import", site.address, "--log", str(back)]) == 0
    assert back.read_bytes() == Path(LOG).read_bytes()
    capfd.readouterr()
    code, out, _ = printed(capfd, "log", "import", str(back), "--log", site.address, "-o", "json")
    assert (code, json.loads(out)["events"], json.loads(out)["known"]) == (
        0,
        0,
        len(Path(LOG).read_bytes().splitlines()),
    )


def test_a_fork_is_refused_and_named_by_every_ledger(
    site: Site, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """65 with the first seq that differs, and not a line more than before."""
    log = LogBuilder()
    log.lines = Path(LOG).read_bytes().splitlines()[:4]
    log.policy()
    fork = write(tmp_path / "fork.ndjson", log.lines)
    code, _, err = printed(capfd, "log", "import", str(fork), "--log", site.address)
    assert (code, "differ from seq 5 on" in err, site.shown in err) == (65, True, True)
    ours = printed(capfd, "log", "head", "-o", "json", "--log", LOG)[1]
    assert site.named(printed(capfd, "log", "head", "-o", "json", "--log", site.address)[1]) == ours
