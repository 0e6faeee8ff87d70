"""Processes that write to one log, released at one moment."""

from __future__ import annotations

import os
from collections.abc import Callable


def fork_all(writers: int, body: Callable[[int, int], None]) -> list[int]:
    """Start them; how each of them ended.

    Args:
        body: takes a writer's number, and a descriptor on which to wait for its end of file.
    """
    reading, writing = os.pipe()
    children = []
    for number in range(writers):
        child = os.fork()
        if child == 0:
            code = 3
            try:
                os.close(writing)
                body(number, reading)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    os.close(reading)
    os.close(writing)
    return [os.waitpid(child, 0)[1] for child in children]
