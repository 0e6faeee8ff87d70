"""`.ci/install-servers` with a PATH of the test's own; only apt-get, sudo and id are stand-ins."""

from __future__ import annotations

import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "install-servers"
PROGRAMS = ("prometheus", "promtool", "victoria-metrics")
INSTALL = "-o DPkg::Lock::Timeout=300 install -y --no-install-recommends"

APT = """#!/bin/sh
echo "$DEBIAN_FRONTEND $*" >> "$HERE/calls"
"$POLICY_RC_D"; echo "$?" >> "$HERE/policy"
case "$* " in *" $FAILS "*) exit 100;; esac
case "$* " in *" install "*) ;; *) exit 0;; esac
for one in $BRINGS; do printf '#!/bin/sh\\n' > "$HERE/bin/$one"; chmod 755 "$HERE/bin/$one"; done
"""


@dataclass(frozen=True)
class Machine:
    """A machine whose PATH is one directory."""

    home: Path

    @property
    def policy(self) -> Path:
        """Its policy-rc.d."""
        return self.home / "policy-rc.d"

    def has(self, name: str, text: str = "#!/bin/sh\n") -> None:
        """Put a program on PATH."""
        program = self.home / "bin" / name
        program.unlink(missing_ok=True)
        program.write_text(text)
        program.chmod(0o755)

    def lacks(self, name: str) -> None:
        """Take a program away."""
        (self.home / "bin" / name).unlink()

    def run(self, *, fails: str = "-", brings: str = " ".join(PROGRAMS)) -> subprocess.CompletedProcess[str]:
        """Run the script; apt-get fails at the command `fails` and brings these programs."""
        env = {
            "PATH": str(self.home / "bin"),
            "HERE": str(self.home),
            "POLICY_RC_D": str(self.policy),
            "FAILS": fails,
            "BRINGS": brings,
        }
        return subprocess.run([str(SCRIPT)], env=env, capture_output=True, text=True, check=False, timeout=30)

    def lines(self, name: str) -> list[str]:
        """What apt-get wrote down."""
        return (self.home / name).read_text().splitlines() if (self.home / name).exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Root's machine with apt-get and without the servers."""
    (tmp_path / "bin").mkdir()
    for name in ("bash", "sh", "env", "rm", "chmod", "true"):
        found = shutil.which(name)
        assert found is not None
        shutil.copy(found, tmp_path / "bin")  # no link: nothing here may lead out
    made = Machine(tmp_path)
    made.has("apt-get", APT)
    made.has("id", "#!/bin/sh\necho 0\n")
    return made


def test_nothing_is_installed_where_everything_is(machine: Machine) -> None:
    """No apt-get, no policy-rc.d, not a word."""
    for name in PROGRAMS:
        machine.has(name)
    ended = machine.run()
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert machine.lines("calls") == []
    assert not machine.policy.exists()


@pytest.mark.parametrize(
    ("present", "packages"),
    [
        ((), "prometheus victoria-metrics"),
        (("prometheus", "promtool"), "victoria-metrics"),
        (("victoria-metrics",), "prometheus"),
        (("prometheus", "victoria-metrics"), "prometheus"),
    ],
)
def test_what_is_missing_is_installed_and_no_service_started(
    machine: Machine, present: tuple[str, ...], packages: str
) -> None:
    """These packages and no others, while a policy forbids services; the policy goes afterwards."""
    for name in present:
        machine.has(name)
    assert machine.run().returncode == 0
    wanted = ["-o DPkg::Lock::Timeout=300 update", f"{INSTALL} {packages}"]
    assert machine.lines("calls") == [f"noninteractive {one}" for one in wanted]
    assert machine.lines("policy") == ["101", "101"]
    assert not machine.policy.exists()


def test_a_policy_that_is_there_stays(machine: Machine) -> None:
    """The administrator's own, whatever it says."""
    machine.policy.write_text("#!/bin/sh\nexit 104\n")
    machine.policy.chmod(0o755)
    assert machine.run().returncode == 0
    assert machine.lines("policy") == ["104", "104"]
    assert machine.policy.read_text() == "#!/bin/sh\nexit 104\n"


@pytest.mark.parametrize(
    ("command", "told"),
    [("update", "apt-get update failed"), ("install", "apt-get could not install prometheus victoria-metrics")],
)
def test_a_failing_apt_fails_the_tests_with_what_to_install(machine: Machine, command: str, told: str) -> None:
    """A run without the servers would have left tests out."""
    ended = machine.run(fails=command)
    assert ended.returncode == 1
    assert f"install-servers: {told}\n" in ended.stderr
    assert "    sudo apt-get install --no-install-recommends prometheus victoria-metrics\n" in ended.stderr
    assert "programs prometheus, promtool and victoria-metrics on PATH" in ended.stderr
    assert not machine.policy.exists()


def test_packages_without_the_programs_fail_the_tests(machine: Machine) -> None:
    """An installation that went well and brought something else."""
    ended = machine.run(brings="prometheus promtool")
    assert ended.returncode == 1
    assert "still missing on PATH: victoria-metrics\n" in ended.stderr


def test_without_apt_it_says_which_programs_are_needed(machine: Machine) -> None:
    """Another system: nothing is tried."""
    machine.lacks("apt-get")
    ended = machine.run()
    assert ended.returncode == 1
    assert "missing: prometheus victoria-metrics, and there is no apt-get" in ended.stderr
    assert "Elsewhere: put them there" in ended.stderr


def test_others_than_root_go_through_sudo(machine: Machine) -> None:
    """Apt-get and the policy file, both; sudo never asks for a password."""
    machine.has("id", "#!/bin/sh\necho 1000\n")
    machine.has("sudo", '#!/bin/sh\necho "$1 $2" >> "$HERE/sudo"\n[ "$1" = -n ] && shift && exec "$@"\n')
    assert machine.run().returncode == 0
    programs = [line.split()[1] for line in machine.lines("sudo")]
    assert programs == ["true", "sh", "env", "env", "rm"]
    assert all(line.startswith("-n ") for line in machine.lines("sudo"))
    assert not machine.policy.exists()


def test_without_root_and_sudo_it_says_so(machine: Machine) -> None:
    """Where sudo would ask for a password, and where there is none."""
    machine.has("id", "#!/bin/sh\necho 1000\n")
    assert "neither root nor sudo" in machine.run().stderr
    machine.has("sudo", "#!/bin/sh\nexit 1\n")
    ended = machine.run()
    assert (ended.returncode, machine.lines("calls")) == (1, [])
    assert "sudo apt-get install" in ended.stderr


def test_an_interrupted_installation_takes_its_policy_along(machine: Machine) -> None:
    """Left behind, it would keep every later package of the machine from starting its service."""
    machine.has("apt-get", f'{APT}kill -{int(signal.SIGTERM)} "$PPID"\n')
    ended = machine.run()
    assert ended.returncode == 128 + signal.SIGTERM
    assert machine.lines("policy") == ["101", "101"]
    assert not machine.policy.exists()
