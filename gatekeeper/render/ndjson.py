"""Output `ndjson`: one JSON object per line. Recorded lines pass through byte for byte.

Text here is UTF-8 as the log has it; the caller writes it to a stream of bytes (`encode`).
"""

from __future__ import annotations

from gatekeeper.errors import CanonicalError
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.masking import mask_addresses
from gatekeeper.render.as_json import check_document, dumps, error_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from gatekeeper.render.answer import Answer
    from gatekeeper.render.page import Layout, Page

UNDECODABLE = "surrogateescape"
"""How `decision`, `page` and `error` carry bytes of a recorded line that are no UTF-8; `encode` gives them back."""


def lines(records: Iterable[Mapping[str, Any] | bytes]) -> Iterable[bytes]:
    """Each record's line with its newline: recorded bytes as they are, anything else in canonical form."""
    for record in records:
        if isinstance(record, bytes):
            yield record if record.endswith(b"\n") else record + b"\n"
        else:
            yield _line(record)


def encode(text: str) -> bytes:
    """The bytes that this module's text stands for."""
    return text.encode("utf-8", UNDECODABLE)


def decision(answer: Answer, layout: Layout) -> str:  # noqa: ARG001 - the same at every width
    """The answer to one check, as json has it, on one line."""
    return _text([check_document(answer)])


def page(page: Page, layout: Layout) -> str:  # noqa: ARG001 - the same at every width
    """The page's records, a line each; empty when there are none."""
    return _text(page.records)


def error(error: Mapping[str, Any], layout: Layout) -> str:  # noqa: ARG001 - the same at every width
    """`{"error": {…}}` on one line."""
    return _text([error_document(error)])


def _text(records: Iterable[Mapping[str, Any] | bytes]) -> str:
    return b"".join(lines(records)).decode("utf-8", UNDECODABLE)


def _line(record: Mapping[str, Any]) -> bytes:
    masked = mask_addresses(dict(record))
    try:
        return canonical_bytes(masked) + b"\n"
    except CanonicalError:
        return dumps(masked).encode("ascii")
