"""One tree of errors: each has a stable code, an exit code (SPEC 8) and the operator's next step.

Bad evidence is never an error, it is a finding inside a decision. What stands here is a bad policy,
a bad call, a bad disk or a bug. 0, 1 and 2 belong to verdicts, so no error carries them.
"""

from __future__ import annotations


class GatekeeperError(Exception):
    """Base of everything a caller may catch.

    Attributes:
        code: stable, dotted, for machines (`policy.invalid`).
        exit_code: what the process ends with when nobody catches it.
        message: what happened and where, one or several lines.
        remedy: what to do next, one line.
    """

    code = "internal"
    exit_code = 70

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def to_dict(self) -> dict[str, object]:
        """The body of `{"error": …}` as `-o json` prints it."""
        return {
            "code": self.code,
            "message": self.message,
            "remedy": self.remedy,
            "exit_code": self.exit_code,
        }


class UsageError(GatekeeperError):
    """Wrong option, argument or value; a missing extra."""

    code = "usage"
    exit_code = 64


class InputRefusedError(GatekeeperError):
    """A document, name, token, stage or revision that cannot be accepted; nothing was changed."""

    code = "input.refused"
    exit_code = 65


class PolicyError(InputRefusedError):
    """A policy that does not load; it never yields a verdict."""

    code = "policy.invalid"


class SnapshotError(InputRefusedError):
    """A file of evidence that is not one JSON object without duplicate keys."""

    code = "snapshot.invalid"


class CollectionError(InputRefusedError):
    """A collection file that does not load, or a mistake in it that a source reported (400, unknown column)."""

    code = "collection.invalid"


class GoldenCaseError(InputRefusedError):
    """A golden case that does not load, or an event that cannot be made one."""

    code = "golden.invalid"


class DocumentError(InputRefusedError):
    """Bytes that are not strict JSON; `line` and `column` count from 1."""

    code = "document.invalid"

    def __init__(self, message: str, *, remedy: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message, remedy=remedy)
        self.line = line
        self.column = column


class CanonicalError(InputRefusedError):
    """A value that has no RFC 8785 form (lone surrogate, number outside I-JSON)."""

    code = "document.not_canonical"


class RunRefusedError(InputRefusedError):
    """A known run was turned away; `reason` is a stable word for the `refusal` event."""

    code = "run.refused"

    def __init__(self, message: str, *, remedy: str, reason: str, run_id: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.reason = reason
        self.run_id = run_id


class TokenError(RunRefusedError):
    """A resume token that is unknown, or whose hold has ended."""

    code = "token.refused"


class LogError(GatekeeperError):
    """The log or the state beside it could not be written or read."""

    code = "log.unwritable"
    exit_code = 74


def unreadable_log(path: str, error: OSError) -> LogError:
    """The error for people, of a file of a log that the system does not let us read."""
    return LogError(f"{path} cannot be read: {error.strerror or error}", remedy="check the path of the log")


class LogInDoubtError(LogError):
    """A failed append could not be cut off either: the event counts as recorded if its line is whole."""

    code = "log.in_doubt"


class LogDamagedError(InputRefusedError):
    """The log does not verify: chain, digest or decision differ, or a line is damaged."""

    code = "log.damaged"


class ProofError(InputRefusedError):
    """A note, checkpoint, proof or key that is malformed, or whose signature does not stand."""

    code = "proof.invalid"


class StateUnreadableError(LogError):
    """Not even the run's state can be read: only safety rules may be asked."""

    code = "state.unreadable"


class LedgerUnreachableError(StateUnreadableError):
    """The ledger's server or remote is not reached, refuses the login or is not set up; appending fails so, too."""

    code = "ledger.unreachable"
    exit_code = 69


class ServiceUnavailableError(GatekeeperError):
    """A service other than a metrics source cannot be reached."""

    code = "service.unavailable"
    exit_code = 69
