"""The pages of reviews: what keeps a file from loading, and what a reviewer should know."""

from __future__ import annotations

from gatekeeper.render.page import BAD, GOOD, HELD, QUIET, Column, Fields, Lines, Page, Row, Table
from gatekeeper.render.report import Case, Remark
from gatekeeper.render.sentences import NONE, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.render.page import Block

_COLUMNS = (
    Column("severity"),
    Column("place", code=True, plain=True),
    Column("pointer", code=True),
    Column("code", code=True),
)
_TONES = {"error": BAD, "warning": HELD, "info": QUIET}
_SUPPRESSED = "suppressed"


def policy_page(
    source: str,
    diagnostics: Sequence[Mapping[str, Any]],
    *,
    policy: Mapping[str, Any] | None = None,
    mends: Sequence[Mapping[str, Any]] | None = None,
    note: str = "",
) -> Page:
    """What was found in one policy file.

    Args:
        source: the file, as the caller named it.
        diagnostics: `code`, `severity`, `pointer`, `line`, `column`, `message`, `remedy` each, in the file's order;
            `rule` and `suppressed` where they apply.
        policy: `policy_id`, `policy_version`, `policy_digest` of a policy that loads; None for one that does not.
        mends: `code`, `pointer`, `message` of what was mended; None where nobody asked for it.
        note: one sentence about the file for people.
    """
    page = _page(source, diagnostics, "policy", policy)
    if mends is None:
        return page
    done = [f"{one['pointer'] or '(whole policy)'}: {one['message']} ({one['code']})" for one in mends]
    blocks: list[Block] = [Lines(done, title="mended")] if done else []
    if note:
        blocks.append(Lines([note]))
    document = {**page.document, "mended": [dict(one) for one in mends]}
    return Page(page.headline, [*blocks, *page.blocks], document=document, tone=page.tone)


def collection_page(
    source: str, diagnostics: Sequence[Mapping[str, Any]], *, collection: Mapping[str, Any] | None = None
) -> Page:
    """What was found in one collection file, as `policy_page`; `collection` are facts of one that loads."""
    return _page(source, diagnostics, "collection", collection)


def remarks_of(page: Page) -> list[Remark]:
    """The findings of a page of this module, for a report."""
    return [
        Remark(
            page.document["source"],
            one["code"],
            one["severity"],
            one["message"],
            remedy=one["remedy"],
            pointer=one["pointer"],
            line=one["line"],
            column=one["column"],
            about=one.get("rule", ""),
            suppressed=one.get(_SUPPRESSED),
        )
        for one in page.document["diagnostics"]
    ]


def cases_of(page: Page, failing: frozenset[str]) -> list[Case]:
    """The same as test cases: does the file load, and each finding by itself.

    Args:
        page: a page of this module.
        failing: severities that the command was told to fail on; a finding of another one is passed over.
    """
    source, loads = page.document["source"], page.document["loads"]
    problems = [_text(one) for one in page.document["diagnostics"]]
    failure = None if loads else {"message": page.headline, "text": "\n".join(problems)}
    cases = [Case(source, "loads", failure=failure, file=source)]
    for remark in remarks_of(page) if loads else ():
        words = _detail({"message": remark.message, "remedy": remark.remedy, _SUPPRESSED: remark.suppressed})
        counts = remark.suppressed is None and remark.severity in failing
        about = f"{remark.code} {remark.pointer or remark.about}".rstrip()
        text = f"{source}:{remark.line}:{remark.column}: {words}"
        told = {"message": words, "text": text} if counts else None
        cases.append(
            Case(source, about, failure=told, skipped=None if counts else words, file=source, line=remark.line)
        )
    return cases


def _page(source: str, diagnostics: Sequence[Mapping[str, Any]], what: str, facts: Mapping[str, Any] | None) -> Page:
    counting = [one for one in diagnostics if one.get(_SUPPRESSED) is None]
    counts = {severity: sum(one.get("severity") == severity for one in counting) for severity in _TONES}
    silent = len(diagnostics) - len(counting)
    blocks: list[Block] = []
    if facts is not None:
        pairs = [(key.replace("_", " "), [value_text(value)]) for key, value in facts.items()]
        blocks.append(Fields(pairs, code=True))
    if diagnostics:
        blocks.append(Table(_COLUMNS, [_row(source, one) for one in diagnostics]))
    verdict = "does not load" if facts is None else "loads"
    told = [_plural(counts["error"], "error"), _plural(counts["warning"], "warning")]
    told += [_plural(counts["info"], "info")] if counts["info"] else []
    told += [f"{silent} suppressed"] if silent else []
    document = {
        "source": source,
        "loads": facts is not None,
        what: None if facts is None else dict(facts),
        "diagnostics": [dict(one) for one in diagnostics],
    }
    tone = BAD if facts is None or counts["error"] else HELD if counts["warning"] else GOOD
    return Page(f"{source} {verdict}: {', '.join(told)}", blocks, document=document, tone=tone)


def _row(source: str, one: Mapping[str, Any]) -> Row:
    is_silent = one.get(_SUPPRESSED) is not None
    severity = _SUPPRESSED if is_silent else value_text(one.get("severity"))
    return Row(
        severity,
        _place(source, one),
        str(one.get("pointer") or "") or NONE,
        value_text(one.get("code")),
        detail=_detail(one),
        tone=QUIET if is_silent else _TONES.get(severity, HELD),
    )


def _place(source: str, one: Mapping[str, Any]) -> str:
    line = one.get("line")
    return source if line is None else f"{source}:{value_text(line)}:{value_text(one.get('column'))}"


def _detail(one: Mapping[str, Any]) -> str:
    if one.get(_SUPPRESSED) is not None:
        return f"{one.get('message')} (suppressed: {one[_SUPPRESSED]})"
    return str(one.get("message")) + (f" ({one['remedy']})" if one.get("remedy") else "")


def _text(one: Mapping[str, Any]) -> str:
    pointer = one.get("pointer") or "(whole file)"
    return f"{one.get('line') or '-'}:{one.get('column') or '-'}: {pointer}: {_detail(one)} [{one.get('code')}]"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
