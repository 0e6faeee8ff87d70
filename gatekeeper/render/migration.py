"""The page of `log migrate`."""

from __future__ import annotations

from gatekeeper.render.page import GOOD, Fields, Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def migration_page(done: Mapping[str, Any]) -> Page:
    """What was done to the tables, or would be."""
    pairs = [("log", [str(done["log"])]), ("steps", [str(step) for step in done["steps"]])]
    headline = f"the tables stand at step {done['reached']}" + ("" if done["steps"] else ", as before")
    return Page(headline, [Fields(pairs)], document=done, tone=GOOD)


def migration_sql(done: Mapping[str, Any]) -> str:
    """The SQL of a dry run, to be applied as it is: one transaction."""
    lines = [f"-- from step {done['found']} to {done['reached']}; nothing was changed", "BEGIN;"]
    return "\n".join([*lines, *(str(statement) for statement in done["statements"]), "COMMIT;", ""])
