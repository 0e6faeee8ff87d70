"""Step outputs and the job summary: written to the files that GitHub names in the environment."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.render.answer import Answer


def write_github_files(answer: Answer, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Append to `$GITHUB_OUTPUT` and `$GITHUB_STEP_SUMMARY`; what failed, for standard error.

    The verdict is recorded by now and does not depend on them: a step that reads `outputs.proceed`
    goes on only where it finds `true`.
    """
    from gatekeeper.render import github

    complaints: list[str] = []
    for variable, text in (
        ("GITHUB_OUTPUT", github.step_outputs(answer)),
        ("GITHUB_STEP_SUMMARY", github.job_summary(answer)),
    ):
        path = environ.get(variable)
        if not path:
            continue
        try:
            with open(path, "a", encoding="utf-8", newline="\n") as file:  # noqa: PTH123 - on the path of a check
                file.write(text)
        except OSError as error:
            complaints.append(f"gatekeeper: {variable}: {error.strerror}: {path}")
    return tuple(complaints)
