"""What `verify` answers: every difference with its place, what was expected and what stands there."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

CODES = (
    "from",
    "seq",
    "gap",
    "ts",
    "policy_digest",
    "event_id",
    "damaged",
    "torn",
    "canonical",
    "snapshot_digest",
    "input_digest",
    "policy",
    "context",
    "evaluation",
    "verdict",
    "reason_codes",
    "missing",
    "findings",
    "prev",
    "bytes",
)
"""What can be wrong with a line; problems of one line are told in this order."""

_RANKS = {code: rank for rank, code in enumerate(CODES)}
_OTHER_POLICY = frozenset({"policy_digest", "policy"})
_OTHER_VERDICT = frozenset({"verdict", "reason_codes", "missing", "findings"})

MAX_PROBLEMS = 100
"""How many differences a report holds; all of them are counted."""

_LONGEST_TEXT = 200


@dataclass(frozen=True)
class Place:
    """Where a line stands. `number` counts from 1 in its file, 0 means the whole log; `seq` None: it states none."""

    source: str
    number: int
    seq: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """`{"source", "line", "seq"}`."""
        return {"source": self.source, "line": self.number, "seq": self.seq}

    def __str__(self) -> str:
        if self.number == 0:
            return self.source
        return f"{self.source}:{self.number}" + (f" (seq {self.seq})" if self.seq is not None else "")


@dataclass(frozen=True)
class Difference:
    """What a line holds and what it should hold; `code` as in `Problem`."""

    code: str
    what: str
    expected: Any = None
    found: Any = None


@dataclass(frozen=True)
class Problem:
    """One difference.

    Attributes:
        place: the line that is not what it should be.
        order: position of that line in all that was read, from 1.
        code: stable, for machines; one of CODES.
        what: a sentence for people, without expected and found.
        expected, found: JSON values; None where there is nothing to show.
        is_insertion: the line after this one is chained to the line before it.
    """

    place: Place
    order: int
    code: str
    what: str
    expected: Any = None
    found: Any = None
    is_insertion: bool = False

    def to_dict(self) -> dict[str, Any]:
        """JSON form: the place, `code`, `what`, `expected`, `found`."""
        return {
            **self.place.to_dict(),
            "code": self.code,
            "what": self.what,
            "expected": self.expected,
            "found": self.found,
        }

    def __str__(self) -> str:
        if self.expected is None and self.found is None:
            return f"{self.place}: {self.what}"
        return f"{self.place}: {self.what}: expected {_short(self.expected)}, found {_short(self.found)}"


def _short(value: Any) -> str:
    from gatekeeper.errors import CanonicalError
    from gatekeeper.model.canonical import canonical_bytes

    try:
        text = canonical_bytes(value).decode("utf-8")
    except CanonicalError:
        text = repr(value)
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


@dataclass(frozen=True)
class Report:
    """The outcome of `verify`.

    Attributes:
        lines: lines looked at, blank ones left out; `events`: chained events among them.
        decisions: decisions among the events; `reevaluated`: those that were judged again. Both 0 where only
            the chain was followed.
        not_comparable: why -> how many decisions were not judged again: an `evaluator` of another version,
            or `policy differs` where the recorded policy itself is a problem. Never counted as equal.
        unchained: lines without `kind`, the first of them; `unchained_count`: all.
        torn: the unterminated last line, which was never promised; not a problem.
        first_seq, last_seq, head: of the chain that was checked; `head` is the last line's digest.
        problems: the first MAX_PROBLEMS in the order of the log; `problem_count`: all.
    """

    lines: int = 0
    events: int = 0
    decisions: int = 0
    reevaluated: int = 0
    not_comparable: Mapping[str, int] = field(default_factory=dict)
    unchained: tuple[Place, ...] = ()
    unchained_count: int = 0
    torn: Place | None = None
    first_seq: int | None = None
    last_seq: int | None = None
    head: str | None = None
    problems: tuple[Problem, ...] = ()
    problem_count: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing differs; the exit code is 0, else 65."""
        return self.problem_count == 0

    @property
    def damaged(self) -> list[dict[str, Any]]:
        """Lines that hold no event, as `replay` names them: the damaged ones among the problems, and a torn one."""
        places = [(problem.place, problem.code) for problem in self.problems if problem.code in {"damaged", "torn"}]
        if self.torn is not None:
            places.append((self.torn, "torn"))
        return [{"source": place.source, "line": place.number, "problem": code} for place, code in places]

    @property
    def first_wrong(self) -> Problem | None:
        """The first line that differs, in the order of the log."""
        return self.problems[0] if self.problems else None

    @property
    def happened(self) -> str | None:
        """What has most likely happened to the first line that differs, in a word.

        `changed`, `removed` (lines before it), `reordered`, `inserted`, `other policy`, `other verdict`;
        None where nothing differs, or nothing was checked.
        """
        first = self.first_wrong
        if first is None or first.code == "from":
            return None
        here = [problem for problem in self.problems if problem.order == first.order]
        codes = {problem.code for problem in here}
        if "gap" in codes:
            return "reordered" if any(map(self._fills_gap, self.problems)) else "removed"
        if any(problem.is_insertion for problem in here) or {"seq", "event_id"} <= codes:
            return "inserted"
        if "seq" in codes:
            return "reordered"
        if "bytes" in codes or "prev" in codes or codes.isdisjoint(_OTHER_POLICY | _OTHER_VERDICT):
            return "changed"
        return "other policy" if codes & _OTHER_POLICY else "other verdict"

    def _fills_gap(self, problem: Problem) -> bool:
        """Whether the line has one of the seqs that the first line lacked before it."""
        first = self.first_wrong
        is_one = first is not None and problem.code == "seq" and isinstance(problem.found, int)
        return is_one and first is not None and first.expected <= problem.found < first.found

    def to_dict(self) -> dict[str, Any]:
        """JSON form, `ok` and `first_wrong` included."""
        first = self.first_wrong
        return {
            "ok": self.ok,
            "lines": self.lines,
            "events": self.events,
            "decisions": self.decisions,
            "reevaluated": self.reevaluated,
            "not_comparable": dict(self.not_comparable),
            "unchained": [place.to_dict() for place in self.unchained],
            "unchained_count": self.unchained_count,
            "damaged": self.damaged,
            "torn": None if self.torn is None else self.torn.to_dict(),
            "first_seq": self.first_seq,
            "last_seq": self.last_seq,
            "head": self.head,
            "first_wrong": None if first is None else first.to_dict(),
            "happened": self.happened,
            "problems": [problem.to_dict() for problem in self.problems],
            "problem_count": self.problem_count,
        }


class Problems:
    """Collects differences: the first ones of the log are kept, all are counted."""

    def __init__(self) -> None:
        self.count = 0
        self._kept: list[Problem] = []

    def add(self, problem: Problem) -> None:
        """Note one. They come nearly in order: a line may be blamed after the next was read."""
        self.extend((problem,), count=1)

    def extend(self, problems: Iterable[Problem], *, count: int) -> None:
        """Note the first of *count* others."""
        self.count += count
        self._kept += problems
        if len(self._kept) > 2 * MAX_PROBLEMS:
            self._kept = list(self.first())

    def first(self) -> tuple[Problem, ...]:
        """The first MAX_PROBLEMS, in the order of the log."""
        return tuple(sorted(self._kept, key=_rank)[:MAX_PROBLEMS])


def _rank(problem: Problem) -> tuple[int, int]:
    return problem.order, _RANKS.get(problem.code, len(CODES))
