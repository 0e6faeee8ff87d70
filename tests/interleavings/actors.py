"""Several callers at one run: threads that meet at a barrier, and something that happens just before an append."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier, Event
from typing import Any

import pytest

from gatekeeper.errors import GatekeeperError
from gatekeeper.model.exchange import Expectation, Receipt
from gatekeeper.model.policy import LoadedPolicy
from gatekeeper.orchestrator import gate
from gatekeeper.orchestrator.question import Answer, Question
from gatekeeper.ports import Ledger, LedgerView
from tests.orchestrator.desk import Desk


class OnAnother:
    """A ledger that hands every call on to another one."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def view(self) -> LedgerView:
        """As the ledger's."""
        return self._ledger.view()

    def append(
        self,
        drafts: Sequence[Any],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy] = (),
        actor: str,
    ) -> Receipt:
        """As the ledger's."""
        return self._ledger.append(drafts, expect=expect, policies=policies, actor=actor)

    def leave_marker(self, drafts: Sequence[Mapping[str, Any]]) -> str | None:
        """As the ledger's."""
        return self._ledger.leave_marker(drafts)

    def read(self, *, start: int = 1) -> Iterator[tuple[Mapping[str, Any], bytes]]:
        """As the ledger's."""
        return self._ledger.read(start=start)


class PausingLedger(OnAnother):
    """Calls *before_append* once, between its caller's first read and its first append."""

    def __init__(self, ledger: Ledger, *, before_append: Callable[[], object]) -> None:
        super().__init__(ledger)
        self.before_append: Callable[[], object] | None = before_append

    def append(self, drafts: Sequence[Any], **given: Any) -> Receipt:
        """Wait for the others, or let them act, then append."""
        hook, self.before_append = self.before_append, None
        if hook is not None:
            hook()
        return super().append(drafts, **given)


def at_once(desk: Desk, questions: Sequence[Question]) -> list[Answer | GatekeeperError]:
    """Ask all questions at once: every caller has read and decided before any of them appends."""
    barrier = Barrier(len(questions), timeout=60)

    def actor(question: Question) -> Answer | GatekeeperError:
        ledger = PausingLedger(desk.open(), before_append=barrier.wait)
        try:
            return gate.ask(question, ledger=ledger, clock=desk.clock)
        except GatekeeperError as error:
            return error

    with ThreadPoolExecutor(len(questions)) as pool:
        return list(pool.map(actor, questions))


def one_after_the_other(desk: Desk, questions: Sequence[Question]) -> list[Answer | GatekeeperError]:
    """Every caller has read and decided before any appends; then they go on in the order given, one at a time."""
    barrier = Barrier(len(questions), timeout=60)
    turns = [Event() for _ in range(len(questions) + 1)]
    turns[0].set()

    def actor(number: int) -> Answer | GatekeeperError:
        def hook() -> None:
            barrier.wait()
            assert turns[number].wait(60)

        ledger = PausingLedger(desk.open(), before_append=hook)
        try:
            return gate.ask(questions[number], ledger=ledger, clock=desk.clock)
        except GatekeeperError as error:
            return error
        finally:
            turns[number + 1].set()

    with ThreadPoolExecutor(len(questions)) as pool:
        return list(pool.map(actor, range(len(questions))))


@dataclass
class Meanwhile:
    """One caller that is overtaken: *act* happens after it has read and decided, before it appends."""

    desk: Desk
    act: Callable[[], object]

    def ask(self, question: Question) -> Answer:
        """Ask, and be overtaken once."""
        ledger = PausingLedger(self.desk.open(), before_append=self.act)
        answer = gate.ask(question, ledger=ledger, clock=self.desk.clock)
        assert ledger.before_append is None
        return answer

    def refused(self, question: Question) -> GatekeeperError:
        """Ask, be overtaken, and be refused for it."""
        with pytest.raises(GatekeeperError) as caught:
            self.ask(question)
        assert caught.value.exit_code == 65
        return caught.value


def outcomes(answers: Sequence[Answer | GatekeeperError]) -> list[str]:
    """Verdict of each answer, `recorded` for a repeated one, code of each error; sorted."""
    return sorted(
        one.code if isinstance(one, GatekeeperError) else f"{one.verdict}{' recorded' * one.is_recorded}"
        for one in answers
    )
