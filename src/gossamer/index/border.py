"""The border to tantivy: its errors end here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gossamer.errors import CorruptFile
from gossamer.index.folder import REBUILD


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say in our words that the index in `path` cannot be read.

    A panic of the library is no Exception, and its class has no name that can be imported.
    """
    try:
        yield
    except (ValueError, OSError, RuntimeError) as error:
        raise CorruptFile(path, 0, f"{str(error).rstrip('.')}; {REBUILD}") from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise CorruptFile(path, 0, f"the index is damaged ({error}); {REBUILD}") from None
