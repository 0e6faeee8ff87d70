"""Real servers on loopback ports, filled with a scenario. Nothing is scraped, so their data stands still.

with Lab("canary_stale", end=T0) as lab:
    lab.url, lab.scenario.facts, lab.value("up", at=T0)
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Self

from tests.lab.process import Server
from tests.lab.remote_write import OPEN, push
from tests.lab.scenarios import build
from tests.lab.series import Scenario, openmetrics
from tests.lab.sockets import refused_port


class Lab(Server):
    """A Prometheus that holds one scenario: `with Lab("canary_stale", end=T0) as lab: lab.value("up", at=T0)`."""

    ready_path = "/-/ready"

    def __init__(
        self,
        data: str | Scenario = "healthy",
        end: float | None = None,
        *,
        load: str | None = None,
        partial: bool | None = None,
        rules: str = "",
        flags: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self.scenario = build(data, end) if isinstance(data, str) else data
        self.end = self.scenario.end
        self.load = load or self.scenario.load
        self.partial = self.scenario.partial if partial is None else partial
        self.rules, self.flags = rules, list(flags)

    def command(self, port: int) -> list[str]:
        """What starts Prometheus. Retention is counted in lifetimes: canned data is old."""
        return [
            "prometheus",
            f"--config.file={self.home}/prometheus.yml",
            f"--storage.tsdb.path={self.home}/tsdb",
            f"--web.listen-address=127.0.0.1:{port}",
            "--storage.tsdb.retention.time=100y",
            "--web.enable-remote-write-receiver",
            "--log.level=warn",
            *self.flags,
        ]

    def __enter__(self) -> Self:
        self.home = Path(tempfile.mkdtemp(prefix="lab-prometheus-"))
        try:
            self._configure()
            if self.load == "blocks" and self.scenario.series:
                self._create_blocks()
            self.launch()
            if self.load == "remote_write" and self.scenario.series:
                push(self.url, self.scenario.series)
        except BaseException:
            self.close()
            raise
        return self

    def _configure(self) -> None:
        (self.home / "tsdb").mkdir()
        config = "global: {scrape_interval: 15s, evaluation_interval: 1s}\n"
        if self.rules:
            (self.home / "rules.yml").write_text(self.rules, encoding="utf-8")
            config += "rule_files: [rules.yml]\n"
        if self.partial:  # a second storage that refuses: Prometheus answers 200 with `warnings`
            config += f"remote_read:\n  - {{url: 'http://127.0.0.1:{refused_port()}/read', read_recent: true}}\n"
        (self.home / "prometheus.yml").write_text(config, encoding="utf-8")

    def _create_blocks(self) -> None:
        text = self.home / "data.om"
        text.write_text(openmetrics(self.scenario.series), encoding="utf-8")
        command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "-q", str(text), str(self.home / "tsdb")]
        made = subprocess.run(command, check=False, capture_output=True, text=True)
        if made.returncode:
            raise RuntimeError("promtool: " + made.stderr + made.stdout)

    def extend(self, name: str, seconds: float) -> None:
        """Let time pass (at most 55 minutes in all): add what scenario `name` holds after the present end."""
        if self.shared:
            raise RuntimeError("other tests ask this server, too: take one of your own, lab(name, own=True)")
        later = build(name, self.end + seconds)
        fresh = [
            replace(one, samples=[(at, value) for at, value in one.samples if at > self.end]) for one in later.series
        ]
        push(self.url, [one for one in fresh if one.samples])
        self.scenario, self.end = later, later.end


class VictoriaLab(Server):
    """The same data in a single-node VictoriaMetrics, for what it says differently. A context manager."""

    ready_path = "/health"

    def __init__(
        self, data: str | Scenario = "healthy", end: float | None = None, *, flags: Iterable[str] = ()
    ) -> None:
        super().__init__()
        self.scenario = build(data, end) if isinstance(data, str) else data
        self.end, self.flags = self.scenario.end, list(flags)

    def command(self, port: int) -> list[str]:
        """What starts VictoriaMetrics, within the memory that a few hundred series need."""
        return [
            "victoria-metrics",
            f"-storageDataPath={self.home}",
            f"-httpListenAddr=127.0.0.1:{port}",
            "-retentionPeriod=100y",
            "-loggerLevel=WARN",
            "-memory.allowedBytes=256MB",
            *self.flags,
        ]

    def __enter__(self) -> Self:
        self.home = Path(tempfile.mkdtemp(prefix="lab-victoria-"))
        try:
            self.launch()
            body = openmetrics(self.scenario.series, millis=True).encode()
            OPEN(urllib.request.Request(self.url + "/api/v1/import/prometheus", body), timeout=30).close()
            OPEN(self.url + "/internal/force_flush", timeout=30).close()
        except BaseException:
            self.close()
            raise
        return self


def missing_programs() -> list[str]:
    """Programs of the lab that are not on PATH."""
    return [name for name in ("prometheus", "promtool", "victoria-metrics") if shutil.which(name) is None]
