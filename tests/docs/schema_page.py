"""The rules that docs/schema/README.md says a schema cannot state, as a test asks them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.docs.console import read

PAGE = "docs/schema/README.md"


@dataclass(frozen=True)
class SemanticRule:
    """One row: a problem's code, and the places where it may be one that the schema does not see."""

    code: str
    places: tuple[str, ...]

    def covers(self, code: str, pointer: str) -> bool:
        """Whether the row speaks of such a problem at such a place; no place means any."""
        return code == self.code and (not self.places or any(_matches(place, pointer) for place in self.places))


def _matches(place: str, pointer: str) -> bool:
    return re.fullmatch("[^/]*".join(map(re.escape, place.split("*"))), pointer) is not None


def semantic_rules(heading: str) -> list[SemanticRule]:
    """The table under a heading."""
    section = read(PAGE).partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line[:3] == "| `"
    ]
    assert all(len(row) == 3 and row[2] for row in rows)
    return [SemanticRule(row[0].strip("`"), tuple(re.findall(r"`([^`]+)`", row[1]))) for row in rows]


def unlisted(problems: list[tuple[str, str]], heading: str) -> list[tuple[str, str]]:
    """Those of *problems* (code, pointer) that no row of the table speaks of."""
    rules = semantic_rules(heading)
    return [problem for problem in problems if not any(rule.covers(*problem) for rule in rules)]
