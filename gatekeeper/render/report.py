"""What reviews and tests found, for the formats that other programs read: `sarif` and `junit`.

A page that can be shown in one of them carries a `Report`; text and markdown have their blocks.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final


class Case:
    """One test case of JUnit's form: it passed, failed or was passed over.

    Attributes:
        classname: what is tested; cases of one class stand in one suite, and CI systems group by it.
        name: the case, unlike every other of its class.
        seconds: how long it took; None where nobody measured.
        failure: `message` (one line) and `text` (any number), None where it passed.
        skipped: why nothing follows from it; None where something does.
        file, line: where it is stated; None where unknown.
    """

    __slots__ = ("classname", "failure", "file", "line", "name", "seconds", "skipped")

    def __init__(
        self,
        classname: str,
        name: str,
        *,
        seconds: float | None = None,
        failure: Mapping[str, str] | None = None,
        skipped: str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        self.classname: Final = classname
        self.name: Final = name
        self.seconds: Final = seconds
        self.failure: Final = failure
        self.skipped: Final = skipped
        self.file: Final = file
        self.line: Final = line


class Remark:
    """One finding about a file.

    Attributes:
        file: as the caller named it.
        code: which rule of `Report.rules` says so.
        severity: `error`, `warning` or `info`.
        message: one sentence; `remedy` says what to do, empty where the message does.
        pointer: JSON Pointer of what is meant; empty for the whole file.
        line, column: where that stands, from 1, columns in code points; None where unknown.
        about: what the finding is about by name, so that it is known again when it has moved.
        suppressed: the reason why it does not count; None where it does.
    """

    __slots__ = ("about", "code", "column", "file", "line", "message", "pointer", "remedy", "severity", "suppressed")

    def __init__(
        self,
        file: str,
        code: str,
        severity: str,
        message: str,
        *,
        remedy: str = "",
        pointer: str = "",
        line: int | None = None,
        column: int | None = None,
        about: str = "",
        suppressed: str | None = None,
    ) -> None:
        self.file: Final = file
        self.code: Final = code
        self.severity: Final = severity
        self.message: Final = message
        self.remedy: Final = remedy
        self.pointer: Final = pointer
        self.line: Final = line
        self.column: Final = column
        self.about: Final = about
        self.suppressed: Final = suppressed


class Rule:
    """What a code means in general: one sentence, and what to do about it."""

    __slots__ = ("remedy", "severity", "summary")

    def __init__(self, severity: str, summary: str, remedy: str) -> None:
        self.severity: Final = severity
        self.summary: Final = summary
        self.remedy: Final = remedy


class Report:
    """All that a command found.

    Attributes:
        cases: for `junit`.
        remarks: for `sarif`, in order.
        rules: code -> what it means; a code without an entry stands for itself.
        exit_code: with which the command ends.
    """

    __slots__ = ("cases", "exit_code", "remarks", "rules")

    def __init__(
        self,
        *,
        cases: Sequence[Case] = (),
        remarks: Sequence[Remark] = (),
        rules: Mapping[str, Rule] | None = None,
        exit_code: int = 0,
    ) -> None:
        self.cases: Final = cases
        self.remarks: Final = remarks
        self.rules: Final[Mapping[str, Rule]] = {} if rules is None else rules
        self.exit_code: Final = exit_code
