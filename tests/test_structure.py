from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

import gatekeeper
from gatekeeper.cli.spec import Command
from gatekeeper.cli.tables import every

ROOT = Path(gatekeeper.__file__).parent
GATE = "gatekeeper.orchestrator.gate"
ASKS = {"check", "run", "resume", "reevaluate"}
"""Commands that may have a decision recorded."""
RECORDS = {*ASKS, "stop", "log rebuild"}
"""Commands that may have any event recorded: a stop, an accepted gap."""


@contextmanager
def _without_collection() -> Iterator[None]:
    """A million objects that stay: the garbage collector would walk them again and again while they are made."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@cache
@_without_collection()
def modules() -> dict[str, ast.Module]:
    """Every module of the program by its name."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


@cache
def functions(module: str) -> list[tuple[str, ast.AST]]:
    """Every node with the name of the top-level function or class it stands in."""
    return [
        (top.name if isinstance(top, (ast.FunctionDef, ast.ClassDef)) else "-", node)
        for top in modules()[module].body
        for node in ast.walk(top)
    ]


@cache
@_without_collection()
def every_call() -> list[tuple[str, str, ast.Call]]:
    """Module and function of every call."""
    return [
        (module, function, node)
        for module in modules()
        for function, node in functions(module)
        if isinstance(node, ast.Call)
    ]


def calls(attribute: str, *, keyword: str | None = None) -> set[tuple[str, str]]:
    """Module and function of every call of a method or function of this name, having this keyword."""
    return {
        (module, function)
        for module, function, node in every_call()
        if (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)) == attribute
        and (keyword is None or any(given.arg in {keyword, None} for given in node.keywords))
    }


def named(name: str) -> set[str]:
    """Modules in which this name is used or imported, be it as text."""
    return {
        module
        for module in modules()
        for _, node in functions(module)
        if name in {getattr(node, "id", None), getattr(node, "attr", None)}
        or (isinstance(node, (ast.Import, ast.ImportFrom)) and name in {alias.name for alias in node.names})
        or (isinstance(node, ast.Constant) and node.value == name)
    }


@cache
def imports(module: str) -> frozenset[str]:
    """Modules of the program that a module imports at run time, inside functions too."""
    found: set[str] = set()
    for node in _at_run_time(modules()[module]):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(found & set(modules()))


def _at_run_time(node: ast.AST) -> Iterator[ast.AST]:
    waiting = [node]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if not (isinstance(child, ast.If) and getattr(child.test, "id", None) == "TYPE_CHECKING"):
                yield child
                waiting.append(child)


def reached_by(handler: str) -> set[str]:
    """Modules that a handler (`module:function`) leads to: what it names itself, and all that those import."""
    module, _, function = handler.partition(":")
    tree = modules()[module]
    local = {top.name: top for top in tree.body if isinstance(top, (ast.FunctionDef, ast.ClassDef))}
    origin = {
        alias.asname or alias.name: {node.module, f"{node.module}.{alias.name}"}
        for node in _at_run_time(tree)
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
    seen, waiting, found = set[str](), [function], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen and name in local:
            waiting += {node.id for node in ast.walk(local[name]) if isinstance(node, ast.Name)}
        found |= origin.get(name, set()) & set(modules())
        seen.add(name)
    assert function in local
    return set[str]().union(*(reached_from(one) for one in found))


def reached_from(module: str) -> set[str]:
    """The module and all that it imports, directly or not."""
    reached, waiting = set[str](), [module]
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += imports(one)
    return reached


@pytest.mark.slow
def test_only_the_gate_appends_events() -> None:
    """`Ledger.append` (the call that states what it expects) is made in one module, in four functions."""
    assert calls("append", keyword="expect") - {("gatekeeper.ledger.ndjson", "NdjsonLedger")} == {
        (GATE, "_ask"),
        (GATE, "stop"),
        (GATE, "accept_gap"),
        (GATE, "_record_refusal"),
    }


def test_only_the_atomic_step_appends_what_was_proposed() -> None:
    """Decisions are drafted for a Proposal, and `ask` alone hands a Proposal's drafts to the ledger."""
    assert calls("propose") == {(GATE, "_ask")}
    assert calls("draft_decision") == {("gatekeeper.orchestrator.propose", "_proposal")}
    appended = {
        (function, ast.unparse(node.args[0]))
        for function, node in functions(GATE)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "ledger.append"
    }
    assert {drafts for function, drafts in appended if function == "_ask"} == {"step.drafts"}
    assert {drafts for function, drafts in appended if function in {"stop", "accept_gap"}} == {"[draft]"}
    assert {drafts for function, drafts in appended if function == "_record_refusal"} == {
        "[_refusal_draft(question, refusal, run, asked)]"
    }


def test_a_decision_is_drafted_in_two_places_only() -> None:
    """By the one step, and for the marker of a REJECT where not even the state can be read."""
    assert calls("decision_draft") == {
        ("gatekeeper.orchestrator.judge", "draft_decision"),
        ("gatekeeper.orchestrator.unreadable", "answer_without_state"),
    }
    assert named("leave_marker") == {
        GATE,
        "gatekeeper.orchestrator.unreadable",
    }


def test_nobody_writes_decision_events_by_hand() -> None:
    """An object with kind `decision` is built by the model, and by the reader of founding-style lines."""
    literal = {
        module
        for module in modules()
        for _, node in functions(module)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant)
        and key.value == "kind"
        and isinstance(value, ast.Constant)
        and value.value == "decision"
    }
    assert literal == {"gatekeeper.model.event", "gatekeeper.ledger.codec"}


