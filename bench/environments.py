"""The environments of the benchmark: gatekeeper as users install it, and what it is measured against.

They are apart, since gatekeeper needs typer 0.28 and its peer is an application of typer 0.29. All are plain
virtual environments of the same Python, made with the same pip, which writes the console script. What is measured
on logs is apart once more, and needs three programs of the system.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
GATE = os.path.join(HERE, ".venv", "gate")
PEERS = os.path.join(HERE, ".venv", "peers")
LOG_PEERS = os.path.join(HERE, ".venv", "logs")
LOCK = os.path.join(ROOT, "constraints", "dev.txt")
REQUIREMENTS = os.path.join(HERE, "requirements.txt")
LOG_REQUIREMENTS = os.path.join(HERE, "requirements-logs.txt")
PACKAGES = {"rg": "ripgrep", "jq": "jq", "openssl": "openssl"}
"""Programs of the system -> the packages of Debian and Ubuntu that have them."""


class NotInstalledError(Exception):
    """An environment that could not be set up."""


def program(environment: str, name: str) -> str:
    """Path of a program of an environment."""
    return os.path.join(environment, "bin", name)


def set_up_gate() -> None:
    """Install gatekeeper as it is now, not editable, with the versions that its tests run with."""
    _make(
        GATE, _digest(LOCK, os.path.join(ROOT, "pyproject.toml")), ["--constraint", LOCK, f"{ROOT}[archive,postgres]"]
    )
    # what it needs is there: install our own code anew, it may have changed
    _pip(GATE, ["--no-deps", "--force-reinstall", ROOT])
    _run([program(GATE, "python"), "-m", "compileall", "-q", _packages(GATE)])


def set_up_peers() -> None:
    """Install hello-world's typer, check-jsonschema and the OPA engine, which says Python 3.14 and runs with 3.11."""
    _make(PEERS, _digest(REQUIREMENTS), ["--ignore-requires-python", "--requirement", REQUIREMENTS])
    _run([program(PEERS, "python"), "-m", "compileall", "-q", _packages(PEERS)])


def set_up_log_peers() -> None:
    """Install DuckDB (the library and the program), orjson, ripgrep, jq and OpenSSL."""
    _make(LOG_PEERS, _digest(LOG_REQUIREMENTS), ["--requirement", LOG_REQUIREMENTS])
    _run([program(LOG_PEERS, "python"), "-m", "compileall", "-q", _packages(LOG_PEERS)])
    missing = sorted(PACKAGES[name] for name in PACKAGES if shutil.which(name) is None)
    if missing:
        as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
        apt = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=300"]
        if shutil.which("apt-get") is None:
            raise NotInstalledError(f"missing on PATH: {', '.join(missing)}, and there is no apt-get")
        _run([*apt, "update"])
        _run([*apt, "install", "-y", "--no-install-recommends", *missing])


def system_program(name: str) -> str:
    """Path of a program of the system.

    Raises:
        NotInstalledError: it is not there.
    """
    found = shutil.which(name)
    if found is None:
        raise NotInstalledError(f"{name} is not installed")
    return found


def _make(environment: str, key: str, install: list[str]) -> None:
    """Make the environment anew unless one with this *key* is there."""
    note = os.path.join(environment, "made-for")
    wanted = f"{key} {sys.version}"
    try:
        with open(note, encoding="utf-8") as file:
            if file.read() == wanted:
                return
    except FileNotFoundError:
        pass
    venv.create(environment, clear=True, with_pip=True)
    _pip(environment, ["--upgrade", "pip"])
    _pip(environment, install)
    with open(note, "w", encoding="utf-8") as file:
        file.write(wanted)


def _digest(*paths: str) -> str:
    content = b""
    for path in paths:
        with open(path, "rb") as file:
            content += file.read()
    return hashlib.sha256(content).hexdigest()


def _packages(environment: str) -> str:
    return os.path.join(environment, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")


def _pip(environment: str, arguments: list[str]) -> None:
    pip = [program(environment, "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    _run([*pip, *arguments])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotInstalledError(f"{' '.join(command)}\n{done.stderr.strip()}")
