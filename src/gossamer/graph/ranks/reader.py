"""Look up the ranks of URLs fast, for ordering a page of hits.

Two arrays are memory-mapped, not read: 200 URLs cost some tens of disk pages, for a graph of any
size. New ranks are used from the next lookup on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.base.files import stamp_of
from gossamer.errors import CorruptFile
from gossamer.graph.manifest import REBUILD
from gossamer.graph.ranks.store import NAME, Hashes, find_info, hash_of

_ATTEMPTS: Final = 3  # a file may have been replaced since its name was read


class RankReader:
    """The newest ranks of a graph's folder; without any, every page is unknown."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._named = str(folder / NAME)
        self._seen: tuple[int, int] | None = None
        self._keys: Hashes = np.empty(0, np.uint64)
        self._values: NDArray[np.float64] = np.empty(0)

    @property
    def pages(self) -> int:
        """The number of pages with a rank. Raises CorruptFile."""
        self._refresh()
        return len(self._keys)

    def of(self, urls: Sequence[str]) -> list[float]:
        """For each URL its PageRank times the number of pages: 1.0 is average, 0.0 unknown.

        Raises CorruptFile.
        """
        wanted = np.fromiter(map(hash_of, urls), np.uint64, len(urls))
        return [float(value) for value in self.of_keys(wanted)]

    def of_keys(self, keys: Hashes) -> NDArray[np.float64]:
        """The same for URLs of which only the hashes are known."""
        self._refresh()
        if not len(self._keys):
            return np.zeros(len(keys))
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[places] == keys, self._values[places], 0.0)

    def _refresh(self) -> None:
        for attempt in range(_ATTEMPTS):
            seen = stamp_of(self._named)
            if seen == self._seen:
                return
            try:
                self._open()
                self._seen = seen
            except FileNotFoundError as error:
                if attempt == _ATTEMPTS - 1:
                    path = Path(error.filename)
                    found = f"ranks.json names this file, but it is missing; {REBUILD}"
                    raise CorruptFile(path, 0, found) from None

    def _open(self) -> None:
        info = find_info(self._folder)
        if info is None:
            self._keys, self._values = np.empty(0, np.uint64), np.empty(0)
            return
        keys = _mapped(self._folder / info.keys_file, np.uint64)
        values = _mapped(self._folder / info.values_file, np.float64)
        if len(keys) != len(values):
            path = self._folder / info.values_file
            raise CorruptFile(path, 0, f"{len(values)} ranks for {len(keys)} pages; {REBUILD}")
        self._keys, self._values = keys, values


def _mapped(path: Path, kind: Any) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise
    except (ValueError, EOFError, OSError):
        raise CorruptFile(path, 0, f"the array of ranks is incomplete; {REBUILD}") from None
    if array.dtype != kind or array.ndim != 1:
        raise CorruptFile(path, 0, f"not an array of ranks ({array.dtype}); {REBUILD}")
    return array
