"""How much of the processor did other machines on the same host take while something was measured?

A figure in milliseconds means little on a machine that gets two thirds of its cores.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Taken(NamedTuple):
    """Ticks so far: of work that was done, and of work that had to wait for another machine."""

    worked: int
    stolen: int


def taken() -> Taken:
    """Since this machine began; zeros where nobody counts it."""
    try:
        line = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0]
    except OSError:
        return Taken(0, 0)
    user, nice, system, _idle, _waiting, interrupts, soft, stolen = map(int, line.split()[1:9])
    return Taken(user + nice + system + interrupts + soft, stolen)


def percent_stolen(before: Taken, after: Taken) -> float:
    """Of a hundred ticks that were needed, those that others had."""
    stolen = after.stolen - before.stolen
    return 100 * stolen / max(1, after.worked - before.worked + stolen)
