"""The contract of the code against the one that is kept, subject by subject, and the cutting of a new one."""

from __future__ import annotations

from tests.frozen import kept
from tests.frozen.judgement import Judgement, judge, report
from tests.frozen.kept import Contract
from tests.frozen.subjects import SUBJECTS, Subject


def judgements(folder: str = kept.FOLDER) -> list[Judgement]:
    """Of every subject that is frozen or was."""
    before = kept.read(folder)
    return [judgement_of(before.get(name), SUBJECTS.get(name)) for name in sorted({*before, *SUBJECTS})]


def judgement_of(old: Contract | None, subject: Subject | None) -> Judgement:
    """Of one subject, as the code has it now."""
    if subject is None:
        return judge(old, None)
    now = subject.now()
    changes = subject.compare(old.content, now.content) if old else ()
    return judge(old, now, changes, subject.direction)


def cut(release: str, folder: str = kept.FOLDER) -> tuple[int, str]:
    """Keep the contract of the code as that of *release*, unless it breaks something.

    Returns:
        0, or 1 and nothing is written; what has changed, or what is broken, one line each.
    """
    found = judgements(folder)
    if breaks := report(found):
        return 1, breaks
    changed = kept.write({name: subject.now() for name, subject in SUBJECTS.items()}, release, folder)
    news = [f"{one.subject}.json {text}" for one in found for text in one.news]
    files = ", ".join(changed) or "nothing to rewrite"
    return 0, "\n".join([*news, f"docs/contract is of {release}: {files}"])
