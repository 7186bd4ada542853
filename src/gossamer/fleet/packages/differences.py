"""A body as a difference to an earlier one: a Zstandard frame whose dictionary is the earlier body.

The result is checked by its digest, so the two sides need not trust each other. Pure.
"""

from __future__ import annotations

import sys
from typing import Final

from gossamer.fleet.packages.format import PackageRefused

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LEVEL: Final = 19
_LEAST_WINDOW: Final = 10
_MOST_WINDOW: Final = 27


def difference(earlier: bytes, body: bytes) -> bytes:
    """The difference from `earlier` to `body`."""
    # The window must hold both, or the first part of the earlier body could not be referred to.
    window = (len(earlier) + len(body)).bit_length()
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: _LEVEL,
        zstd.CompressionParameter.window_log: min(max(window, _LEAST_WINDOW), _MOST_WINDOW),
        zstd.CompressionParameter.checksum_flag: 0,
    }
    return zstd.compress(body, options=options, zstd_dict=_prefix(earlier))


def with_difference(earlier: bytes, packed: bytes, max_bytes: int) -> bytes:
    """The body. Raises PackageRefused if it is longer than `max_bytes` or cannot be read."""
    limits: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _MOST_WINDOW}
    inflater = zstd.ZstdDecompressor(options=limits, zstd_dict=_prefix(earlier))
    try:
        body: bytes = inflater.decompress(packed, max_bytes + 1)
    except zstd.ZstdError as fault:
        raise PackageRefused("difference", f"a difference cannot be read ({fault})") from None
    if len(body) > max_bytes:
        raise PackageRefused("bomb", f"a difference expands to more than {max_bytes} bytes")
    if not inflater.eof or inflater.unused_data:
        raise PackageRefused("difference", "a difference is not one whole Zstandard frame")
    return body


def _prefix(earlier: bytes) -> tuple[zstd.ZstdDict, int]:
    return zstd.ZstdDict(earlier, is_raw=True).as_prefix
