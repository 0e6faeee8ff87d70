"""Output `json`: exactly one document and a newline, the same bytes in every terminal, locale and colour setting.

Canonical order and numbers as in the log; everything outside printable ASCII is escaped, so that no encoding
of stdout changes or refuses a byte, and no CI system finds a command in it.
"""

from __future__ import annotations

import re

from gatekeeper.errors import CanonicalError
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.masking import mask_addresses, mask_text
from gatekeeper.render.answer import decision_of, list_of, mapping_of
from gatekeeper.render.sentences import sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.render.answer import Answer
    from gatekeeper.render.page import Layout, Page

_NOT_PLAIN = re.compile(r"[^\x20-\x7e]")


def decision(answer: Answer, layout: Layout) -> str:  # noqa: ARG001 - the same at every width
    """The answer to one check."""
    return dumps(check_document(answer))


def page(page: Page, layout: Layout) -> str:  # noqa: ARG001 - the same at every width
    """Any other result: its document."""
    return dumps(page.document)


def error(error: Mapping[str, Any], layout: Layout) -> str:  # noqa: ARG001 - the same at every width
    """`{"error": {…}}`."""
    return dumps(error_document(error))


def check_document(answer: Answer) -> dict[str, Any]:
    """The event as logged, findings with `message`, plus `recorded` and `run`.

    `recorded` is true where the answer was recorded earlier and nothing was appended; `run` is `answer.run_view`,
    null where the run's state could not be read.
    """
    run = None if answer.run is None else dict(answer.run)
    return {**event_document(answer.event), "recorded": answer.recorded, "run": run}


def event_document(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event as logged, findings with `message`, addresses of sources masked once more."""
    document: dict[str, Any] = mask_addresses(dict(event))
    decision = decision_of(event)
    if "findings" in decision and isinstance(event.get("decision"), dict):
        findings = [
            {**finding, "message": sentence(mapping_of(finding))} if isinstance(finding, dict) else finding
            for finding in list_of(decision["findings"])
        ]
        document["decision"] = {**document["decision"], "findings": findings}
    return document


def error_document(error: Mapping[str, Any]) -> dict[str, Any]:
    """`GatekeeperError.to_dict()` as stdout shows it, with addresses in its words masked."""
    words = {key: mask_text(value) if isinstance(value, str) else value for key, value in error.items()}
    return {"error": words}


def dumps(document: Mapping[str, Any]) -> str:
    """One JSON document on one line of printable ASCII, with its newline.

    What has no canonical form (a file name that is not UTF-8, in a message) is replaced, never refused:
    an error must come out.
    """
    try:
        data = canonical_bytes(document)
    except CanonicalError:
        data = canonical_bytes(_replaced(document))
    # outside of strings canonical JSON is plain ASCII without `#`
    text = _NOT_PLAIN.sub(_escape, data.decode("utf-8"))
    return text.replace("##", "#\\u0023") + "\n"


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    if number < 0x10000:  # one UTF-16 code unit
        return f"\\u{number:04x}"
    number -= 0x10000
    return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_replaced(str(key)): _replaced(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(item) for item in value]
    try:
        canonical_bytes(value)
    except CanonicalError:
        return _replaced(str(value))
    return value
