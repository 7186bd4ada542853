"""Numbers that may exceed the memory: few are kept in memory, many in a file.

A spool is filled once and then read from start to end, any number of times. The folder, and its
deletion, belong to the caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

# 8 MB of memory, and a multiple of that for sorting: the links of a crawl of 10,000 pages, and the
# piece in which a file is read.
CHUNK: Final = 1_000_000

SpooledNumbers = NDArray[np.int64]


class Spool:
    """64-bit integers in the order in which they were added."""

    def __init__(self, folder: Path, name: str, chunk: int = CHUNK) -> None:
        self._path = folder / f"{name}.i64"
        self._path.unlink(missing_ok=True)
        self._chunk = chunk
        self._kept: list[SpooledNumbers] = []
        self._kept_len = 0
        self._filed = 0

    def __len__(self) -> int:
        return self._filed + self._kept_len

    def add(self, numbers: SpooledNumbers) -> None:
        """Append; everything beyond a chunk goes to the file."""
        self._kept.append(numbers)
        self._kept_len += len(numbers)
        if self._kept_len > self._chunk:
            self._file_away()

    def chunks(self) -> Iterator[SpooledNumbers]:
        """All numbers in pieces of about a chunk; a spool without a file has one piece."""
        for start in range(0, self._filed, self._chunk):
            count = min(self._chunk, self._filed - start)
            yield np.fromfile(self._path, np.int64, count, offset=8 * start)
        if len(self._kept) > 1:
            self._kept = [np.concatenate(self._kept)]
        yield from self._kept

    def drop(self) -> None:
        """Drop the numbers, and free disk and memory."""
        self._path.unlink(missing_ok=True)
        self._kept, self._kept_len, self._filed = [], 0, 0

    def _file_away(self) -> None:
        with self._path.open("ab") as file:
            for numbers in self._kept:
                file.write(np.ascontiguousarray(numbers).data)
        self._filed += self._kept_len
        self._kept, self._kept_len = [], 0
