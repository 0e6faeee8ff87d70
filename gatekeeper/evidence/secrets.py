"""Secrets: taken from the environment by name, and masked in whatever a server or a library says."""

from __future__ import annotations

import base64
import json
import re
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote

from gatekeeper.errors import UsageError
from gatekeeper.model.masking import MASK, mask_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_ESCAPED = re.compile("%[0-9A-F]{2}")  # some servers write %2f
_IN_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})  # as html.escape
_SHORTEST = 4  # shorter texts occur by chance, and masking them would garble messages
_CREDENTIAL = re.compile(
    r"auth|token|secret|key|cookie|password|credential|session|signature|jwt|x-amz-|(?:^|[-_.])sig(?:$|[-_.])",
    re.IGNORECASE,
)


def is_credential_header(name: str) -> bool:
    """Whether a header or variable of this name carries a credential, as far as its name tells."""
    return _CREDENTIAL.search(name) is not None


def names_variable(text: str) -> bool:
    """Whether *text* takes something from the environment."""
    return _VARIABLE.search(text) is not None


def blanked(text: str, letter: str) -> str:
    """*text* with *letter* in place of every letter of each `${NAME}`: what the file itself states."""
    return _VARIABLE.sub(lambda match: letter * len(match[0]), text)


class Secrets:
    """The environment as a collection file sees it, and what of it nobody must see.

    `mask` is safe to call from any thread while other texts are being added.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._hidden: frozenset[str] = frozenset()
        self._patterns: tuple[re.Pattern[str], ...] = ()
        self._parts: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def expand(self, text: str, *, where: str, is_address: bool = False) -> str:
        """*text* with each `${NAME}` replaced by the environment variable of that name.

        What a variable holds that is named like a credential is hidden from now on, wherever the text is used; so is
        what is a part of an address, and not an address of its own.

        Args:
            where: JSON Pointer of the text, for the message.
            is_address: the text is a URL.

        Raises:
            UsageError: the variable is not set, is empty, or is no text.
        """

        def value(match: re.Match[str]) -> str:
            found = self._environ.get(match[1])
            if not found:
                raise UsageError(
                    f"{where}: the environment variable {match[1]} is not set", remedy=f"export {match[1]}=… first"
                )
            if not _is_text(found):
                raise UsageError(
                    f"{where}: the environment variable {match[1]} holds bytes that are no UTF-8",
                    remedy=f"set {match[1]} to text",
                )
            if is_credential_header(match[1]):
                self.hide(found)
            if is_address and match[0] != text.strip() and "://" not in found:
                self.hide(found)
                with self._lock:
                    self._parts |= {found}
            return found

        return _VARIABLE.sub(value, text)

    def hide(self, *texts: str) -> None:
        """Mask these texts from now on, and the forms in which they travel: encoded, and word by word."""
        forms = {form for text in texts for form in _forms(text) if len(form) >= _SHORTEST}
        with self._lock:
            self._hidden |= forms
            longest_first = sorted(self._hidden, key=len, reverse=True)
            self._patterns = tuple(re.compile(re.escape(form), re.IGNORECASE) for form in longest_first)

    def hide_login(self, user: str, password: str) -> None:
        """Mask a user's password, and both as HTTP's basic authentication sends them."""
        self.hide(password, base64.b64encode(f"{user}:{password}".encode()).decode())

    def mask(self, text: str) -> str:
        """*text* on one line, without any hidden text in whatever case, and with the credentials of addresses masked.

        What no document can hold (half a surrogate pair) becomes a question mark.
        """
        for pattern in self._patterns:
            text = pattern.sub(MASK, text)
        return " ".join(mask_text(text).encode("utf-8", "replace").decode().split())

    def mask_host(self, host: str) -> str:
        """*host* without what the environment put into it; it stays readable where the file states it."""
        for part in self._parts:
            if len(part) >= _SHORTEST:
                host = re.sub(re.escape(part), MASK, host, flags=re.IGNORECASE)
        return host


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # so does `os.environ` keep other bytes
        return False
    return True


def _forms(text: str) -> Iterable[str]:
    for plain in {text, unquote(text), *text.split()}:
        quoted = quote(plain, safe="")
        yield from (plain, quoted, quote_plus(plain), _ESCAPED.sub(lambda match: match[0].lower(), quoted))
        in_json = json.dumps(plain)[1:-1]
        yield from (
            in_json,
            json.dumps(plain, ensure_ascii=False)[1:-1],
            in_json.replace("/", "\\/"),
            plain.translate(_IN_HTML),
        )
