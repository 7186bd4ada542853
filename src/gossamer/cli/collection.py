"""Which collection is meant?"""

from __future__ import annotations

import os
from pathlib import Path


def collection_at(given: Path | None) -> Path:
    """The directory of the collection that is meant."""
    return given or Path(os.environ.get("GOSSAMER_COLLECTION") or "gossamer")
