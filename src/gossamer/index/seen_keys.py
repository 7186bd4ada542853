"""A Bloom filter of the keys in an index that was empty when it was opened.

Every entry replaces an older one of its key. A deletion in tantivy costs 10 microseconds, including
the work of the next commit, and most pages have no older entry. A filter recognises keys that are
certainly new: a key sets two bits, and a key with an unset bit was never added. It takes 1 MB for
any number of keys; of a million new keys, one in twenty is taken for an old one.
"""

from __future__ import annotations

from typing import Final

_BITS: Final = 2**23
_MASK: Final = _BITS - 1


class SeenKeys:
    """Keys that were added, and by false positives some others."""

    def __init__(self) -> None:
        self._bits = bytearray(_BITS // 8)

    def note(self, key: bytes) -> bool:
        """Add a key. Return whether it may have been added before."""
        bits, number = self._bits, hash(key)
        first, second = number & _MASK, number >> 32 & _MASK
        one, other = 1 << (first & 7), 1 << (second & 7)
        first >>= 3
        second >>= 3
        if bits[first] & one and bits[second] & other:
            return True
        bits[first] |= one
        bits[second] |= other
        return False
