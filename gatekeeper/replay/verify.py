"""`verify`: is the chain intact, and does every decision re-evaluate to what was recorded (SPEC 7).

A long log is cut into ranges that are checked at the same time, in processes of their own. A range takes for
granted that the lines before it are as its first line says. Where that turns out to be so, what was found in it
is what one reader would have found who read all in order; where not, the range is read again, in order. So the
report does not depend on the number of processes.
"""

from __future__ import annotations

from gatekeeper.model.line import bulk_decoder, is_blank, is_chained
from gatekeeper.replay.blocks import blocks_of, ranges_of, weight_of
from gatekeeper.replay.checking import Checker, repeated_id
from gatekeeper.replay.ids import ExactIds, HashedIds, HashPile, hash_of
from gatekeeper.replay.lines import TORN, seq_of, text_of
from gatekeeper.replay.parallel import Workers, cores, may_fork
from gatekeeper.replay.parts import Found, Helper, Map, Wanted
from gatekeeper.replay.report import Place, Problem
from gatekeeper.replay.skim import skim
from gatekeeper.replay.survey import survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gatekeeper.model.exchange import LogLine
    from gatekeeper.replay.blocks import Range, Source
    from gatekeeper.replay.report import Report


def verify(lines: Iterable[LogLine], from_seq: int = 1) -> Report:
    """Check lines from *from_seq* on; what stands before gives its policies and nothing else.

    A decision is judged again with the policy that a `policy` event before it recorded, its recorded
    snapshot and context. Decisions of another evaluator version are counted as not comparable; events of
    kind `action` are not judged. Only one thing cannot be seen: a log cut behind a whole line. Compare
    `last_seq` and `head` with those noted elsewhere.

    Args:
        lines: in chain order, over one or several files; read once, not kept.
        from_seq: the first `seq` that is checked.

    Returns:
        The report. It never raises on anything that a log can hold.
    """
    checker = Checker(from_seq, ExactIds())
    for line in lines:
        if is_blank(line.data):
            continue
        if line.problem == TORN:
            checker.take_torn(line.source, line.number)
        else:
            checker.take(line.source, line.number, line.data, line.event)
    return checker.report()


def verify_files(
    sources: Sequence[Source], wanted: Wanted, progress: Callable[[int, int], None] | None = None
) -> Report:
    """The same for files, on all cores.

    Args:
        sources: in chain order.
        progress: told after each range how many bytes were checked, of how many.

    Raises:
        LogError: a file cannot be read, or a process that read a part of it has died.
    """
    parts = ranges_of(sources, wanted.range_bytes)
    run = _Run(parts, wanted, progress)
    jobs = min(cores() if wanted.jobs is None else wanted.jobs, len(parts))
    if jobs > 1 and may_fork():
        run.together(jobs)
    else:
        run.alone(0)
    if len(sources) > 1 and not wanted.chain_only:
        from gatekeeper.replay.heads import head_problems

        for problem in head_problems(sources, from_seq=wanted.from_seq, jobs=wanted.jobs):
            run.add(problem)
    return run.report()


class _Run:
    def __init__(self, parts: Sequence[Range], wanted: Wanted, progress: Callable[[int, int], None] | None) -> None:
        self._parts = parts
        self._wanted = wanted
        self._progress = progress
        self._done, self._all = 0, sum(map(weight_of, parts))
        self._ids = None if wanted.chain_only else HashedIds()
        self._checker = wanted.checker(self._ids)
        self._pile = HashPile()

    def add(self, problem: Problem) -> None:
        """One that was found apart from the ranges."""
        self._checker.tally.problems.add(problem)

    def report(self) -> Report:
        """The outcome, after the ids were compared."""
        try:
            repeated = self._pile.repeated()
            if repeated:
                self._name(repeated)
        finally:
            self._pile.close()
        return self._checker.report()

    def alone(self, first: int, number: int | None = None) -> None:
        """Check all ranges from *first* on, in order."""
        for index in range(first, len(self._parts)):
            part = self._parts[index]
            if number is None or part.start == part.source.begins:
                number = part.source.lines_before
            number = self._take(part, number)
            self._tell(index)

    def _take(self, part: Range, lines_before: int) -> int:
        after = skim(self._checker, part, lines_before) if self._wanted.chain_only else None
        if after is None:
            after = self._checker.take_range(part, lines_before)
        if self._ids is not None:
            self._pile.add_all(self._ids.hashes)
            del self._ids.hashes[:]
        return after

    def together(self, jobs: int) -> None:
        """Check the ranges at the same time, and put what was found together in order."""
        count, number = len(self._parts), 0
        where = Map.unknown(count) if self._wanted.chain_only else self._surveyed(jobs)
        with Workers(jobs, range(count), Helper(self._parts, where, self._wanted).check) as workers:
            for index, answers in enumerate(workers.answers()):
                (found,) = answers
                part, policies = self._parts[index], where.surveys[index].policies
                if part.start == part.source.begins:
                    number = part.source.lines_before
                if found is not None and self._fits(found, index):
                    self._adopt(found, number)
                    number += found.lines
                    for event in policies:
                        self._checker.shelf.add(event)
                else:
                    before = self._checker.policies
                    number = self._take(part, number)
                    if not self._wanted.chain_only and self._checker.policies - before != len(policies):
                        break  # an event written in an unusual way: those at work do not know its policy
                self._tell(index)
            else:
                return
        self.alone(index + 1, number)

    def _surveyed(self, jobs: int) -> Map:
        with Workers(jobs, self._parts, lambda part: [survey(part)]) as workers:
            return Map.of(self._parts, (found for (found,) in workers.answers()))

    def _fits(self, found: Found, index: int) -> bool:
        if not found.is_as_surveyed:
            return False
        return index == 0 if found.entry is None else self._checker.chain.meets(found.entry)

    def _adopt(self, found: Found, lines_before: int) -> None:
        if self._wanted.chain_only:
            found.place(lines_before, self._checker.tally.order)
        self._checker.tally.adopt(found.tally)
        self._checker.chain.adopt(found.state)
        self._pile.add_all(memoryview(found.hashes).cast("Q"))

    def _name(self, repeated: frozenset[int]) -> None:
        """Read the log once more for the events whose ids stand there twice."""
        begun_at, seen, order, decode = self._checker.chain.state.begun_at, set[str](), 0, bulk_decoder()
        for path, number, line, is_terminated in self._lines():
            order += 1
            event = decode(line) if is_terminated else None
            event_id = text_of(event, "event_id") if event is not None and is_chained(event) else None
            if event is None or event_id is None or hash_of(event_id) not in repeated:
                continue
            if event_id in seen and begun_at is not None and order >= begun_at:
                difference = repeated_id(event_id)
                place = Place(path, number, seq_of(event))
                problem = Problem(place, order, difference.code, difference.what, None, difference.found)
                self._checker.tally.problems.add(problem)
            seen.add(event_id)

    def _lines(self) -> Iterator[tuple[str, int, bytes, bool]]:
        number = 0
        for part in self._parts:
            if part.start == part.source.begins:
                number = part.source.lines_before
            for block in blocks_of(part):
                for line in block.lines():
                    number += 1
                    if not is_blank(line):
                        yield part.source.path, number, line, block.is_terminated

    def _tell(self, index: int) -> None:
        self._done += weight_of(self._parts[index])
        if self._progress is not None:
            self._progress(self._done, self._all)
