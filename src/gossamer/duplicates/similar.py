"""Is the HTML of two pages at least so similar? The answer yes is a proof.

Similarity is that of Indel: 2 LCS / (length a + length b), where LCS is the length of the longest
common subsequence of bytes. To compute it takes 10 to 100 ms for two pages. So a common
subsequence is built instead, whose length is a lower bound:

    1. the common start and end
    2. of the rest, equal lines, aligned by their own LCS
    3. between those, equal tags with the text behind them, aligned in the same way
    4. between those, the LCS of the bytes that differ

If that is long enough, the pages are similar for certain. If it is not, it is exact for pages of
less than `_EXACT_BYTES` that come close: they are compared as a whole. Larger pages that only a
whole comparison would accept count as different. All of it takes 0.1 to 1 ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel, LCSseq

_EXACT_BYTES: Final = 131_072  # of the parts that differ, both pages together
# Times the bytes that may be lost: then the whole comparison may say yes. Of 1,289 pairs of manuals
# up to 1.5 it accepted 163 up to 1.2, and 11 of the others.
_NEARLY: Final = 1.2
_MAYBE: Final = 1.6  # the same for lines: then tags may say yes
_MAX_PIECES: Final = 6_000  # lines or tags of one page; their alignment needs 5 MB
_MAX_GAP_BYTES: Final = 20_000  # of both pages: 1 ms
_FEW_BYTES: Final = 1_000  # of both pages: comparing them takes less than splitting them
_SEPARATORS: Final = (b"\n", b"<")

ByteCounts = NDArray[np.int32]


def may_be_similar(length_a: int, length_b: int, at_least: float) -> bool:
    """Whether the lengths allow it: the LCS is at most the shorter one."""
    shorter = min(length_a, length_b)
    return 2 * shorter >= at_least * (length_a + length_b)


def similarity(a: bytes, b: bytes, at_least: float) -> float:
    """A lower bound of the similarity that is `at_least`; 0.0 where none was found."""
    if not may_be_similar(len(a), len(b), at_least):
        return 0.0
    if least_lost(byte_counts(a), byte_counts(b)) > most_lost(len(a), len(b), at_least):
        return 0.0
    return common_share(a, b, at_least)


def most_lost(length_a: int, length_b: int, at_least: float) -> int:
    """Bytes of both pages that need not be in a common subsequence."""
    return int((1 - at_least) * (length_a + length_b) + 1e-9)


def byte_counts(html: bytes) -> ByteCounts:
    """How often each byte stands in a page."""
    return np.bincount(np.frombuffer(html, np.uint8), minlength=256).astype(np.int32)


def least_lost(a: ByteCounts, b: ByteCounts) -> int:
    """Bytes that no common subsequence has: those that one page has more often than the other."""
    return int(np.abs(a - b).sum())


def common_share(a: bytes, b: bytes, at_least: float) -> float:
    """Do the same as `similarity` for pages whose lengths and byte counts allow it."""
    if a == b:
        return 1.0
    most = most_lost(len(a), len(b), at_least)
    start = _common_start(a, b)
    end = _common_end(a[start:], b[start:])
    rest_a, rest_b = a[start : len(a) - end], b[start : len(b) - end]
    lost = _lost_bytes(rest_a, rest_b, _MAYBE * most, _SEPARATORS)
    if most < lost <= _MAYBE * most:  # lines were aligned badly, maybe
        lost = min(lost, _lost_bytes(rest_a, rest_b, _NEARLY * most, _SEPARATORS[1:]))
    is_close = most < lost <= _NEARLY * most
    if is_close and len(rest_a) + len(rest_b) <= _EXACT_BYTES:
        lost = Indel.distance(rest_a, rest_b, score_cutoff=most)
    return 1 - lost / (len(a) + len(b)) if lost <= most else 0.0


def _lost_bytes(a: bytes, b: bytes, most: float, separators: Sequence[bytes]) -> int:
    """Bytes outside a common subsequence of both, counted in both; more than `most` if it is too
    short, whatever the number."""
    size = len(a) + len(b)
    if not a or not b:
        return size
    if size <= _FEW_BYTES or not separators:
        return Indel.distance(a, b) if size <= _MAX_GAP_BYTES else size
    separator, finer = separators[0], separators[1:]
    pieces_a, pieces_b = a.split(separator), b.split(separator)
    if max(len(pieces_a), len(pieces_b)) > _MAX_PIECES:
        return size
    lost = 0
    for part_a, part_b in _gaps(pieces_a, pieces_b, separator):
        lost += _lost_bytes(part_a, part_b, most - lost, finer)
        if lost > most:
            break
    return lost


def _gaps(
    pieces_a: Sequence[bytes], pieces_b: Sequence[bytes], separator: bytes
) -> Iterator[tuple[bytes, bytes]]:
    """What stands between pieces that are aligned, in a and in b. Each piece has its separator
    before it; so has the first, in both, which changes nothing."""
    numbers: dict[bytes, int] = {}
    a = [numbers.setdefault(piece, len(numbers)) for piece in pieces_a]
    b = [numbers.setdefault(piece, len(numbers)) for piece in pieces_b]
    end_a = end_b = 0  # of the last aligned pieces
    for block in LCSseq.editops(a, b).as_matching_blocks():
        if end_a < block.a or end_b < block.b:
            yield (
                separator.join((b"", *pieces_a[end_a : block.a])),
                separator.join((b"", *pieces_b[end_b : block.b])),
            )
        end_a, end_b = block.a + block.size, block.b + block.size


def _common_start(a: bytes, b: bytes) -> int:
    """The number of equal bytes at the start."""
    count = min(len(a), len(b))
    differs = np.frombuffer(a, np.uint8, count) != np.frombuffer(b, np.uint8, count)
    first = int(differs.argmax()) if count else 0
    return first if count and differs[first] else count


def _common_end(a: bytes, b: bytes) -> int:
    count = min(len(a), len(b))
    if not count:
        return 0
    differs = (
        np.frombuffer(a, np.uint8)[len(a) - count :] != np.frombuffer(b, np.uint8)[len(b) - count :]
    )[::-1]
    first = int(differs.argmax())
    return first if differs[first] else count
