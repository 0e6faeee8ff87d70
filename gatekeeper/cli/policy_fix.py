"""`policy check --fix`: mend what can be mended, and write the file back as a whole."""

from __future__ import annotations

from gatekeeper.cli.whole_file import replace_file
from gatekeeper.documents.patches import UnchangeableError
from gatekeeper.errors import LogError
from gatekeeper.review.advice import Beside
from gatekeeper.review.fix import mended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.review.cases_beside import CasesBeside


def fix(path: str, data: bytes, cases: CasesBeside) -> tuple[bytes, list[dict[str, Any]], str]:
    """The bytes of the policy file as they are now, what was mended, and a sentence where nothing could be.

    Args:
        path: the file; it is written where something was mended.
        data: its bytes; empty where it could not be read.
        cases: the golden cases beside it.

    Raises:
        LogError: it cannot be written (74); then it is as it was.
    """
    try:
        text, mends = mended(data, path, beside=Beside(case_metrics=cases.metrics_of(path)))
    except UnchangeableError as error:
        return data, [], f"not mended: a change at {error} would lose a part of the text; mend it by hand"
    if mends:
        try:
            replace_file(path, text)
        except OSError as error:
            raise LogError(
                f"{path} cannot be mended: {error.strerror or error}", remedy="make it writable, or leave --fix out"
            ) from None
    return text, [dict(mend.to_dict()) for mend in mends], ""
