"""`init` and `demo`: the first two minutes."""

from __future__ import annotations

from gatekeeper.cli.spec import Argument, Command
from gatekeeper.cli.tables.shared import output

_INIT = Command(
    "init",
    handler="gatekeeper.cli.init:init",
    answer="effect",
    help="Lay out policies/, snapshots/, logs/ and a CI workflow.\n\nWhat is there already stays as it is.",
    arguments=(
        Argument(
            "directory", kind="path", metavar="DIR", required=False, help="Where; the working directory if not given."
        ),
    ),
    options=(output("text", "json"),),
    examples=(("in a repository", "gatekeeper init"), ("elsewhere", "gatekeeper init gates/checkout")),
)

_DEMO = Command(
    "demo",
    handler="gatekeeper.cli.demo:demo",
    answer="effect",
    help="See a whole rollout on built-in evidence.\n\n"
    "Passed, held, resumed, rejected, replayed and verified, in a directory of its own; no service is needed.",
    examples=(("see it work", "gatekeeper demo"),),
)

COMMANDS = (_INIT, _DEMO)
