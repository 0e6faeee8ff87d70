"""Put a file in the place of another in one step."""

from __future__ import annotations

import os
from contextlib import suppress


def replace_file(path: str, data: bytes, *, mode: int | None = None) -> None:
    """Whoever reads the file finds the old bytes or the new ones; a link stays one.

    Args:
        path: the file.
        data: its new bytes.
        mode: its permissions, whatever the umask says; None: as they are, and the file is there.

    Raises:
        OSError: it cannot be written; then it is as it was, and nothing is left beside it.
    """
    target = os.path.realpath(path)
    beside = f"{target}.{os.getpid()}.new"
    try:
        with suppress(FileNotFoundError):
            os.unlink(beside)  # of a process that was ended here and had the same number
        with open(beside, "xb") as file:
            file.write(data)
            os.fchmod(file.fileno(), os.stat(target).st_mode & 0o7777 if mode is None else mode)
        os.replace(beside, target)
    except OSError:
        with suppress(OSError):
            os.unlink(beside)
        raise
