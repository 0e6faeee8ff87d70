"""Write a new expectation into a case, with the reason, and leave the rest of the file as it is."""

from __future__ import annotations

from gatekeeper.documents.patches import patches_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper.review.golden.judge import Difference


def updated(data: bytes, differences: Sequence[Difference], *, reason: str, source: str) -> bytes:
    """The file of a case whose expectation is what was found.

    Only the keys that differ are written, so that a case that states a part of the answer keeps stating that part.
    `reason` says why the expectation is what it is now; older ones are in the history of the file, which knows
    their dates and authors, too.

    Args:
        data: the bytes of a case that loads.
        differences: what was found otherwise than expected, as JSON.
        reason: why that is right.
        source: the name of the file, which tells its language.

    Raises:
        UnchangeableError: a YAML file, of which the change would lose something.
    """
    put = patches_of(source).put
    for one in differences:
        data = put(data, f"/expect/{one.key}", one.found)
    return put(data, "/reason", reason)
