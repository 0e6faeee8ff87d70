"""Writing to a terminal, a pipe or a file that may be gone: never a reason for another exit code.

JSON goes out as UTF-8 whatever the locale; text in the stream's encoding, with escapes for what that
cannot hold.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from gatekeeper.cli.outcome import Chunk, Output


class UnwritableError(Exception):
    """Standard output took no more; `closed` if its reader has gone, else the device failed."""

    def __init__(self, reason: str, *, closed: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.closed = closed


class Printer:
    """Standard output for one answer; `started` once a byte of it has gone out."""

    def __init__(self) -> None:
        self.started = False

    def show(self, answer: Output, *, as_utf8: bool) -> None:
        """Write all of *answer*, chunk by chunk as it comes. Raises UnwritableError."""
        if isinstance(answer, str):
            self._write(answer if not answer or answer.endswith("\n") else answer + "\n", as_utf8=as_utf8)
        elif isinstance(answer, bytes):
            self._write(answer, as_utf8=as_utf8)
        else:
            for chunk in answer:
                self._write(chunk, as_utf8=as_utf8)

    def _write(self, chunk: Chunk, *, as_utf8: bool) -> None:
        stream = sys.stdout
        if not chunk or stream is None:  # closed before the start: nobody listens
            return
        try:
            _write(stream, chunk, as_utf8=as_utf8)
        except BrokenPipeError:
            raise UnwritableError("its reader has gone", closed=True) from None
        except OSError as error:
            raise UnwritableError(error.strerror or str(error), closed=False) from None
        except ValueError:  # the stream object was closed
            raise UnwritableError("it is closed", closed=True) from None
        self.started = True


def say(text: str) -> None:
    """One or more lines for people, on standard error; nobody to read them is no trouble."""
    stream = sys.stderr
    if stream is None:
        return
    try:
        _write(stream, text if text.endswith("\n") else text + "\n", as_utf8=False)
    except (OSError, ValueError):
        return


_said: set[str] = set()


def say_once(text: str) -> None:
    """The same, unless this call of the program has said it before."""
    if text not in _said:
        _said.add(text)
        say(text)


def forget_what_was_said() -> None:
    """Another call begins."""
    _said.clear()


def _write(stream: TextIO, chunk: Chunk, *, as_utf8: bool) -> None:
    buffer = getattr(stream, "buffer", None)
    encoding = "utf-8" if as_utf8 else (stream.encoding or "utf-8")
    if isinstance(chunk, str):
        chunk = chunk.encode(encoding, "backslashreplace")
    if buffer is None:  # replaced by something that takes text only
        stream.write(chunk.decode(encoding, "backslashreplace"))
    else:
        stream.flush()
        buffer.write(chunk)
    stream.flush()