def test_bytes_reach_the_log_through_the_ledger_only() -> None:
    """The durable write is called by the ledgers, and lines are encoded where they are sealed."""
    assert calls("append_durably") == {
        ("gatekeeper.ledger.commit", "Committer"),
        ("gatekeeper.ledger.taking_in", "_append"),  # lines that another ledger has sealed
    }
    assert calls("event_row") == {
        ("gatekeeper.ledger.postgres.writing", "Writer"),
        ("gatekeeper.ledger.postgres.taking_in", "_take_part"),
    }
    assert calls("push_surely") == {("gatekeeper.ledger.git.storing", "Storing")}
    assert {module for module, _ in calls("seal_all")} == {
        "gatekeeper.ledger.commit",
        "gatekeeper.ledger.git.ledger",
        "gatekeeper.ledger.rotation",
    }
    assert {module for module, _ in calls("seal")} == {
        "gatekeeper.ledger.sealing",
        "gatekeeper.ledger.group_commit",  # what the lock's holder folds of another's event
        "gatekeeper.ledger.postgres.preparing",  # around members that were encoded before the log was locked
        "gatekeeper.ledger.group_wire",  # what a writer is told that another has recorded
        "gatekeeper.orchestrator.propose",  # folds it, and appends a draft
    }


def test_only_the_orchestrator_judges_for_the_record() -> None:
    """`gate.ask` is called by the commands that ask and by the loops over it, and nobody else."""
    assert {module for module, _ in calls("ask") if GATE in imports(module)} == {
        "gatekeeper.cli.check",
        "gatekeeper.cli.resume",
        "gatekeeper.orchestrator.repeat",
    }


@pytest.mark.parametrize("command", every(), ids=lambda command: " ".join(command.path))
def test_a_command_reaches_the_gate_only_if_it_may_record(command: Command) -> None:
    """Walks the registry: from a reading command's handler no import leads to the gate; the others go through it."""
    name, reached = " ".join(command.path), reached_by(command.handler)
    assert (GATE in reached) == (name in RECORDS)
    if name not in RECORDS:
        assert not [one for one in reached if one.startswith("gatekeeper.orchestrator.")]


@pytest.mark.parametrize("command", every(), ids=lambda command: " ".join(command.path))
def test_a_command_that_answers_with_a_verdict_is_one_that_asks(command: Command) -> None:
    """Exit codes 1 and 2 are verdicts: they belong to commands that go through the one step."""
    assert (command.answer == "verdict") == (" ".join(command.path) in ASKS)


def test_nobody_is_told_to_install_another_projects_package() -> None:
    """The name `gatekeeper` on PyPI is another project's: a remedy names the library itself."""
    told = {path.name for path in ROOT.rglob("*.py") if "install 'gatekeeper" in path.read_text("utf-8")}
    assert told == set()
