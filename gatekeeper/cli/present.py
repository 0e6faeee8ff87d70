"""From an answer to an outcome: the format asked, the place it goes to, the exit code."""

from __future__ import annotations

import os

from gatekeeper.cli.outcome import Outcome
from gatekeeper.render import load
from gatekeeper.render.answer import Answer as ShownAnswer
from gatekeeper.render.answer import Standing, run_view
from gatekeeper.render.page import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO

    from gatekeeper.cli.values import Values
    from gatekeeper.model.policy import Constraint, Guardrail, LoadedPolicy
    from gatekeeper.orchestrator.question import Answer
    from gatekeeper.render.page import Page

EVALUATED_ONLY = 3
"""Exit code of `--dry-run`, whatever the verdict."""


def layout_of_output() -> Layout:
    """What is known of standard output: width, whether colours are wanted, whether it can show Unicode."""
    import sys

    return layout_of(sys.stdout)


def layout_of(stream: TextIO | None) -> Layout:
    """The same of any stream."""
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "")
    is_terminal = stream is not None and stream.isatty()
    return Layout(
        width=_width(stream),
        colour=is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
        unicode=encoding.startswith("utf"),
    )


def _width(stream: TextIO | None) -> int:
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and 0 < int(stated) < 10_000:
        return int(stated)
    try:
        return os.get_terminal_size(1 if stream is None else stream.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):  # no terminal, closed, or something that is no file
        return 80


def shown(answer: Answer, *, log: str, loaded: LoadedPolicy | None = None) -> ShownAnswer:
    """An answer of the orchestrator as the render room takes it; the policy that judged comes before the one given."""
    from gatekeeper.ledger.address import shown_log  # reports that have no log come by here, too

    loaded = answer.policy or loaded
    stages = loaded.policy.stages if loaded is not None else _stages_of(answer.event)
    return ShownAnswer(
        event=answer.event,
        standing=_standing(answer),
        run=None if answer.run is None else run_view(answer.run, stages),
        log=shown_log(log),
        runbooks={} if loaded is None else _runbooks(loaded),
        why_not_recorded=" ".join(answer.warnings) if answer.is_unrecorded else None,
    )


def exit_code(answer: Answer) -> int:
    """0, 1, 2 by verdict; 3 when it was evaluated only."""
    return EVALUATED_ONLY if answer.is_dry_run else answer.verdict.exit_code


def decided(answer: Answer, values: Values, *, loaded: LoadedPolicy | None = None) -> Outcome:
    """The outcome of one check."""
    output = values.text("output")
    view = shown(answer, log=values.text("log"), loaded=loaded)
    text = load(output).decision(view, layout_of_output())
    complaints: tuple[str, ...] = ()
    if output == "github":
        from gatekeeper.cli.github_files import write_github_files

        complaints = write_github_files(view)
    return Outcome(text, exit_code(answer), (*told(words_for_people(answer)), *complaints))


def told(warnings: tuple[str, ...]) -> tuple[str, ...]:
    """Warnings as lines on standard error, each once."""
    return tuple(f"gatekeeper: {warning}" for warning in dict.fromkeys(warnings))


def words_for_people(answer: Answer) -> tuple[str, ...]:
    """What standard error says of an answer in every format: the decision's notes, then the warnings."""
    notes = (answer.event.get("decision") or {}).get("notes") or ()
    return (*(f"note: {note}" for note in notes), *answer.warnings)


def page_outcome(page: Page, values: Values, *, code: int = 0, stderr: tuple[str, ...] = ()) -> Outcome:
    """The outcome of a command whose result is a page."""
    text = load(values.text("output")).page(page, layout_of_output())
    if values.text("output") == "github":
        from gatekeeper.cli.github_files import write_summary

        stderr = (*stderr, *write_summary(text))
    return Outcome(text, code, stderr)


def _standing(answer: Answer) -> Standing:
    if answer.is_unrecorded:
        return Standing.NOT_RECORDED
    if answer.is_recorded:
        return Standing.ANSWERED_BEFORE
    return Standing.DRY_RUN if answer.is_dry_run else Standing.APPENDED


def _stages_of(event: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(stage for stage in (event.get("stage"),) if isinstance(stage, str))


def _runbooks(loaded: LoadedPolicy) -> dict[str, str]:
    rules: list[Constraint | Guardrail] = [*loaded.policy.constraints, *loaded.policy.guardrails]
    return {rule.metric: rule.runbook for rule in rules if rule.runbook is not None}
