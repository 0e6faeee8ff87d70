"""What a reviewer is told about a file, each remark with the place that it is about."""

from __future__ import annotations

from enum import StrEnum

from gatekeeper.model.document import is_yaml, locate
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gatekeeper.documents.problem import Problem


class Severity(StrEnum):
    """An error is a defect, most of which keep a file from loading; a warning is worth a second look, an info less."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True)
class Diagnostic:
    """One remark about a file.

    Attributes:
        code: stable, dotted, for machines (`policy.unknown_key`).
        severity: whether the file loads.
        pointer: JSON Pointer (RFC 6901) of the value meant; empty for the whole file.
        line, column: where that stands, from 1; None when the bytes are not at hand.
        message: what was found and what is allowed, one line.
        remedy: what to do about it, one line; empty where the message says it.
        rule: the rule of the file that it is about, as findings name it; empty where none is.
        suppressed: the reason for which the file itself says that it does not count; None where it counts.
    """

    code: str
    severity: Severity
    pointer: str
    line: int | None
    column: int | None
    message: str
    remedy: str
    rule: str = ""
    suppressed: str | None = None

    def to_dict(self) -> dict[str, object]:
        """JSON form, as `policy check -o json` prints it."""
        return {**self.__dict__, "severity": self.severity.value}

    def text(self, source: str) -> str:
        """One line for people: `policies/p.json:7:12: /guardrails/0/threshhold: unknown key; …`."""
        place = source if self.line is None else f"{source}:{self.line}:{self.column}"
        meant = self.pointer or f"(whole {self.code.partition('.')[0]})"
        remedy = f" ({self.remedy})" if self.remedy else ""
        return one_line(f"{place}: {meant}: {self.message}{remedy}")


def one_line(text: str) -> str:
    """*text* with everything escaped that could break a line, a terminal or the encoding."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def placed(
    problems: Iterable[Problem], severity: Severity | Callable[[str], Severity], data: bytes | None, source: str
) -> list[Diagnostic]:
    """Problems with their places in *data*, in the order in which they stand there.

    Args:
        problems: what is to be said.
        severity: of all of them, or by their code.
        data: the bytes of the file; None where they are not at hand.
        source: the file's name, which tells whether it is JSON or YAML.
    """
    stated = list(problems)
    places = places_in(data, source) if data is not None and stated else {}
    found = []
    for problem in stated:
        line, column = _place(problem, places)
        weight = severity if isinstance(severity, Severity) else severity(problem.code)
        said = (problem.message, problem.remedy, problem.rule)
        found.append(Diagnostic(problem.code, weight, problem.pointer, line, column, *said))
    return sorted(found, key=lambda one: (one.line or 0, one.column or 0, one.pointer, one.message))


def places_in(data: bytes, source: str) -> dict[str, tuple[int, int]]:
    """JSON Pointer -> line and column, as `model.document.locate` gives them; empty where the nesting is too deep."""
    if is_yaml(source):
        from gatekeeper.documents.yaml_reading import locate_yaml

        return locate_yaml(data)
    try:
        return locate(data)
    except RecursionError:  # nested far too deeply: the pointers say where
        return {}


def _place(problem: Problem, places: dict[str, tuple[int, int]]) -> tuple[int | None, int | None]:
    """Line and column of what the problem is about, or of the nearest part around it that exists."""
    if problem.at_key and "#" + problem.pointer in places:
        return places["#" + problem.pointer]
    return nearest(problem.pointer, places)


def nearest(pointer: str, places: Mapping[str, tuple[int, int]]) -> tuple[int | None, int | None]:
    """Line and column of what stands at a pointer, or of the nearest part around it that is written out."""
    while pointer and pointer not in places:
        pointer = pointer.rpartition("/")[0]
    return places.get(pointer, (None, None))
