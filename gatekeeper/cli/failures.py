"""Every way in which a command can fail -> one code, one sentence, one remedy, one exit code (SPEC 8)."""

from __future__ import annotations

import os

from gatekeeper.cli.outcome import VERDICTS
from gatekeeper.errors import GatekeeperError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

USAGE = 64
INTERNAL = 70
UNWRITABLE = 74
INTERRUPTED = 130
TERMINATED = 143

_LONGEST_DETAIL = 300
_HTTP_CREDENTIALS = r"\b(Bearer|Basic)\s+[^\s'\",;]+"
_ASSIGNED = (
    r"((?:authorization|cookie|passwd|password|secret|token|api[_-]?key|access[_-]?key)['\"]?\s*[=:]\s*)"
    r"(?!(?:Bearer|Basic)\b)('[^']*'|\"[^\"]*\"|[^\s&,;'\"})\]]+)"
)
_REPORT = "report this as a bug of gatekeeper, with what GATEKEEPER_DEBUG=1 prints"


class TerminatedError(BaseException):
    """SIGTERM arrived. No Exception, so that nothing on the way takes it for trouble of its own."""


class Failure:
    """What is told about an error."""

    __slots__ = ("code", "exit_code", "message", "remedy")

    def __init__(self, code: str, message: str, *, remedy: str, exit_code: int) -> None:
        self.code: Final = code
        self.message: Final = message
        self.remedy: Final = remedy
        self.exit_code: Final = exit_code

    def as_text(self) -> str:
        """For people: what happened, and the next step."""
        return f"gatekeeper: {self.message}\n  remedy: {self.remedy}\n"

    def as_json(self) -> str:
        """One document: `{"error": {"code", "message", "remedy", "exit_code"}}`."""
        import json

        body = {"code": self.code, "message": self.message, "remedy": self.remedy, "exit_code": self.exit_code}
        return json.dumps({"error": body}, ensure_ascii=False) + "\n"


def explain(error: BaseException) -> Failure:
    """The failure that *error* is. No error ends with a verdict's code, whatever it claims."""
    if isinstance(error, GatekeeperError) and error.exit_code not in VERDICTS:
        return Failure(error.code, error.message, remedy=error.remedy, exit_code=error.exit_code)
    if isinstance(error, KeyboardInterrupt):
        return Failure("interrupted", "interrupted", remedy=_AGAIN, exit_code=INTERRUPTED)
    if isinstance(error, TerminatedError):
        return Failure("terminated", "terminated by SIGTERM", remedy=_AGAIN, exit_code=TERMINATED)
    if isinstance(error, ImportError):
        missing = (error.name or "").partition(".")[0]
        if missing not in {"", "gatekeeper"}:
            return _missing_library(missing)
    if isinstance(error, FileNotFoundError) and not _has_working_directory():
        return Failure(
            "usage.no_directory",
            "the working directory does not exist any more",
            remedy="change into one that does",
            exit_code=USAGE,
        )
    return Failure("internal", f"internal error: {_describe(error)}", remedy=_REPORT, exit_code=INTERNAL)


def _has_working_directory() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


_AGAIN = "what was recorded stands; see: gatekeeper status"


def _missing_library(module: str) -> Failure:
    """A library that only some commands need is absent or broken: wrong usage, not a bug."""
    return Failure(
        "usage.missing_library",
        f"the library {module!r}, which this command needs, cannot be imported",
        remedy=f"install it: python -m pip install '{_requirement_of(module)}'",
        exit_code=USAGE,
    )


def _requirement_of(module: str) -> str:
    """The library as gatekeeper requires it, with its versions.

    Never gatekeeper's own extra: the name on PyPI is another project's.
    """
    import re
    from importlib import metadata

    wanted = module.replace("_", "-").casefold()
    try:
        requirements = metadata.requires("gatekeeper") or []
    except metadata.PackageNotFoundError:
        requirements = []
    for requirement in requirements:
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        if name and name[0].replace("_", "-").casefold() == wanted:
            return requirement.partition(";")[0].strip()
    return wanted


def _describe(error: BaseException) -> str:
    """Type and first line of the message, without secrets."""
    lines = mask(str(error)).strip().splitlines()
    detail = lines[0][:_LONGEST_DETAIL] if lines else ""
    return f"{type(error).__name__}: {detail}" if detail else type(error).__name__


def trace(error: BaseException) -> str:
    """The traceback for `GATEKEEPER_DEBUG=1`, without secrets; else nothing."""
    if os.environ.get("GATEKEEPER_DEBUG") != "1":
        return ""
    import traceback

    return mask("".join(traceback.format_exception(error)))


def mask(text: str) -> str:
    """Words that others wrote, without addresses' secrets, HTTP credentials and values of keys that name a secret."""
    import re

    from gatekeeper.model.masking import MASK, mask_text

    text = re.sub(_HTTP_CREDENTIALS, rf"\1 {MASK}", mask_text(text), flags=re.IGNORECASE)
    return re.sub(_ASSIGNED, rf"\1{MASK}", text, flags=re.IGNORECASE)
