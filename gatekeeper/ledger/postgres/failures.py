"""What an error of the database means for whoever reads or appends, and what to do about it."""

from __future__ import annotations

from gatekeeper.errors import LedgerUnreachableError, LogError, StateUnreadableError
from gatekeeper.ledger.postgres.layout import WRITER
from gatekeeper.model.masking import mask_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import psycopg

    from gatekeeper.ledger.address import Address

_REMEDIES = {
    "28": "check user and password of the address, PGPASSFILE and pg_hba.conf",
    "3D": "create the database, or name another one in --log",
    "53": "let the database have more room, memory or connections, then call again",
    "57": "call again when the server is up",
}
"""Class of the SQLSTATE -> what to do."""

_REACH = (
    "check address, database, user and password, and whether the server is up; until then only safety rules are asked"
)
_LOGIN_CLASSES = frozenset({"08", "28", "3D", "57"})
_TOO_MANY = "53300"
_NO_TABLE = frozenset({"42P01", "3F000", "42703", "42883"})
_DENIED, _READ_ONLY = "42501", "25006"
_OUT_OF_TIME = frozenset({"57014", "55P03", "25P03", "57P05"})
IN_DOUBT = "the connection was lost while the commit was under way, and nobody could be asked whether it was done"


def failure(error: psycopg.Error, address: Address, *, appending: bool = False) -> LogError:
    """The error to raise for one of the database.

    Args:
        appending: something was to be written, and nothing of it was.
    """
    state = error.sqlstate or ""
    reason = reason_of(error)
    if state in _NO_TABLE:
        return not_set_up(address)
    if state == _DENIED:
        return LedgerUnreachableError(
            f"{address.shown}: {reason}",
            remedy=f"have the user made a member of {WRITER}: GRANT {WRITER} TO …",
        )
    if state == _READ_ONLY:
        return LedgerUnreachableError(
            f"{address.shown} can only be read: {reason}",
            remedy="name the primary server, or add target_session_attrs=read-write to an address of several hosts",
        )
    if state in _OUT_OF_TIME:
        return LedgerUnreachableError(
            f"{address.shown} did not answer in time: {reason}",
            remedy="call again; if it stays so, see pg_stat_activity for who keeps gatekeeper.head locked",
        )
    if not state or state[:2] in _LOGIN_CLASSES or state == _TOO_MANY:
        return unreachable(address, reason, remedy=_REMEDIES.get(state[:2], _REACH))
    told = f"{address.shown} cannot be {'written' if appending else 'read'}: {reason}"
    remedy = _REMEDIES.get(state[:2], f"see what the server's log says of SQLSTATE {state}")
    return LogError(told, remedy=remedy) if appending else StateUnreadableError(told, remedy=remedy)


def unreachable(address: Address, reason: str, *, remedy: str = _REACH) -> LedgerUnreachableError:
    """The server is not there for us."""
    return LedgerUnreachableError(f"{address.shown} cannot be reached: {reason}", remedy=remedy)


def migrate_command(address: Address) -> str:
    """What to type; an address of which a part is masked could not be pasted."""
    return f"gatekeeper log migrate --log {address.shown if address.shown == address.text else 'ADDRESS'}"


def not_set_up(address: Address) -> LedgerUnreachableError:
    """There are no tables."""
    return LedgerUnreachableError(
        f"{address.shown} holds no tables of gatekeeper",
        remedy=f"make them: {migrate_command(address)}",
    )


def in_doubt(address: Address, event_id: str) -> LedgerUnreachableError:
    """Whether an event was recorded is not known."""
    return LedgerUnreachableError(
        f"{address.shown}: {IN_DOUBT}: {event_id} is recorded, or nothing of it is",
        remedy=f"look when the server is back: gatekeeper explain {event_id}; asking again records nothing twice",
    )


def reason_of(error: BaseException) -> str:
    """The server's or library's words on one line, without addresses' secrets."""
    diagnosis = getattr(error, "diag", None)
    words = (diagnosis.message_primary if diagnosis is not None else None) or str(error)
    return mask_text(" ".join(words.split()))
