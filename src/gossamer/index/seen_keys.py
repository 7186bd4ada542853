"""Which keys may be in an index that was empty when it was opened?

Every entry takes the place of an older one of its key, and to ask tantivy to delete that costs 10
microseconds, with what the next commit makes of it; most pages have none. What is certainly new is
told by a filter of bits: a key sets two of them, and one that finds a bit unset was never noted. It
takes 1 MB, however many keys there are; of a million, one in twenty is taken for an old one.
"""

from __future__ import annotations

from typing import Final

_BITS: Final = 2**23
_MASK: Final = _BITS - 1


class SeenKeys:
    """Keys that were noted, and by mistake some others."""

    def __init__(self) -> None:
        self._bits = bytearray(_BITS // 8)

    def note(self, key: bytes) -> bool:
        """Note a key; whether it may have been noted before."""
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
