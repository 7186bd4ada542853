"""What becomes of memory that nobody uses any more.

How often Python looks for cycles: seldom, because a crawl makes few.

A page becomes some hundred tuples that live until the next part of links is written. With Python's
own thresholds every second page starts a search through all of them: a fifth of the time of
reading a page. Looked for after 100,000 new objects, cycles hold some 20 MB at the most.

What C code frees stays with the process: the library keeps a heap per thread and gives nothing
back but from its top. A node's grew by 2 MB a minute in an hour; told to, it gives back the rest.
Left to itself it also takes whatever was ever freed for small, up to 32 MB: the large tables of
dictionaries come to lie among small things then, and leave holes. A worker's heap grew from 35 MB
to 70 in twelve minutes, and stays below 42 where the border is fixed.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

_USUAL: Final = gc.get_threshold()
# Options of glibc's mallopt, and the size of what is given back at once.
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_ARENAS: Final = -8
_PIECE: Final = 2**20
_LARGE: Final = 2 * 2**20
_MOST_AT_THE_TOP: Final = 16 * 2**20


def search_later() -> None:
    """Not until `search_seldom` is called: while modules are loaded, which leaves some hundred
    objects to find, Python would look through all of them again and again for 40 ms."""
    gc.disable()


def search_seldom() -> None:
    """For the processes of a crawl; call it when everything is loaded."""
    gc.freeze()  # modules and classes stay: they need no looking at
    gc.set_threshold(100_000, 20, 50)
    gc.enable()


def search_all() -> None:
    """When a crawl has ended: what was left alone is looked at again, lest libraries that count
    their objects complain at the end of the process."""
    gc.unfreeze()
    gc.set_threshold(*_USUAL)
    gc.enable()


def hold_little() -> None:
    """For a process that has much in its hands, piece after piece: what C code frees goes back to
    the system at once, where the library would keep up to 32 MB of each kind. Call it first."""
    _set(((_MMAP_THRESHOLD, _PIECE), (_TRIM_THRESHOLD, _PIECE), (_ARENAS, 1)))


def keep_large_apart() -> None:
    """For the processes of a crawl: what is large is had from the system by itself, and goes back
    when it is freed. Call it first."""
    _set(((_MMAP_THRESHOLD, _LARGE), (_TRIM_THRESHOLD, _MOST_AT_THE_TOP)))


def give_back() -> None:
    """Let the system have what the C library holds and nobody uses. Takes some milliseconds."""
    with suppress(AttributeError, OSError, TypeError):  # only glibc has it; Windows: TypeError
        ctypes.CDLL(None).malloc_trim(0)


def _set(options: Iterable[tuple[int, int]]) -> None:
    with suppress(AttributeError, OSError, TypeError):  # only glibc has it; Windows: TypeError
        change = ctypes.CDLL(None).mallopt
        for option, value in options:
            change(option, value)
