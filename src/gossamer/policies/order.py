"""Which queued URL comes first: a place is a score and a number, and small places come first.

Pure. A place is 12 bytes that sort as it does: four of the score, eight of the number. Within one
score the number decides: first come first served, or, going deep, the newest first.
"""

from __future__ import annotations

import struct
from typing import Final, Literal

PLACE_BYTES: Final = 12
_PLACE: Final = struct.Struct(">IQ")
_DEEPEST: Final = 2**32 - 1
_LAST: Final = 2**64 - 1

Order = Literal["breadth", "depth"]


def place_of(order: Order, *, depth: int, number: int) -> bytes:
    """The place of the `number`-th admitted URL, which stands `depth` links from a seed."""
    if order == "depth":
        return place(_DEEPEST - depth, _LAST - number)
    return place(depth, number)


def place(score: int, number: int) -> bytes:
    """The bytes of a place. Scores and numbers past the ends are held at them."""
    held = 0 if score < 0 else min(_DEEPEST, score)
    return _PLACE.pack(held, number & _LAST)
