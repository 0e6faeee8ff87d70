"""Find bytes in a block: by the C library, which is several times faster at it than Python's own search."""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@cache
def _memmem() -> Any | None:
    """`memmem` of the C library; None where there is none."""
    try:
        import ctypes

        function = ctypes.CDLL(None).memmem
    except (ImportError, OSError, AttributeError):
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return function


class Finder:
    """Where one needle stands in a block, for a reader that goes through it from its beginning."""

    def __init__(self, data: bytes | bytearray, begin: int, end: int, needle: bytes) -> None:
        self._data, self._end, self._needle = data, end, needle
        self._address, self._memmem, self._pin = 0, None, None
        if isinstance(data, bytearray):
            self._memmem = _memmem()
        if self._memmem is not None:
            import ctypes

            self._pin = ctypes.c_char.from_buffer(data)  # as long as it is there, the bytes stay where they are
            self._address = ctypes.addressof(self._pin)
        self.next = self._find(begin)

    def is_within(self, position: int, stop: int) -> bool:
        """Whether the needle begins from *position* to before *stop*; positions only rise."""
        if 0 <= self.next < position:
            self.next = self._find(position)
        return position <= self.next < stop

    def _find(self, position: int) -> int:
        if self._memmem is None:
            return self._data.find(self._needle, position, self._end)
        found = self._memmem(self._address + position, self._end - position, self._needle, len(self._needle))
        return -1 if found is None else int(found) - self._address
