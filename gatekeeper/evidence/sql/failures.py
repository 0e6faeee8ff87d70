"""What databases and their drivers raise, as a problem of the evidence or a mistake in the reviewed file.

PostgreSQL tells by SQLSTATE (its manual, appendix A), but not for a connection that it refuses: there only the text
tells. SQLite tells by its result codes, but has one code for every error in a text. MySQL tells by error number.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING

from gatekeeper.evidence.reading import ReadingProblem, Unavailable, unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.evidence.secrets import Secrets


class Mistake(Exception):  # noqa: N818 - it says whose fault it is
    """The text of a query is wrong, which no waiting mends. `said` is a masked line about it."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said


class _Fault(Enum):
    MISTAKE = auto()
    FAILED = auto()  # the query, on the data that it met


_Cause = _Fault | Unavailable

_BY_STATE: Mapping[str, _Cause] = {
    "08": Unavailable.UNREACHABLE,
    "0A": _Fault.MISTAKE,  # what the server does not do, such as another database's tables
    "22": _Fault.FAILED,  # division by zero, text that is no number
    "25": _Fault.MISTAKE,  # 25006: a write in our read-only transaction; 25001: what no transaction may hold
    "25P03": Unavailable.TIMEOUT,
    "25P04": Unavailable.TIMEOUT,
    "28": Unavailable.UNAUTHORIZED,
    "3D": Unavailable.BAD_ENDPOINT,
    "3F": _Fault.MISTAKE,
    "40": Unavailable.OVERLOADED,  # deadlock, a replica that must catch up
    "42": _Fault.MISTAKE,
    "42501": Unavailable.UNAUTHORIZED,
    "53": Unavailable.OVERLOADED,
    "55P03": Unavailable.TIMEOUT,
    "57014": Unavailable.TIMEOUT,
    "57P": Unavailable.UNREACHABLE,
}
"""Beginning of a SQLSTATE -> what it means; the longest that fits counts."""

_BY_SQLITE_CODE: Mapping[str, _Cause] = {
    "SQLITE_AUTH": Unavailable.UNAUTHORIZED,
    "SQLITE_BUSY": Unavailable.TIMEOUT,  # a lock that was not released within the limit
    "SQLITE_CANTOPEN": Unavailable.UNREACHABLE,
    "SQLITE_INTERRUPT": Unavailable.TIMEOUT,
    "SQLITE_IOERR": Unavailable.UNREACHABLE,
    "SQLITE_LOCKED": Unavailable.TIMEOUT,
    "SQLITE_NOTADB": Unavailable.BAD_ENDPOINT,
    "SQLITE_PERM": Unavailable.UNAUTHORIZED,
    "SQLITE_READONLY": _Fault.MISTAKE,  # in its extended codes: a journal that only a writer could roll back
}

_BY_MYSQL_NUMBER: Mapping[int, _Cause] = {
    **dict.fromkeys((1044, 1045, 1130, 1142, 1143, 1227, 1370, 1698, 3118), Unavailable.UNAUTHORIZED),
    **dict.fromkeys((1040, 1203, 1226, 1213), Unavailable.OVERLOADED),
    **dict.fromkeys((1205, 1317, 1907, 1969, 3024), Unavailable.TIMEOUT),
    **dict.fromkeys((1053, 1077, 1079, 1152, 2002, 2003, 2005, 2006, 2013), Unavailable.UNREACHABLE),
    1049: Unavailable.BAD_ENDPOINT,
    **dict.fromkeys((1046, 1052, 1054, 1064, 1146, 1149, 1222, 1305, 1582, 1792), _Fault.MISTAKE),
}

_SQLITE_MISTAKE = re.compile(
    r"^no such |syntax error$|^incomplete input|^unrecognized token|^ambiguous column|^wrong number of arguments"
    r"|^misuse of |^SELECTs to the left and right|ORDER BY term|^too many attached databases"
)

_BY_TEXT: tuple[tuple[str, Unavailable], ...] = (
    (r"time(d)?[ -]?out", Unavailable.TIMEOUT),
    (r"authentication failed|no pg_hba\.conf entry|no password supplied|access denied", Unavailable.UNAUTHORIZED),
    (r"role .* does not exist|not permitted to log in|permission denied for", Unavailable.UNAUTHORIZED),
    (r"too many (clients|connections)|remaining connection slots", Unavailable.OVERLOADED),
    (r"database .* does not exist|invalid response|expected authentication request", Unavailable.BAD_ENDPOINT),
)
"""What servers and drivers say (in English) when there is no connection yet; else: unreachable."""


