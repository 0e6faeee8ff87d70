"""Rules of sources: addresses, headers, credentials that do not stand in a file, time limits.

A value that may hold a credential is never printed, not even the refused one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from gatekeeper.documents.problem import Problem
from gatekeeper.evidence.collection import SourceType
from gatekeeper.evidence.collection_file.bounds import (
    LONGEST_TIMEOUT_SECONDS,
    MOST_BYTES,
    ONE_DAY_SECONDS,
    bound,
    is_label,
    text,
    variables,
)
from gatekeeper.evidence.collection_file.typed import members, typed_sources
from gatekeeper.evidence.secrets import blanked, is_credential_header, names_variable
from gatekeeper.model.document import escape_pointer
from gatekeeper.model.masking import MASK, mask_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gatekeeper.evidence.collection_file.typed import TypedPart

    Sound = Callable[[str], bool]

_WEB = re.compile(r"[Hh][Tt][Tt][Pp][Ss]?://[^\s\0-\x1f\x7f]+")
_DATABASE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:\+[A-Za-z0-9_]+)?://[^\0-\x1f\x7f]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")
_SCHEME = re.compile(r"(?:basic|bearer|digest|token|apikey)\s+(?=\S)", re.IGNORECASE)
_CREDENTIAL_PARAMETER = re.compile(r"pass|pwd|^sig", re.IGNORECASE)
_HIDDEN_PASSWORD = re.compile(r"\b(?:pwd|password)\s*=", re.IGNORECASE)  # in `odbc_connect` and its like
_PATHS = frozenset({"sslkey", "ssl_key", "passfile"})  # parameters that name a file, not what is in it

_ENVIRONMENT = "put it into an environment variable and state ${NAME} here"


def source_problems(document: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    """Every rule of sources that *document* breaks."""
    standard_input: list[str] = []
    for part in typed_sources(document):
        if part.type is SourceType.FILE:
            yield from text(part.content, part.pointer, "path")
            yield from _path(part, "path")
            standard_input += [part.pointer] if part.content.get("path") == "-" else []
            continue
        yield from _address(part, "url")
        yield from _times(part)
        yield from _targets(part)
        if part.type is SourceType.SQL:
            continue
        yield from _address(part, "proxy_url")
        yield from _headers(part)
        for key in ("ca_file", "cert_file", "key_file"):
            yield from text(part.content, part.pointer, key)
            yield from _path(part, key)
        if sound(part.pointer) and "key_file" in part.content and "cert_file" not in part.content:
            message = "a key without its certificate; allowed: cert_file, or cert_file and key_file"
            yield Problem("collection.key_without_certificate", f"{part.pointer}/key_file", message)
    for pointer in standard_input[1:]:
        message = f"standard input is read by {standard_input[0]} already; allowed: one source with the path -"
        yield Problem("collection.standard_input_twice", f"{pointer}/path", message)


def _path(part: TypedPart, key: str) -> Iterator[Problem]:
    yield from variables(part.content, part.pointer, key, replaced=False)
    path = part.content.get(key)
    if isinstance(path, str) and "\0" in path:
        message = "found a null character, which no path can hold; allowed: the path of a file"
        yield Problem("collection.bad_path", f"{part.pointer}/{key}", message)


def _targets(part: TypedPart) -> Iterator[Problem]:
    labels = part.content.get("target_labels")
    if not isinstance(labels, list):
        return
    pointer = f"{part.pointer}/target_labels"
    if not labels:
        yield Problem("collection.bad_label", pointer, "found no label; allowed: one or more")
    for index, name in enumerate(labels):
        if isinstance(name, str) and not is_label(name):
            allowed = "letters, digits and _, no digit first, not __name__"
            yield Problem("collection.bad_label", f"{pointer}/{index}", f"no name of a label; allowed: {allowed}")


def _times(part: TypedPart) -> Iterator[Problem]:
    for key in ("connect_timeout_seconds", "timeout_seconds"):
        yield from bound(part.content, part.pointer, key, most=LONGEST_TIMEOUT_SECONDS)
    yield from bound(part.content, part.pointer, "scrape_interval_seconds", most=ONE_DAY_SECONDS)
    yield from bound(part.content, part.pointer, "max_bytes", least=1, most=MOST_BYTES)


def _address(part: TypedPart, key: str) -> Iterator[Problem]:
    url = part.content.get(key)
    if not isinstance(url, str):
        return
    pointer = f"{part.pointer}/{key}"
    is_database = part.type is SourceType.SQL
    found = [*text(part.content, part.pointer, key), *variables(part.content, part.pointer, key)]
    if found:
        yield from found
    elif not url.startswith("${") and not (_DATABASE if is_database else _WEB).fullmatch(url):
        allowed = "DIALECT://…, such as postgresql+psycopg://…" if is_database else "http://… or https://…"
        yield Problem("collection.bad_url", pointer, f"no such address (not shown); allowed: {allowed}, or ${{NAME}}")
    elif not is_database and _has_port_0(url):
        yield Problem("collection.bad_url", pointer, "the address (not shown) has the port 0; allowed: 1 to 65535")
    elif _holds_credential(url, is_database=is_database):
        message = "the address holds a credential (not shown); allowed: an address without"
        yield Problem("collection.literal_credential", pointer, message, _ENVIRONMENT)


def _has_port_0(url: str) -> bool:
    authority = re.split("[/?#]", blanked(url, "1").partition("://")[2], maxsplit=1)[0]
    return re.search(r":0+$", authority) is not None


def _holds_credential(url: str, *, is_database: bool) -> bool:
    user, password = _login(url)
    literal = password if password or is_database else user  # a user without password is a token to a web server
    if blanked(literal, ""):
        return True
    return any(_is_credential(*pair.partition("=")[::2]) for pair in re.split("[?#&;]", url)[1:])


def _is_credential(name: str, value: str) -> bool:
    plain = unquote_plus(name)
    if not blanked(value, "") or plain.casefold() in _PATHS:
        return False
    return (
        is_credential_header(plain)
        or _CREDENTIAL_PARAMETER.search(plain) is not None
        or _HIDDEN_PASSWORD.search(unquote_plus(value)) is not None
    )


def _login(url: str) -> tuple[str, str]:
    """User and password in an address: what `gatekeeper.model.masking` would hide."""
    plain = blanked(url, "0")  # a variable may be a port
    plain = "a" + plain[1:]  # or the scheme
    start, found, tail = mask_url(plain, keep_query=True).partition(f"{MASK}@")
    if not found:
        return "", ""
    user, _, password = url[len(start) : len(url) - len(tail) - 1].partition(":")
    return user, password


def _headers(part: TypedPart) -> Iterator[Problem]:
    for name, value in members(part.content, "headers").items():
        pointer = f"{part.pointer}/headers/{escape_pointer(name)}"
        if not _HEADER.fullmatch(name):
            message = "no name of a header; allowed: letters, digits and !#$%&'*+.^_`|~-"
            yield Problem("collection.bad_header", pointer, message, at_key=True)
        if not isinstance(value, str):
            continue
        yield from variables(members(part.content, "headers"), f"{part.pointer}/headers", name)
        if not _HEADER_VALUE.fullmatch(value):
            message = "the value (not shown) cannot be sent; allowed: ASCII on one line, no space at its ends"
            yield Problem("collection.bad_header", pointer, message)
        elif _is_literal_credential(name, value):
            message = "the header holds a credential (not shown); allowed: a value from the environment"
            yield Problem("collection.literal_credential", pointer, message, _ENVIRONMENT)


def _is_literal_credential(name: str, value: str) -> bool:
    scheme = _SCHEME.match(value)
    if scheme is None and not is_credential_header(name):
        return False
    if not names_variable(value):
        return bool(value)
    stated = value[scheme.end() :] if scheme is not None else value
    return re.search(r"\w", blanked(stated, "")) is not None
