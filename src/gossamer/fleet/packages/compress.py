"""One Zstandard frame over many pages: pages of a site repeat each other, and a window that holds
all of them takes half the bytes of one that holds a page (`bench/fleet_bytes.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Final

from gossamer.fleet.packages.format import WINDOW_LOG

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LEAST_WINDOW: Final = 20  # 1 MB
# Level 19 takes 11 to 38 s of CPU time for sites of 20 to 100 MB (`bench/fleet_bytes.py`), so a
# quicker one is used for larger sites.
_BEST: Final = 19
_QUICK: Final = 12
_QUICK_FROM_BYTES: Final = 256 * 2**20


def packed(pieces: Iterable[bytes], expected_bytes: int) -> Iterator[bytes]:
    """The pieces as one frame with a checksum. `expected_bytes` is their length, about: memory and
    time depend on it."""
    window = min(WINDOW_LOG, max(_LEAST_WINDOW, expected_bytes.bit_length()))
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: (
            _BEST if expected_bytes < _QUICK_FROM_BYTES else _QUICK
        ),
        zstd.CompressionParameter.window_log: window,
        zstd.CompressionParameter.enable_long_distance_matching: 1,
        zstd.CompressionParameter.checksum_flag: 1,
    }
    packer = zstd.ZstdCompressor(options=options)
    for piece in pieces:
        if out := packer.compress(piece):
            yield out
    yield packer.flush()