def connect_problem(error: Exception, secrets: Secrets) -> ReadingProblem:
    """Why there is no connection, or none that could be made safe. Never a mistake of the file."""
    original = _original(error)
    words, cause = _words(original), _cause(original)
    if not isinstance(cause, Unavailable):
        by_text = (kind for pattern, kind in _BY_TEXT if re.search(pattern, words, re.IGNORECASE))
        cause = next(by_text, Unavailable.UNREACHABLE if _is_operational(original) else Unavailable.BAD_ENDPOINT)
    return unavailable(cause, secrets.mask(words))


def statement_problem(error: Exception, secrets: Secrets, *, limit_seconds: float) -> ReadingProblem:
    """Why a statement yielded nothing.

    Raises:
        Mistake: its text is wrong.
    """
    original = _original(error)
    said = secrets.mask(_words(original))
    cause = _cause(original)
    if cause is None:
        cause = Unavailable.UNREACHABLE if _is_connection_gone(error, original) else _Fault.FAILED
    if cause is _Fault.MISTAKE:
        raise Mistake(said)
    if isinstance(cause, Unavailable):
        if cause is not Unavailable.TIMEOUT:
            return unavailable(cause, said)
        limit = f"no answer within {limit_seconds:g} s"
        return unavailable(cause, limit if said == "interrupted" else f"{limit}: {said}")  # SQLite's word for our limit
    return ReadingProblem("observation_invalid:query_failed", said)


def _original(error: Exception) -> BaseException:
    """The driver's own error; SQLAlchemy's text around it holds the statement and an address."""
    original = getattr(error, "orig", None)
    return original if isinstance(original, BaseException) else error


def _words(error: BaseException) -> str:
    if isinstance(error, UnicodeError):
        return "the text holds half of a surrogate pair, or what the database's encoding has no character for"
    if isinstance(error, OSError):
        return error.strerror or str(error).strip() or "the operating system gives no reason"
    told = _fields(error).get("M") or str(error)
    return str(told).strip() or "the driver gives no reason"


def _fields(error: BaseException) -> Mapping[str, object]:
    """What pg8000 raises: the fields of the server's message, by their letters."""
    first = error.args[0] if error.args else None
    return first if isinstance(first, dict) else {}


def _cause(error: BaseException) -> _Cause | None:
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or _fields(error).get("C")
    number = error.args[0] if error.args else None
    if isinstance(number, int) and number in _BY_MYSQL_NUMBER:  # before its SQLSTATE: 42000 is many things there
        return _BY_MYSQL_NUMBER[number]
    if isinstance(state, str):
        fitting = [known for known in _BY_STATE if state.startswith(known)]
        return _BY_STATE[max(fitting, key=len)] if fitting else _Fault.FAILED
    code = getattr(error, "sqlite_errorname", None)
    if isinstance(code, str):
        if code == "SQLITE_ERROR":
            return _Fault.MISTAKE if _SQLITE_MISTAKE.search(str(error)) else _Fault.FAILED
        return _sqlite_cause(code)
    # a driver's own complaint about the text: parameters that nobody gave, two statements, a null character
    return _Fault.MISTAKE if _kinds(error) & {"ProgrammingError", "Warning"} else None


def _sqlite_cause(code: str) -> _Cause:
    """By SQLite's name of an extended result code, such as SQLITE_IOERR_READ."""
    cause = _BY_SQLITE_CODE.get("_".join(code.split("_")[:2]), _Fault.FAILED)
    return Unavailable.UNREACHABLE if cause is _Fault.MISTAKE and code not in _BY_SQLITE_CODE else cause


def _is_connection_gone(error: Exception, original: BaseException) -> bool:
    return bool(getattr(error, "connection_invalidated", False)) or isinstance(original, OSError)


def _is_operational(error: BaseException) -> bool:
    return bool(_kinds(error) & {"OperationalError", "InterfaceError"}) or isinstance(error, OSError)


def _kinds(error: BaseException) -> set[str]:
    """Names of its classes: those of PEP 249 are the same in every driver."""
    return {kind.__name__ for kind in type(error).__mro__}
