"""Tune garbage collection and the memory allocator.

Python searches for reference cycles rarely here, because a crawl makes few. A page becomes some
hundred tuples that live until the next part of links is written. With Python's own thresholds every
second page starts a search through all of them: a fifth of the time of reading a page. With a
search after 100,000 new objects, cycles hold at most about 20 MB.

The C library keeps freed memory: it has a heap per thread and returns memory only from its top. A
node's heap grew by 2 MB a minute in an hour; on request the library returns the rest. By default it
also raises its limit for small blocks to the largest block ever freed, up to 32 MB: then large
dictionary tables are placed among small blocks and leave holes. A worker's heap grew from 35 MB to
70 in twelve minutes, and stays below 42 with a fixed limit.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

_USUAL: Final = gc.get_threshold()
# Options of glibc's mallopt, and the size above which memory is returned at once.
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_ARENAS: Final = -8
_PIECE: Final = 2**20
_LARGE: Final = 2 * 2**20
_MOST_AT_THE_TOP: Final = 16 * 2**20


def search_later() -> None:
    """Stop searching for cycles until `search_seldom` is called. While modules are loaded, which
    leaves some hundred objects to find, repeated searches would take 40 ms.
    """
    gc.disable()


def search_seldom() -> None:
    """Search rarely. For the processes of a crawl; call it when everything is loaded."""
    gc.freeze()  # modules and classes stay, so they are not searched
    gc.set_threshold(100_000, 20, 50)
    gc.enable()


def search_all() -> None:
    """Search everything again after a crawl has ended. Otherwise libraries that count their objects
    complain at the end of the process.
    """
    gc.unfreeze()
    gc.set_threshold(*_USUAL)
    gc.enable()


def return_freed_memory() -> None:
    """For a process that handles much data, piece by piece: return freed memory to the system at
    once, where the C library would keep up to 32 MB of each kind. Call it first.
    """
    _set(((_MMAP_THRESHOLD, _PIECE), (_TRIM_THRESHOLD, _PIECE), (_ARENAS, 1)))


def allocate_large_separately() -> None:
    """For the processes of a crawl: allocate large blocks separately from the system, so that they
    are returned when freed. Call it first.
    """
    _set(((_MMAP_THRESHOLD, _LARGE), (_TRIM_THRESHOLD, _MOST_AT_THE_TOP)))


def give_back() -> None:
    """Return unused memory of the C library to the system. Takes some milliseconds."""
    with suppress(AttributeError, OSError, TypeError):  # only glibc has it; Windows: TypeError
        ctypes.CDLL(None).malloc_trim(0)


def _set(options: Iterable[tuple[int, int]]) -> None:
    with suppress(AttributeError, OSError, TypeError):  # only glibc has it; Windows: TypeError
        change = ctypes.CDLL(None).mallopt
        for option, value in options:
            change(option, value)
