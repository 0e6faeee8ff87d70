"""Canonical JSON (RFC 8785) and digests: the one place where values become bytes.

`canonical_bytes` is a fast encoder for what I-JSON allows. A property test holds it equal to the
library `rfc8785`, which `canonical_bytes_reference` calls.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from json.encoder import encode_basestring

from gatekeeper.errors import CanonicalError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeGuard

MAX_SAFE_INTEGER = 2**53 - 1
"""Largest integer that every JSON reader keeps exactly (I-JSON, RFC 7493)."""

_UNSAFE_DOUBLE = 2.0**53
_FIRST_WITH_EXPONENT = 1e21
_LARGEST_DOUBLE = 1.7976931348623157e308

GENESIS_DIGEST = "sha256:" + "0" * 64
"""`prev` of the first line of a log."""

_REMEDY = "write numbers as finite doubles (integers up to ±(2^53-1)) and text as valid Unicode"


def canonical_bytes(value: object) -> bytes:
    """Encode a JSON value as RFC 8785 bytes: sorted keys, no spaces, shortest numbers, UTF-8.

    Raises:
        CanonicalError: NaN or infinity, an integer beyond ±(2^53-1), a lone surrogate, a key that is
            not text, or a value that is not JSON.
    """
    parts: list[str] = []
    try:
        _encode(value, parts.append)
        return "".join(parts).encode("utf-8")
    except UnicodeEncodeError as error:
        raise CanonicalError(f"text holds a lone surrogate: {error.object[error.start]!r}", remedy=_REMEDY) from None
    except RecursionError:
        raise CanonicalError("value is nested too deeply", remedy="flatten the document") from None


def encoder(*, is_bulk: bool) -> Callable[[object], bytes]:
    """`canonical_bytes`, or for a process that encodes so often that it repays an import, a quicker way to the same."""
    if not is_bulk:
        return canonical_bytes
    from gatekeeper.model.canonical_bulk import bulk_canonical_bytes

    return bulk_canonical_bytes


def canonical_bytes_reference(value: object) -> bytes:
    """The same bytes by the library `rfc8785`: slow, used by tests and by nobody in a check."""
    import rfc8785

    return rfc8785.dumps(value)  # type: ignore[arg-type]


def digest_bytes(data: bytes) -> str:
    """`sha256:` and the lower-case hex SHA-256 of *data*."""
    return "sha256:" + sha256(data).hexdigest()


def digest(value: object) -> str:
    """Digest of a JSON value: SHA-256 over its RFC 8785 bytes."""
    return digest_bytes(canonical_bytes(value))


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether *value* is a number that its canonical text gives back; a boolean is none.

    A double from 2^53 to below 1e21 is none either: its canonical text is an integer without an
    exponent, which is beyond what I-JSON keeps and is refused when it is read again.
    """
    if isinstance(value, float):
        size = abs(value)
        return size < _UNSAFE_DOUBLE or _FIRST_WITH_EXPONENT <= size <= _LARGEST_DOUBLE
    return isinstance(value, int) and value is not True and value is not False and abs(value) <= MAX_SAFE_INTEGER


def number_text(number: float) -> str:
    """A finite double as ECMAScript writes it (RFC 8785, 3.2.2.3): `1`, `0.002`, `1e-7`, `1e+21`."""
    text = repr(number)
    if "e" not in text:
        return text.removesuffix(".0")
    sign = "-" if text[0] == "-" else ""
    mantissa, _, exponent_text = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    point = len(whole) + int(exponent_text)  # the decimal point stands after this many digits
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    exponent = point - 1
    fraction_part = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction_part}e{'+' if exponent > 0 else '-'}{abs(exponent)}"


def _encode(value: object, emit: Callable[[str], None]) -> None:
    if isinstance(value, dict):
        _encode_object(value, emit)
    elif isinstance(value, (list, tuple)):
        separator = "["
        for item in value:
            emit(separator)
            _encode(item, emit)
            separator = ","
        emit("[]" if separator == "[" else "]")
    else:
        emit(_scalar_text(value))


def _scalar_text(value: object) -> str:
    kind = type(value)
    if kind is str:
        return encode_basestring(value)  # type: ignore[arg-type]
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is float:
        return _double_text(value)  # type: ignore[arg-type]
    if kind is int:
        if not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:  # type: ignore[operator]
            raise CanonicalError(f"integer beyond ±(2^53-1): {str(value)[:40]}", remedy=_REMEDY)
        return str(value)
    if isinstance(value, str):  # StrEnum
        return encode_basestring(str(value))
    raise CanonicalError(f"not a JSON value: {kind.__name__}", remedy=_REMEDY)


def _double_text(number: float) -> str:
    if number - number != 0.0:  # NaN and the infinities
        raise CanonicalError(f"not a finite number: {number!r}", remedy=_REMEDY)
    return "0" if number == 0.0 else number_text(number)


def _encode_object(members: dict[object, object], emit: Callable[[str], None]) -> None:
    for key, lead in _shape(tuple(members)):
        value = members[key]
        if type(value) is str:  # a third of all values of an event: not worth a call
            emit(lead + encode_basestring(value))
        elif value is None:
            emit(lead + "null")
        elif isinstance(value, (dict, list, tuple)):
            emit(lead)
            _encode(value, emit)
        else:
            emit(lead + _scalar_text(value))
    emit("}" if members else "{}")


@lru_cache(maxsize=512)  # the findings of an event all have the same keys
def _shape(keys: tuple[object, ...]) -> tuple[tuple[str, str], ...]:
    """The keys of an object in the order of the RFC, each with all that stands before its value."""
    try:
        ascii_keys = all(map(str.isascii, keys))  # type: ignore[arg-type]
    except TypeError:
        raise CanonicalError("an object has a key that is not text", remedy=_REMEDY) from None
    # RFC 8785 sorts by UTF-16 code units; that order and Python's differ beyond the BMP only
    ordered: list[str] = sorted(keys) if ascii_keys else sorted(keys, key=_utf16_key)  # type: ignore[arg-type]
    leads = ["{", *("," for _ in ordered[1:])]
    return tuple((key, f"{lead}{encode_basestring(key)}:") for lead, key in zip(leads, ordered, strict=False))


def _utf16_key(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")
