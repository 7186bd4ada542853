"""Is the HTML of two pages at least so similar? The answer yes is a proof.

Similarity is that of Indel: 2 LCS / (length a + length b), where LCS is the length of the longest
common subsequence of bytes. To compute it takes 10 to 100 ms for two pages. So a common
subsequence is built instead, whose length is a lower bound:

    1. the common start and end
    2. of the rest, equal tags with the text behind them, aligned by their own LCS
    3. between those, the LCS of the bytes that differ

If that is long enough, the pages are similar for certain. If it is not, it is exact for pages of
less than `_EXACT_BYTES` that come close: they are compared as a whole. Larger pages that only a
whole comparison would accept count as different. All of it takes 0.1 to 1 ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from rapidfuzz.distance import Indel, LCSseq

_EXACT_BYTES: Final = 131_072  # of the parts that differ, both pages together
_NEARLY: Final = 1.5  # times the bytes that may be lost: then the whole comparison may say yes
_MAX_PIECES: Final = 6_000  # tags of one page; their alignment needs 5 MB
_MAX_GAP_BYTES: Final = 20_000  # of both pages: 1 ms


def may_be_similar(length_a: int, length_b: int, at_least: float) -> bool:
    """Whether the lengths allow it: the LCS is at most the shorter one."""
    shorter = min(length_a, length_b)
    return 2 * shorter >= at_least * (length_a + length_b)


def similarity(a: bytes, b: bytes, at_least: float) -> float:
    """A lower bound of the similarity that is `at_least`; 0.0 where none was found."""
    total = len(a) + len(b)
    if a == b:
        return 1.0
    if not may_be_similar(len(a), len(b), at_least):
        return 0.0
    most_lost = int((1 - at_least) * total + 1e-9)
    start = _common_start(a, b)
    end = _common_end(a[start:], b[start:])
    rest_a, rest_b = a[start : len(a) - end], b[start : len(b) - end]
    if _least_lost(rest_a, rest_b) > most_lost:
        return 0.0
    lost = _lost_bytes(rest_a, rest_b, most_lost)
    is_close = most_lost < lost <= _NEARLY * most_lost
    if is_close and len(rest_a) + len(rest_b) <= _EXACT_BYTES:
        lost = Indel.distance(rest_a, rest_b, score_cutoff=most_lost)
    return 1 - lost / total if lost <= most_lost else 0.0


def _least_lost(a: bytes, b: bytes) -> int:
    """Bytes that no common subsequence has: those that one page has more often than the other."""
    counts = np.bincount(np.frombuffer(a, np.uint8), minlength=256)
    counts -= np.bincount(np.frombuffer(b, np.uint8), minlength=256)
    return int(np.abs(counts).sum())


def _lost_bytes(a: bytes, b: bytes, most: int) -> int:
    """Bytes outside a common subsequence of both, counted in both; more than `most` if it is too
    short, whatever the number."""
    if not a or not b:
        return len(a) + len(b)
    pieces_a, pieces_b = a.split(b"<"), b.split(b"<")
    if max(len(pieces_a), len(pieces_b)) > _MAX_PIECES:
        return int(_NEARLY * most) + 1
    lost = 0
    for part_a, part_b in _gaps(pieces_a, pieces_b):
        if not part_a or not part_b or len(part_a) + len(part_b) > _MAX_GAP_BYTES:
            lost += len(part_a) + len(part_b)
        else:
            lost += Indel.distance(part_a, part_b)
        if lost > _NEARLY * most:
            break
    return lost


def _gaps(pieces_a: Sequence[bytes], pieces_b: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """What stands between pieces that are aligned, in a and in b. Each piece has its `<` again; so
    has the first, in both, which changes nothing."""
    numbers: dict[bytes, int] = {}
    a = [numbers.setdefault(piece, len(numbers)) for piece in pieces_a]
    b = [numbers.setdefault(piece, len(numbers)) for piece in pieces_b]
    end_a = end_b = 0  # of the last aligned pieces
    for block in LCSseq.editops(a, b).as_matching_blocks():
        if end_a < block.a or end_b < block.b:
            yield (
                b"".join(b"<" + piece for piece in pieces_a[end_a : block.a]),
                b"".join(b"<" + piece for piece in pieces_b[end_b : block.b]),
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
