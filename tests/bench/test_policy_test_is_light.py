"""What the benchmark promises of `policy test` without a clock: sound cases load no library that is heavy."""

from __future__ import annotations

from tests.bench.test_a_check_is_light import MODULES, ROOT, python

HEAVY = {
    "decimal", "numpy", "orjson", "pandas", "prometheus_api_client", "pydantic", "pydantic_core", "requests", "rfc8785",
    "rich", "sqlite3", "typer", "urllib3",
}  # fmt: skip


def test_the_ten_shipped_cases_run_without_anything_heavy() -> None:
    """Neither the library that validates nor what only the log needs."""
    loaded = set(python(ROOT, MODULES, "policy", "test").stderr.split())
    assert "gatekeeper.review.golden.judge" in loaded
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
    assert not [name for name in loaded if name.startswith(("gatekeeper.ledger", "gatekeeper.orchestrator"))]
