"""The library that writes Parquet; nothing else of gatekeeper imports it."""

from __future__ import annotations

from gatekeeper.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def parquet_library() -> Any:
    """`pyarrow`, with `pyarrow.parquet`. Raises UsageError (64) where the extra is not installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise UsageError(
            "Parquet files need the library pyarrow, which is not installed",
            remedy="python -m pip install 'pyarrow>=17'",
        ) from None
    assert pyarrow.parquet is pa.parquet
    return pa
