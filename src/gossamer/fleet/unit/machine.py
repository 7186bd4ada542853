"""What a unit says about its machine."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path

from gossamer.fleet.protocol import MachineFacts, UnitPlace
from gossamer.fleet.settings import UnitSettings
from gossamer.fleet.update.running import running_version


def machine_facts(folder: Path, settings: UnitSettings, *, is_relay: bool = False) -> MachineFacts:
    """The facts of this moment."""
    return MachineFacts(
        name=(settings.name or platform.node() or "unit")[:200],
        platform=f"{sys.platform}-{platform.machine().lower()}",
        python=platform.python_version(),
        version=running_version(),
        cores=os.cpu_count() or 1,
        memory_bytes=memory_bytes(),
        free_disk_bytes=free_bytes(folder),
        place=place_of(settings),
        is_relay=is_relay,
    )


def place_of(settings: UnitSettings) -> UnitPlace:
    """Where the owner says that the unit is."""
    if not settings.place:
        return UnitPlace()
    is_known = bool(settings.latitude or settings.longitude)
    return UnitPlace(
        label=settings.place,
        latitude=settings.latitude if is_known else None,
        longitude=settings.longitude if is_known else None,
    )


def memory_bytes() -> int:
    """Memory of the machine; 0 if the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def free_bytes(folder: Path) -> int:
    """Free disk space where a folder is, or will be."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free
