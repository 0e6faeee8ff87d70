"""What databases raise that no test can bring about on a server: sorted by their codes, never by chance."""

from __future__ import annotations

import sqlite3

import pytest
from sqlalchemy import exc

from gatekeeper.evidence.reading import ReadingProblem
from gatekeeper.evidence.secrets import Secrets
from gatekeeper.evidence.sql.failures import Mistake, connect_problem, statement_problem

FAILED = "query_failed"
MISTAKE = "mistake"


class CodedError(Exception):
    """With a SQLSTATE where there is one."""

    def __init__(self, *args: object, sqlstate: str | None = None) -> None:
        super().__init__(*args)
        self.sqlstate = sqlstate


class OperationalError(CodedError):
    """As a driver's own class of this name (PEP 249)."""


class ProgrammingError(CodedError):
    """The other one whose name tells something."""


def secrets() -> Secrets:
    """With one password."""
    one = Secrets({})
    one.hide_login("ci", "Hush5555")
    return one


def wrapped(original: Exception, *, lost: bool = False) -> Exception:
    """As SQLAlchemy hands it on: with the statement and an address in its text."""
    return exc.DBAPIError("SELECT 'Hush5555'", {}, original, connection_invalidated=lost)


def asked(original: Exception, *, lost: bool = False) -> str:
    """The kind of a failed statement's problem, its code's detail, or that it is a mistake."""
    try:
        problem = statement_problem(wrapped(original, lost=lost), secrets(), limit_seconds=2.5)
    except Mistake:
        return MISTAKE
    return problem.code.partition(":")[2] if problem.kind is None else problem.kind.value


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("08006", "unreachable"),
        ("57P01", "unreachable"),
        ("57P03", "unreachable"),
        ("53200", "overloaded"),
        ("53300", "overloaded"),
        ("40P01", "overloaded"),
        ("40001", "overloaded"),
        ("57014", "timeout"),
        ("55P03", "timeout"),
        ("25P03", "timeout"),
        ("25P04", "timeout"),
        ("28P01", "unauthorized"),
        ("42501", "unauthorized"),
        ("3D000", "bad_endpoint"),
        ("22012", FAILED),
        ("XX000", FAILED),
        ("58030", FAILED),
        ("54001", FAILED),
        ("42703", MISTAKE),
        ("42P01", MISTAKE),
        ("25006", MISTAKE),
        ("0A000", MISTAKE),
        ("3F000", MISTAKE),
    ],
)
def test_a_sqlstate_decides(state: str, kind: str) -> None:
    """Its class, or the state itself where it differs from its class; what nobody knows holds."""
    assert asked(OperationalError("Hush5555 said", sqlstate=state)) == kind


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (1045, "unauthorized"),
        (1142, "unauthorized"),
        (1040, "overloaded"),
        (1213, "overloaded"),
        (3024, "timeout"),
        (1969, "timeout"),
        (1205, "timeout"),
        (2003, "unreachable"),
        (2013, "unreachable"),
        (1049, "bad_endpoint"),
        (1054, MISTAKE),
        (1064, MISTAKE),
        (1146, MISTAKE),
        (1792, MISTAKE),
        (1690, FAILED),
    ],
)
def test_a_number_of_mysql_decides_before_its_sqlstate(number: int, kind: str) -> None:
    """42000 is a syntax error there, and a right that somebody lacks."""
    state = "22003" if kind == FAILED else "42000"
    assert asked(OperationalError(number, "said", sqlstate=state)) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SQLITE_IOERR_READ", "unreachable"),
        ("SQLITE_CANTOPEN_ISDIR", "unreachable"),
        ("SQLITE_BUSY_RECOVERY", "timeout"),
        ("SQLITE_READONLY", MISTAKE),
        ("SQLITE_READONLY_DIRECTORY", "unreachable"),
        ("SQLITE_READONLY_ROLLBACK", "unreachable"),
        ("SQLITE_CORRUPT_VTAB", FAILED),
        ("SQLITE_FULL", FAILED),
    ],
)
def test_an_extended_code_of_sqlite_is_that_of_its_beginning(name: str, kind: str) -> None:
    """But for those of a file that cannot be read without being written: no query asked for that."""
    error = sqlite3.OperationalError("said")
    error.sqlite_errorname = name
    assert asked(error) == kind


