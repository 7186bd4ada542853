"""Numbers by which pages with nearly the same HTML are found.

A sketch is the length of the HTML and 32 numbers of 32 bits. Two pages are compared when several of
the numbers are equal at the same position (`judging.py`).

The numbers are a MinHash with one permutation. The 24 bytes from every `<` and comma on are hashed.
The hashes fall into 128 bins by their highest bits; of each bin the smallest counts. An empty bin
takes the value of the next one. Four neighbouring bins make one number. If two pages share a
fraction J of these pieces, each number is equal with probability J^4. Of real pages of which 95 %
of the HTML is the same, nine or more are equal in 99 of 100 pairs.

Only 16 KB of a page are read, because the whole would take twice the time: pages of more than 20 KB
without the first 4 KB, which are the same on many pages of a site. Changes of 5 % of a page can
hide it only if they all lie in those 16 KB, so only pages of more than 130 KB are ever missed for
this reason.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

BANDS: Final = 32
SKETCH_BYTES: Final = 4 + 4 * BANDS
_ROWS: Final = 4  # bins of one number
_BINS: Final = BANDS * _ROWS
_GRAM: Final = 24
_WINDOW: Final = 16_384
_HEAD: Final = 4_096
_FEW: Final = 8  # tags and commas; a page with fewer is read at every byte
_LEAST: Final = 64  # bytes; shorter pages have no sketch

_U64: Final = np.dtype("<u8")
_U8: Final = np.dtype(np.uint8)
_MIX_1: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_2: Final = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX_3: Final = np.uint64(0x165667B19E3779F9)
_HALF: Final = np.uint64(32)
_MASK: Final = np.uint8(0xEF)
_COMMA: Final = np.uint8(ord(","))  # also `<` without the bit that the mask clears
_BIN_STARTS: Final = np.arange(_BINS, dtype=np.uint64) << np.uint64(64 - 7)
_ROW_MIXES: Final = np.array(
    [0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3], np.uint64
)


def sketch_of(html: bytes) -> bytes:
    """The sketch of a page; empty for one that is too short to be compared by parts."""
    if len(html) < _LEAST:
        return b""
    hashes = _gram_hashes(html)
    hashes.sort()
    smallest = hashes.take(hashes.searchsorted(_BIN_STARTS), mode="clip")
    mixed = smallest.reshape(BANDS, _ROWS) * _ROW_MIXES
    bands: NDArray[np.uint32] = (mixed.sum(1) >> _HALF).astype("<u4")
    return len(html).to_bytes(4, "little") + bands.tobytes()


def length_in(sketch: bytes) -> int:
    """The length of the HTML of a sketch."""
    return int.from_bytes(sketch[:4], "little")


def bands_in(sketch: bytes) -> NDArray[np.uint32]:
    """The 32 numbers of a sketch."""
    return np.frombuffer(sketch, "<u4", BANDS, 4)


def _gram_hashes(html: bytes) -> NDArray[np.uint64]:
    """Hashes of 24 bytes: from every `<` and comma on, or at every byte if there are few."""
    start = max(0, min(_HEAD, len(html) - _WINDOW))  # like lengths have like starts
    count = min(len(html) - start, _WINDOW) - _GRAM + 1
    words: NDArray[np.uint64] = np.ndarray((count + 16,), _U64, html, start, (1,))
    at = ((np.ndarray((count,), _U8, html, start) & _MASK) == _COMMA).nonzero()[0]
    if len(at) < _FEW:
        at = np.arange(count)
    hashes: NDArray[np.uint64] = words[at] * _MIX_1
    at += 8
    hashes ^= words[at] * _MIX_2
    at += 8
    hashes ^= words[at] * _MIX_3
    hashes ^= hashes >> _HALF
    hashes *= _MIX_1
    return hashes
