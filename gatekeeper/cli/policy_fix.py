"""`policy check --fix`: mend what can be mended, and write the file back as a whole."""

from __future__ import annotations

import os
from contextlib import suppress

from gatekeeper.errors import LogError
from gatekeeper.review.advice import Beside
from gatekeeper.review.fix import mended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.review.cases_beside import CasesBeside

_YAML = (".yaml", ".yml")


def fix(path: str, data: bytes, cases: CasesBeside) -> tuple[bytes, list[dict[str, Any]], str]:
    """The bytes of the policy file as they are now, what was mended, and a sentence where nothing could be.

    Args:
        path: the file; it is written where something was mended.
        data: its bytes; empty where it could not be read.
        cases: the golden cases beside it.

    Raises:
        LogError: it cannot be written (74); then it is as it was.
    """
    if path.endswith(_YAML):
        return data, [], "not mended: --fix would lose the layout of a YAML file; mend it by hand"
    text, mends = mended(data, path, beside=Beside(case_metrics=cases.metrics_of(path)))
    if mends:
        _replace(path, text)
    return text, [dict(mend.to_dict()) for mend in mends], ""


def _replace(path: str, data: bytes) -> None:
    """Whoever reads the file finds the old text or the new one; a link stays one, and the mode stays."""
    target = os.path.realpath(path)
    temporary = f"{target}.{os.getpid()}"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            os.fchmod(file.fileno(), os.stat(target).st_mode & 0o7777)
        os.replace(temporary, target)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise LogError(
            f"{path} cannot be mended: {error.strerror or error}", remedy="make it writable, or leave --fix out"
        ) from None
