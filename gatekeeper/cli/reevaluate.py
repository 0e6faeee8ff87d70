"""`gatekeeper reevaluate`: every hold whose evidence can be read again, through the same door as `resume`."""

from __future__ import annotations

from gatekeeper.cli.compose import SystemClock, missing_log, open_ledger, read_evidence, who_asks
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.present import layout_of_output, shown, told, words_for_people
from gatekeeper.errors import GatekeeperError, SnapshotError, UsageError
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.times import format_time
from gatekeeper.orchestrator.repeat import reevaluate as ask_holds
from gatekeeper.orchestrator.repeat import worst_verdict
from gatekeeper.render import load
from gatekeeper.render.page import VERDICT_TONES, Column, Page, Row, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.cli.values import Values
    from gatekeeper.model.snapshot import Snapshot
    from gatekeeper.orchestrator.repeat import HoldOutcome
    from gatekeeper.ports import EvidenceSource

DEFAULT_INTERVAL_SECONDS = 60.0


def reevaluate(values: Values) -> Outcome:
    """Ask the holds once, or in rounds until somebody interrupts."""
    if values.flag("watch"):
        if values.text("output") == "json":
            raise UsageError("--watch has no end, and json is one document", remedy="use --output ndjson")
        return Outcome(_rounds(values), 0)
    outcomes = _round(values)
    return _told(outcomes, values)


def read_source(source: Mapping[str, Any]) -> Snapshot | tuple[EvidenceSource, dict[str, Any] | None]:
    """The evidence that was recorded with a hold: read again, or the collector that takes it again.

    Raises:
        SnapshotError: a file cannot be read, or is no snapshot.
        CollectionError: the collection file does not load any more.
    """
    if source.get("kind") == "collection":
        from gatekeeper.cli.collecting import open_collector

        collector = open_collector(str(source["collection"]))
        return collector, collector.source
    if source.get("kind") != "file":
        raise SnapshotError(f"unknown kind of source: {source.get('kind')}", remedy="resume it with --snapshot")
    try:
        return read_evidence(str(source["snapshot"]), source.get("baseline"))
    except SnapshotError:
        raise
    except GatekeeperError as error:
        raise SnapshotError(error.message, remedy=error.remedy) from None


def _round(values: Values) -> list[HoldOutcome]:
    moment = values.time("as_of")
    return list(
        ask_holds(
            ledger=open_ledger(values.text("log"), rotate_bytes=values.integer("rotate_bytes")),
            clock=SystemClock(),
            read_source=read_source,
            only_due=values.flag("due"),
            actor=who_asks(values.optional_text("actor")),
            as_of=None if moment is None else format_time(moment),
        )
    )


def _rounds(values: Values) -> Iterator[str | bytes]:
    import time

    from gatekeeper.cli.output import say_once

    interval = values.milliseconds("interval")
    while True:
        outcomes = _round(values)
        outcome = _told(outcomes, values)
        for line in outcome.stderr:
            say_once(line)
        if outcomes and isinstance(outcome.stdout, str):
            yield outcome.stdout
        time.sleep(DEFAULT_INTERVAL_SECONDS if interval is None else interval / 1000)


def _told(outcomes: Sequence[HoldOutcome], values: Values) -> Outcome:
    answers = [outcome.answer for outcome in outcomes if outcome.answer is not None]
    worst = worst_verdict([answer.verdict for answer in answers])
    spoken = [words for answer in answers for words in words_for_people(answer)]
    stderr = told((*(() if outcomes else missing_log(values.text("log"))), *spoken))
    output = values.text("output")
    if output == "github" and answers:
        from gatekeeper.cli.github_files import write_github_files

        decisive = next(answer for answer in answers if answer.verdict is worst)
        stderr = (*stderr, *write_github_files(shown(decisive, log=values.text("log"))))
    text = load(output).page(_page(outcomes, values), layout_of_output())
    failures = [outcome.failure for outcome in outcomes if outcome.failure is not None]
    stderr = (
        *stderr,
        *(line for failure in failures for line in (f"gatekeeper: {failure.message}", f"  remedy: {failure.remedy}")),
    )
    code = 0 if worst is None else worst.exit_code
    if failures and worst is not Verdict.REJECT:
        code = max(failure.exit_code for failure in failures)  # not every hold was asked; a REJECT is acted on anyway
    return Outcome(text, code, stderr)


def _page(outcomes: Sequence[HoldOutcome], values: Values) -> Page:
    from gatekeeper.render.as_json import check_document
    from gatekeeper.render.runs import reasons_row_text

    rows: list[Row] = []
    documents: list[dict[str, Any]] = []
    for outcome in outcomes:
        hold = outcome.run.hold
        stage, token = (hold.stage, hold.token) if hold is not None else ("", "")
        document: dict[str, Any] = {"run_id": outcome.run.run_id, "stage": stage, "resume_token": token}
        if outcome.answer is None:
            said, tone = outcome.problem or "", ""
            document.update(verdict=None, problem=outcome.problem, check=None)
        else:
            said, tone = reasons_row_text(outcome.answer.event), VERDICT_TONES[outcome.answer.verdict.value]
            view = shown(outcome.answer, log=values.text("log"))
            document.update(verdict=outcome.answer.verdict.value, problem=None, check=check_document(view))
        rows.append(Row(outcome.run.run_id, stage, document["verdict"] or "not asked", detail=said, tone=tone))
        documents.append(document)
    asked = sum(document["verdict"] is not None for document in documents)
    columns = (Column("run", code=True), Column("stage", code=True), Column("verdict"))
    table = Table(columns, rows, empty="no hold to ask")
    return Page(
        f"{asked} of {len(documents)} holds asked",
        [table],
        document={"holds": documents},
        records=list(documents),
    )
