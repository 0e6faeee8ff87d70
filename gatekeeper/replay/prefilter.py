r"""Look at a line's bytes before parsing it: most lines of a long log cannot be what a query means.

Text that needs no escape stands in a JSON line as its own bytes between quotes, whatever the spacing,
unless somebody wrote it with `\u` or `\/`; a line that holds one of these is not judged here.
"""

from __future__ import annotations

from gatekeeper.errors import CanonicalError
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.reasons import Category

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatekeeper.replay.query import Filter

_DECISION = "decision"
_SHORTEST_PIECE = 4  # bytes; a shorter one is found in nearly every line


def needles_of(wanted: Filter) -> list[tuple[bytes, ...]]:
    """Bytes that every line must hold that *wanted* means, unless it is written in an unusual way.

    Of each group one must be found; no group: bytes could tell nothing.
    """
    return [group for group in _groups(wanted) if group]


def _groups(wanted: Filter) -> Iterable[tuple[bytes, ...]]:
    """Of each group one must be found; an empty group asks nothing."""
    for value in (wanted.run, wanted.experiment, wanted.stage):
        yield () if value is None else _quoted([value])
    yield _quoted(wanted.verdicts)
    kinds = wanted.kinds or (_DECISION,)
    yield () if _DECISION in kinds else _quoted(kinds)  # a line without kind is a decision too
    yield () if wanted.reason is None else _piece_of(wanted.reason)
    yield _quoted(wanted.policy_ids)
    yield () if wanted.policy is None else _quoted(_parts_of(wanted.policy)) + _beginning_of(wanted.policy)


def _parts_of(policy: str) -> list[str]:
    """What may stand as `policy_id` or `policy_version`: all of it, or what `id@version` begins with."""
    return [policy, *(policy[:at] for at, sign in enumerate(policy) if sign == "@")]


def _beginning_of(policy: str) -> tuple[bytes, ...]:
    return tuple(needle[:-1] for needle in _quoted([policy])) if policy.startswith("sha256:") else ()


def _quoted(values: Iterable[str]) -> tuple[bytes, ...]:
    try:
        return tuple(map(canonical_bytes, values))
    except CanonicalError:  # a lone surrogate from the command line: no line holds it, the plain scan says so
        return ()


def _piece_of(reason: str) -> tuple[bytes, ...]:
    """The longest part of a code or glob, up to its first set of signs, that every code that fits must hold."""
    if reason in set(Category):
        return _quoted_part(reason + ":")
    longest = max(reason.partition("[")[0].replace("?", "*").split("*"), key=len)
    return _quoted_part(longest) if len(longest) >= _SHORTEST_PIECE else ()


def _quoted_part(piece: str) -> tuple[bytes, ...]:
    return tuple(needle[1:-1] for needle in _quoted([piece]))


def may_hide(data: bytes) -> bool:
    """Whether some text may be written otherwise than canonical JSON writes it."""
    return b"\\" in data and (b"\\u" in data or b"\\/" in data)  # looking for one byte costs next to nothing
