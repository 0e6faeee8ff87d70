"""Step outputs and the job summary: written to the files that GitHub names in the environment."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.render.answer import Answer

_SUMMARY = "GITHUB_STEP_SUMMARY"


def write_github_files(answer: Answer, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Append to `$GITHUB_OUTPUT` and `$GITHUB_STEP_SUMMARY`; what failed, for standard error.

    The verdict is recorded by now and does not depend on them: a step that reads `outputs.proceed`
    goes on only where it finds `true`.
    """
    from gatekeeper.render import github

    return (
        *_append("GITHUB_OUTPUT", github.step_outputs(answer), environ),
        *_append(_SUMMARY, github.job_summary(answer), environ),
    )


def write_summary(markdown: str, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Append a report to `$GITHUB_STEP_SUMMARY`; what failed, for standard error."""
    return _append(_SUMMARY, markdown + "\n", environ)


def _append(variable: str, text: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    path = environ.get(variable)
    if not path:
        return ()
    try:
        with open(path, "a", encoding="utf-8", newline="\n", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        return (f"gatekeeper: {variable}: {error.strerror}: {path}",)
    return ()
