"""Select the collection of a command: -c, the environment, or ./gossamer."""

from __future__ import annotations

import os
from pathlib import Path


def collection_at(given: Path | None) -> Path:
    """Return the directory of the collection."""
    return given or Path(os.environ.get("GOSSAMER_COLLECTION") or "gossamer")
