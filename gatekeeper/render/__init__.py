"""Outputs: one module per format, each pure (values in, text out). A module is loaded when it is asked for.

Every module of `FORMATS` has the three functions of `Format`, so that a command knows no format by name. Those of
`REPORTS` show pages that carry a report, and no decision.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from gatekeeper.render.answer import Answer
    from gatekeeper.render.page import Layout, Page

    class Format(Protocol):
        """What an output module offers; each returns what goes to stdout, ending with a newline or empty."""

        def decision(self, answer: Answer, layout: Layout) -> str:
            """The answer to one check."""
            ...

        def page(self, page: Page, layout: Layout) -> str:
            """Any other result."""
            ...

        def error(self, error: Mapping[str, Any], layout: Layout) -> str:
            """`GatekeeperError.to_dict()`; empty where people's words on stderr are all there is."""
            ...


FORMATS = {
    "text": "gatekeeper.render.text",
    "json": "gatekeeper.render.as_json",
    "ndjson": "gatekeeper.render.ndjson",
    "markdown": "gatekeeper.render.markdown",
    "github": "gatekeeper.render.github",
}
"""Name as in `--output` -> module. Adding a format is a module and a line here."""

REPORTS = {
    "sarif": "gatekeeper.render.sarif",
    "junit": "gatekeeper.render.junit",
}
"""The same for what reviews and tests found (`Page.report`): `page` and `error` only."""


def load(name: str) -> Format:
    """The module of a format. Raises KeyError for a name that neither `FORMATS` nor `REPORTS` has."""
    module: Any = __import__(FORMATS[name] if name in FORMATS else REPORTS[name], fromlist=["page"])
    return module  # type: ignore[no-any-return]
