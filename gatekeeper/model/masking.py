"""What a person must not see in an address: credentials, query, fragment. One file, so that one test holds it.

Masking twice changes nothing, so that a value may be masked where it is written and again where it is shown.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MASK = "***"

# compiled when first needed
_ADDRESS = r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*:)?//(?P<rest>.*)"
_WITHOUT_SCHEME = r"[^/?#@\s]*:[^/?#@\s]*@(?P<rest>.*)"
_IN_TEXT = r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>`]+"
_ADDRESS_KEYS = frozenset({"endpoint", "url"})


def mask_url(url: str, *, keep_query: bool = False) -> str:
    """Hide userinfo, query and fragment: `https://ci:secret@host/p?token=x` -> `https://***@host/p?***`.

    The fragment of an address of git (`git+https://host/log.git#branch`) names a branch, and stays.

    Args:
        url: an address, with or without a scheme; other text comes back as it is.
        keep_query: for addresses that people wrote to be followed (runbooks): only the userinfo is hidden.
    """
    match = re.match(_ADDRESS, url, re.DOTALL)
    if match is None:
        bare = re.match(_WITHOUT_SCHEME, url, re.DOTALL)
        return url if bare is None else f"{MASK}@{_mask_tail(bare['rest'], keep_query=keep_query)}"
    rest = match["rest"]
    end = _userinfo_end(rest)
    start = f"{match['scheme'] or ''}//"
    if end:
        start += f"{MASK}@"
    is_git = (match["scheme"] or "").lower().startswith("git+")
    tail, mark, branch = rest[end:].partition("#") if is_git else (rest[end:], "", "")
    return start + _mask_tail(tail, keep_query=keep_query) + mark + branch


def mask_text(text: str) -> str:
    """*text* with every address in it masked."""
    if "://" not in text:
        return text
    return re.sub(_IN_TEXT, lambda match: mask_url(match[0]), text)


def mask_addresses(value: Any) -> Any:
    """A JSON value with the text under each `endpoint` and `url` key masked, at any depth; not changed itself."""
    if isinstance(value, dict):
        return {
            key: mask_url(member) if key in _ADDRESS_KEYS and isinstance(member, str) else mask_addresses(member)
            for key, member in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [mask_addresses(item) for item in value]
    return value


def _userinfo_end(rest: str) -> int:
    """Length of `user:password@`, 0 without.

    RFC 3986 ends the authority at the first `/`, `?` or `#`; people paste passwords that hold these.
    What stands there as a port and is no number is therefore taken for the beginning of a password.
    """
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in authority:
        return authority.rindex("@") + 1
    _, colon, port = authority.rpartition(":")
    if colon and port and not port.isdecimal() and not authority.endswith("]"):
        return rest.rfind("@") + 1
    return 0


def _mask_tail(rest: str, *, keep_query: bool) -> str:
    if keep_query:
        return rest
    before, mark, _ = rest.partition("#")
    fragment = f"#{MASK}" if mark else ""
    path, mark, _ = before.partition("?")
    return path + (f"?{MASK}" if mark else "") + fragment
