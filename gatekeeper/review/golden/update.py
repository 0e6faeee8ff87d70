"""Write a new expectation into a case, with the reason, and leave the rest of the file as it is."""

from __future__ import annotations

from gatekeeper.documents.edits import edited
from gatekeeper.model.document import parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper.review.golden.judge import Difference


def updated(data: bytes, differences: Sequence[Difference], *, reason: str) -> bytes:
    """The file of a case whose expectation is what was found.

    Only the keys that differ are written, so that a case that states a part of the answer keeps stating that part.
    `reason` says why the expectation is what it is now; older ones are in the history of the file, which knows
    their dates and authors, too.

    Args:
        data: the bytes of a case that loads.
        differences: what was found otherwise than expected, as JSON.
        reason: why that is right.
    """
    changes = {f"/expect/{one.key}": one.found for one in differences}
    after = edited(data, {**changes, "/reason": reason})
    before, found = parse_json(data), parse_json(after)
    expected = {
        **before,
        "expect": {**before["expect"], **{one.key: one.found for one in differences}},
        "reason": reason,
    }
    if found != expected:  # pragma: no cover - a mistake here must not reach somebody's file
        raise AssertionError("the edited case does not say what it should")
    return after