def test_the_fields_of_a_message_are_read_where_a_driver_gives_nothing_else() -> None:
    """Pg8000 raises one class for all that the server says: a time-out would be a mistake."""
    fields = {"S": "ERROR", "C": "57014", "M": "canceling statement: Hush5555", "R": "ProcessInterrupts"}
    problem = statement_problem(wrapped(ProgrammingError(fields)), secrets(), limit_seconds=2.5)
    assert (str(problem.kind), problem.detail) == ("timeout", "no answer within 2.5 s: canceling statement: ***")
    assert asked(ProgrammingError({"C": "42P01", "M": "no such table"})) == MISTAKE


def test_without_any_code_the_connection_decides() -> None:
    """Gone, or a complaint of the driver about the text, or something else."""
    assert asked(OperationalError("server closed the connection unexpectedly"), lost=True) == "unreachable"
    assert asked(ConnectionResetError(104, "reset")) == "unreachable"
    assert asked(OperationalError("odd")) == FAILED
    assert asked(ValueError("odd")) == FAILED
    assert asked(ProgrammingError("3 parameters are required")) == MISTAKE


@pytest.mark.parametrize(
    ("original", "kind"),
    [
        (OperationalError("connection timeout expired"), "timeout"),
        (OperationalError("timed out"), "timeout"),
        (OperationalError('FATAL:  password authentication failed for user "ci"'), "unauthorized"),
        (OperationalError('FATAL:  no pg_hba.conf entry for host "10.0.0.1"'), "unauthorized"),
        (OperationalError("fe_sendauth: no password supplied"), "unauthorized"),
        (OperationalError('FATAL:  role "ci" is not permitted to log in'), "unauthorized"),
        (OperationalError('FATAL:  permission denied for database "dwh"'), "unauthorized"),
        (OperationalError("FATAL:  sorry, too many clients already"), "overloaded"),
        (OperationalError("FATAL:  remaining connection slots are reserved"), "overloaded"),
        (OperationalError('FATAL:  database "dwh" does not exist'), "bad_endpoint"),
        (OperationalError("expected authentication request from server, but received H"), "bad_endpoint"),
        (OperationalError("FATAL:  the database system is starting up"), "unreachable"),
        (OperationalError("SSL error: certificate verify failed"), "unreachable"),
        (OperationalError("server closed the connection unexpectedly"), "unreachable"),
        (OSError(113, "No route to host"), "unreachable"),
        (OperationalError(1045, "Access denied for user 'ci'"), "unauthorized"),
        (OperationalError("syntax error", sqlstate="42601"), "unreachable"),
        (ProgrammingError("bad dsn"), "bad_endpoint"),
        (TypeError("unexpected keyword argument"), "bad_endpoint"),
    ],
)
def test_a_connection_that_is_refused_is_told_by_its_text(original: Exception, kind: str) -> None:
    """PostgreSQL's drivers give no SQLSTATE for it. It is never a mistake of the file."""
    problem = connect_problem(wrapped(original), secrets())
    assert problem.code == "observation_missing:source_unavailable"
    assert problem.kind == kind


def test_the_words_are_the_drivers_own_on_one_line_and_masked() -> None:
    """SQLAlchemy's hold the statement and an address of its documentation."""
    said = OperationalError("gone:\n\tHush5555 at https://ci:x@host/a?b", sqlstate="57014")
    problem = statement_problem(wrapped(said), secrets(), limit_seconds=2.5)
    assert problem == ReadingProblem(
        "observation_missing:source_unavailable",
        "no answer within 2.5 s: gone: *** at https://***@host/a?***",
        problem.kind,
    )
    with pytest.raises(Mistake) as caught:
        statement_problem(wrapped(OperationalError("no\nHush5555", sqlstate="42601")), secrets(), limit_seconds=1)
    assert caught.value.said == "no ***"
    refused = connect_problem(wrapped(OperationalError("no\nHush5555")), secrets())
    assert refused.detail == "no ***"
    silent = connect_problem(wrapped(OperationalError()), secrets())
    assert silent.detail == "the driver gives no reason"


@pytest.mark.parametrize(
    ("original", "words"),
    [
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), "half of a surrogate pair"),
        (OSError(), "the operating system gives no reason"),
        (OSError(113, "No route to host"), "No route to host"),
    ],
)
def test_no_word_of_python_is_told(original: Exception, words: str) -> None:
    """`'utf-8' codec can't encode character` and `[Errno 113]` mean nothing to whoever runs a rollout."""
    for detail in (
        connect_problem(wrapped(original), secrets()).detail,
        statement_problem(wrapped(original), secrets(), limit_seconds=1).detail,
    ):
        assert words in detail
        assert not [word for word in ("codec", "Errno", "OSError", "Error") if word in detail]
