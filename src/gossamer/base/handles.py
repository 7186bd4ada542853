"""The limit of open files and connections of this process."""

from __future__ import annotations

import sys
from typing import Final

_OURS: Final = 400  # RocksDB 256, archives, sockets to workers, libraries


def room_for_connections(wanted: int) -> int:
    """Raise the limit of open files for `wanted` connections. Return how many fit."""
    if sys.platform == "win32":
        return wanted
    import resource  # missing on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    need = 2 * wanted + _OURS
    if soft != resource.RLIM_INFINITY and soft < need:
        soft = need if hard == resource.RLIM_INFINITY else min(need, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= need:
        return wanted
    return max(1, (soft - _OURS) // 2)
