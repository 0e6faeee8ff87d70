r"""Words that the schemas of several formats are written with: notes on a key, patterns of texts.

Patterns mean the same in the dialects of regular expressions that validators use (ECMA-262, Python): classes are
spelled out, and an end that is meant is followed by `(?!\n)`, since `$` of some stands before a last line break, too.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BLANK = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""Characters that `str.strip` takes away, as the inside of a class."""

NOT_BLANK = f"[^{BLANK}]"
"""A text that says something."""

END = r"$(?!\n)"


def exactly(pattern: str) -> str:
    """The pattern of a text that is this from beginning to end."""
    return f"^(?:{pattern}){END}"


def note(description: str, *examples: Any, **keywords: Any) -> dict[str, Any]:
    """What a schema says of one key beyond its type."""
    shown = {"examples": list(examples)} if examples else {}
    return {"description": description, **keywords, **shown}
