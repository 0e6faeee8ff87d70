"""The codes that gatekeeper answers with, as its code has them now."""

from __future__ import annotations

from typing import Any

from gatekeeper.cli.exit_codes import MEANINGS
from gatekeeper.cli.failures import TerminatedError, explain
from gatekeeper.cli.outcome import CODES as ANSWERS
from gatekeeper.cli.outcome import VERDICTS
from gatekeeper.errors import GatekeeperError
from gatekeeper.evidence.lint.remarks import SEVERITIES
from gatekeeper.model.decision import Outcome
from gatekeeper.model.reasons import fixed_verdict, split_code
from gatekeeper.render.codes import CODES, LATER
from gatekeeper.review.catalogue import CATALOGUE, REFUSALS

Table = dict[str, dict[str, Any]]


def exit_codes() -> Table:
    """Exit code -> what it means, and which kinds of commands may leave with it."""
    return {
        str(code): {
            "meaning": meaning,
            "is_verdict": code in VERDICTS,
            "answers": sorted(answer for answer, codes in ANSWERS.items() if code in codes),
        }
        for code, meaning in MEANINGS.items()
    }


def error_codes() -> Table:
    """`code` of `{"error": …}` -> the exit code that goes with it."""
    kinds = [GatekeeperError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    own = {kind.code: kind.exit_code for kind in kinds if kind.__module__ == "gatekeeper.errors"}
    missing = ModuleNotFoundError("No module named 'sqlalchemy'", name="sqlalchemy")
    others = [explain(error) for error in (KeyboardInterrupt(), TerminatedError(), missing)]
    known = {**own, **{failure.code: failure.exit_code for failure in others}}
    return {code: {"exit_code": exit_code} for code, exit_code in known.items()}


def reason_codes() -> Table:
    """Reason code -> its two parts, and the verdict or the policy's key that decides; `*` is any other detail."""
    return {
        code: {
            "category": split_code(code)[0],
            "detail": split_code(code)[1],
            "verdict": str(fixed_verdict(code)),
            "is_in_use": code in CODES,
        }
        for code in (*CODES, *LATER)
    }


def finding_outcomes() -> list[str]:
    """How a rule may come out."""
    return sorted(Outcome)


def remark_codes() -> Table:
    """Code of a remark of `policy check` or `collect --lint` -> its severity, and whether `--fix` mends it."""
    own = {
        code: {"severity": str(entry.severity), "is_mended": entry.is_mended, "loads": code in CATALOGUE}
        for code, entry in {**REFUSALS, **CATALOGUE}.items()
    }
    lint = {
        code: {"severity": str(severity), "is_mended": False, "loads": True} for code, severity in SEVERITIES.items()
    }
    return {**own, **lint}
