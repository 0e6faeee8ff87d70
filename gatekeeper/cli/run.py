"""`gatekeeper run`: all stages in turn, evidence from one file each, until one does not pass."""

from __future__ import annotations

import os

from gatekeeper.cli.check import as_of_text, gate_question
from gatekeeper.cli.compose import SystemClock, open_ledger, read_evidence, read_policy, source_of
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.present import exit_code, layout_of_output, shown, told, words_for_people
from gatekeeper.errors import GatekeeperError, SnapshotError
from gatekeeper.model.values import replace
from gatekeeper.orchestrator.repeat import ask_stages
from gatekeeper.render import load
from gatekeeper.render.page import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.cli.values import Values
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.orchestrator.question import Answer, Question


def run(values: Values) -> Outcome:
    """Ask DIR/<STAGE>.json for each stage from the held or next one; exit as the last check."""
    ledger = open_ledger(values.text("log"), rotate_bytes=values.integer("rotate_bytes"))
    loaded = read_policy(values.text("policy"), ledger)
    # all but evidence, stage and time is the same at each stage
    template = gate_question(values, loaded, command="run")

    def question_for(stage: str) -> Question:
        path = os.path.join(values.text("snapshots"), f"{stage}.json")
        if not os.path.exists(path):
            raise SnapshotError(f"{path}: no evidence for stage {stage}", remedy=f"write {path}")
        snapshot = read_evidence(path, None)
        return replace(
            template,
            stage=stage,
            snapshot=snapshot,
            supersede=template.supersede if stage == loaded.policy.stages[0] else None,
            as_of=as_of_text(values, snapshot),
            source=source_of(path, None),
        )

    answers: list[Answer] = []
    failure: GatekeeperError | None = None
    try:
        for answer in ask_stages(
            question_for, str(template.run_id), loaded.policy.stages, ledger=ledger, clock=SystemClock()
        ):
            answers.append(answer)  # noqa: PERF402 - those before an error are kept
    except GatekeeperError as error:
        if not answers:
            raise
        failure = error  # the stages before it are recorded, and shown
    return _told(answers, failure, values, loaded)


def _told(answers: list[Answer], failure: GatekeeperError | None, values: Values, loaded: LoadedPolicy) -> Outcome:
    output, layout = values.text("output"), layout_of_output()
    views = [shown(answer, log=values.text("log"), loaded=loaded) for answer in answers]
    stderr = told(tuple(words for answer in answers for words in words_for_people(answer)))
    code = exit_code(answers[-1]) if answers else 0
    if failure is not None:
        code = failure.exit_code
        stderr = (*stderr, f"gatekeeper: {failure.message}", f"  remedy: {failure.remedy}")
    if output == "json":
        return Outcome(load(output).page(_document(views, failure), layout), code, stderr)
    if output == "github":
        from gatekeeper.cli.github_files import write_github_files

        stderr = (*stderr, *write_github_files(views[-1]))
    text = "\n" if output == "text" else ""
    return Outcome(text.join(load(output).decision(view, layout) for view in views), code, stderr)


def _document(views: list[Any], failure: GatekeeperError | None) -> Page:
    from gatekeeper.render.as_json import check_document

    document: dict[str, Any] = {"checks": [check_document(view) for view in views]}
    if failure is not None:
        document["error"] = failure.to_dict()
    return Page("", [], document=document)
