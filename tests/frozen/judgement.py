"""Is the contract that is kept still the one that the code keeps?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tests.frozen.changes import Change, Direction
from tests.frozen.kept import Contract


@dataclass(frozen=True)
class Judgement:
    """What is to be said of one subject.

    Attributes:
        subject: its name.
        breaks: what hurts somebody and has no version of its own; each is a failure.
        news: what the kept file does not say yet; taken over when a release is cut.
    """

    subject: str
    breaks: tuple[str, ...] = ()
    news: tuple[str, ...] = ()


def judge(
    kept: Contract | None,
    now: Contract | None,
    changes: Iterable[Change] = (),
    direction: Direction = Direction.BOTH,
) -> Judgement:
    """What is to be said of a subject.

    Args:
        kept: the contract of the last release; None when the subject is new.
        now: the code's contract; None when the subject is gone.
        changes: what differs between the two.
        direction: of the subject.
    """
    if now is None:
        assert kept is not None
        return Judgement(kept.subject, breaks=(f"nothing is frozen as {kept.subject!r} any more",))
    if kept is None:
        return Judgement(now.subject, news=("not kept yet",))
    if now.version < kept.version:
        return Judgement(now.subject, breaks=(f"version {now.version}, was {kept.version}",))
    found = sorted(changes)
    if now.version > kept.version:
        return Judgement(now.subject, news=(f"version {now.version}, was {kept.version}", *map(str, found)))
    return Judgement(
        now.subject,
        breaks=tuple(str(change) for change in found if change.is_break(direction)),
        news=tuple(str(change) for change in found if not change.is_break(direction)),
    )


def report(judgements: Iterable[Judgement]) -> str:
    """All breaks, one line each, with what to do; empty when there are none."""
    lines = [f"{one.subject}.json {text}" for one in judgements for text in one.breaks]
    return "\n".join([*lines, _REMEDY]) if lines else ""


_REMEDY = (
    "These break who relies on the last release (docs/contract/README.md). Take the change back, or raise the version: "
    "tests/frozen/subjects.py, for a schema the version in its $id; and say it in CHANGELOG.md."
)


def release_troubles(changelog: str, version: str, release: str, judgements: Iterable[Judgement]) -> list[str]:
    """Why what is kept is not what was released, if so.

    Args:
        changelog: the text of CHANGELOG.md.
        version: of the code.
        release: whose contract is kept.
        judgements: of all subjects.
    """
    sections = _sections(changelog)
    pending, released = sections.get("Unreleased", ""), [name for name in sections if name != "Unreleased"]
    last = released[0] if released else version
    if release != last:
        return [f"CHANGELOG.md names {last} as the last release, docs/contract is of {release}: make contract"]
    if released and not pending:
        return [f"{one.subject}.json: {text}: make contract" for one in judgements for text in one.news]
    return []


def _sections(changelog: str) -> Mapping[str, str]:
    """Heading of a release, without its date -> what stands under it, in order."""
    found: dict[str, str] = {}
    for part in changelog.split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        found[heading.split()[0].strip("[]")] = text.strip()
    return found
