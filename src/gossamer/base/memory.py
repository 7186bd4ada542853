"""Measure the memory of processes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def resident_bytes(pids: Iterable[int]) -> int | None:
    """Resident memory of these processes together; None if the system does not tell (no /proc).

    Memory that two processes share counts twice. A process that has ended counts nothing.
    """
    pages, is_known = 0, False
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
        except OSError:
            continue
        pages += int(text.split()[1])
        is_known = True
    return pages * os.sysconf("SC_PAGE_SIZE") if is_known else None
