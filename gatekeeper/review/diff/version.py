"""The version that a change calls for, from the version that it changes.

A clock is not asked: the same two policies always call for the same version.
"""

from __future__ import annotations

import re
from enum import StrEnum

from gatekeeper.model.values import dataclass
from gatekeeper.review.diff.effects import Meaning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.model.policy import LoadedPolicy

_DATE = re.compile(r"(?P<stem>\d{4}-\d{2}-\d{2})(?:\.(?P<count>\d+))?", re.ASCII)
_NUMBERS = re.compile(r"(?P<stem>v?)(?P<numbers>\d+(?:\.\d+){0,2})", re.ASCII)
_COUNTED = re.compile(r"(?P<stem>.+)\.(?P<count>\d+)", re.ASCII | re.DOTALL)
_MOST_DIGITS = 15


class Standing(StrEnum):
    """How the new policy's version stands to the change."""

    SAME_CONTENT = "same_content"
    FITS = "fits"
    UNCHANGED = "unchanged"
    TOO_SMALL = "too_small"
    GOES_BACK = "goes_back"
    ANOTHER_POLICY = "another_policy"


@dataclass(frozen=True)
class VersionStep:
    """From one version to the next.

    Attributes:
        old, new: as the policies state them.
        calls_for: the least version that the change calls for; None without a change.
        standing: whether *new* is one.
    """

    old: str
    new: str
    calls_for: str | None
    standing: Standing


def version_step(old: LoadedPolicy, new: LoadedPolicy, meaning: Meaning) -> VersionStep:
    """What the change of *old* into *new*, which means *meaning*, asks of its version."""
    before, after = old.policy.policy_version, new.policy.policy_version
    if old.digest == new.digest:
        return VersionStep(before, after, None, Standing.SAME_CONTENT)
    wanted = next_version(before, meaning)
    if old.policy.policy_id != new.policy.policy_id:
        return VersionStep(before, after, wanted, Standing.ANOTHER_POLICY)
    return VersionStep(before, after, wanted, _standing(before, after, wanted))


def next_version(version: str, meaning: Meaning) -> str:
    """The least version after *version* that says what the change means.

    Three numbers count as in semantic versioning: the first for what loosens, the second for what tightens, the third
    for what changes no verdict; of two, the first for what loosens; of one, the one. A date, and any other text, gets
    a count behind a point: `2026-02-18`, `2026-02-18.1`, `2026-02-18.2`.
    """
    numbers = None if _DATE.fullmatch(version) else _NUMBERS.fullmatch(version)
    if numbers is None or any(len(part) > _MOST_DIGITS for part in numbers["numbers"].split(".")):
        counted = _COUNTED.fullmatch(version)
        if counted is not None and len(counted["count"]) <= _MOST_DIGITS:
            return f"{counted['stem']}.{int(counted['count']) + 1}"
        return f"{version}.1"
    parts = [int(part) for part in numbers["numbers"].split(".")]
    place = {Meaning.TIGHTENED: 1, Meaning.NEUTRAL: 2}.get(meaning, 0)
    place = min(place, len(parts) - 1)
    raised = [*parts[:place], parts[place] + 1, *(0 for _ in parts[place + 1 :])]
    return numbers["stem"] + ".".join(map(str, raised))


def _standing(before: str, after: str, wanted: str) -> Standing:
    if before == after:
        return Standing.UNCHANGED
    old, new, least = (_key(version) for version in (before, after, wanted))
    if old is None or new is None or least is None or len(old) != len(new):
        return Standing.FITS  # versions of which nobody can say which is later
    if new < old:
        return Standing.GOES_BACK
    return Standing.FITS if new >= least else Standing.TOO_SMALL


def _key(version: str) -> tuple[tuple[int, str], ...] | None:
    """What puts versions of one scheme in order."""
    date = _DATE.fullmatch(version)
    if date is not None:
        return _ordered([*date["stem"].split("-"), date["count"] or "0"])
    numbers = _NUMBERS.fullmatch(version)
    return None if numbers is None else _ordered(numbers["numbers"].split("."))


def _ordered(parts: list[str]) -> tuple[tuple[int, str], ...]:
    stripped = [part.lstrip("0") for part in parts]
    return tuple((len(part), part) for part in stripped)
