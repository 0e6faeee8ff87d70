"""What a check may not load before its handler is called (docs/adr/0006)."""

from __future__ import annotations

from tests.cli.support import CHECK, finish

HEAVY = {
    "argparse", "dataclasses", "difflib", "importlib.metadata", "inspect", "json", "orjson", "pathlib", "pydantic",
    "requests", "rich", "prometheus_api_client", "tomllib", "traceback", "typer", "typing",
}  # fmt: skip


def test_a_check_does_not_load_what_it_does_not_need() -> None:
    """Each of these costs more than all of the parsing; measured once, forgotten easily."""
    result = finish(*CHECK, "--evidence", "change_id=CHG-1", "-o", "json", scene="modules")
    loaded = set(result.stdout.decode().split())
    assert result.returncode == 0
    assert "gatekeeper.cli.parse" in loaded
    assert not {name for name in loaded if name.startswith(("gatekeeper.cli.remote", "gatekeeper.ledger.git"))}
    assert not HEAVY & loaded


def test_a_check_loads_the_declaration_of_its_own_group_only() -> None:
    """The options of all the other commands are not built for it."""
    result = finish(*CHECK, scene="modules")
    tables = {name for name in result.stdout.decode().split() if name.startswith("gatekeeper.cli.tables.")}
    assert tables == {"gatekeeper.cli.tables.gate", "gatekeeper.cli.tables.shared"}
