"""Keys and types: what keeps a document from being a value of its dataclass, each problem with its place.

Two passes look at one document: a plain one for what JSON readers bend silently (`odd_places`), and
pydantic's (`documents.reader`). Their findings become sentences in `documents.wording`, which a sound
document does not import.
"""

from __future__ import annotations

from gatekeeper.documents.reader import type_errors
from gatekeeper.model.document import DEEPEST, is_unicode, odd_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from gatekeeper.documents.problem import Problem


def structural_problems(
    shape: type, document: Any, *, kind: str, at: tuple[str | int, ...] = (), form: str = ""
) -> list[Problem]:
    """All that is wrong with keys and types, one problem for each place; empty for a sound document.

    A place of type `Any` takes every JSON value, null too; numbers, texts and depth are held there as everywhere.

    Args:
        shape: the dataclass.
        document: a JSON value as `parse_json` reads it, or the part of a file that *shape* describes.
        kind: what such a file is called; the prefix of the codes and the word in messages.
        at: where in its file the part stands; all pointers begin there.
        form: how such a file begins, for the remedy of one that is no object.
    """
    if not isinstance(document, dict):
        from gatekeeper.documents.wording import no_object

        return [no_object(shape, document, kind=kind, at=at, form=form)]
    levels = DEEPEST - len(at)
    odd = list(odd_places(document, levels))
    errors = type_errors(shape, _readable(document, levels) if odd else document)
    if not errors and not odd:
        return []
    from gatekeeper.documents.wording import Part

    part = Part(shape, kind, at)
    found = [part.type_problem(error) for error in errors]
    unknown = [problem for problem in found if problem.at_key]
    gone = tuple(problem.pointer + "/" for problem in unknown)  # what stands below goes with its key
    refused = [part.odd_problem(*place) for place in odd if not part.takes(*place)]
    kept = [problem for problem in refused if not problem.pointer.startswith(gone)]
    return last_said([*found, *kept, *unknown])


def last_said(problems: Iterable[Problem]) -> list[Problem]:
    """One problem for each place, the last: for a file of which a part was read by a dataclass of its own."""
    return list({problem.pointer: problem for problem in problems}.values())


def soundness(problems: Iterable[Problem]) -> Callable[[str], bool]:
    """Tells whether none of *problems* stands at or below a pointer: rules about a whole object ask that first."""
    places = {problem.pointer for problem in problems}

    def sound(pointer: str) -> bool:
        return not any(place == pointer or place.startswith(pointer + "/") for place in places)

    return sound


def _readable(value: Any, levels: int) -> Any:
    """*value* as pydantic can read it, so that the rest of a file with odd values is checked, too."""
    if isinstance(value, dict):
        members = ((key, inner) for key, inner in value.items() if is_unicode(key))
        return {key: _readable(inner, levels - 1) for key, inner in members} if levels else None
    if isinstance(value, list):
        return [_readable(inner, levels - 1) for inner in value] if levels else None
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
