"""Where an archive file is while a rewritten file takes its place.

    archive/NAME            valid
    archive/staged/NAME     complete, and valid as soon as the state names it
    archive/replaced/NAME   not valid any more; kept for readers that started before

A reader that knows a capture by file and offset finds the file in one of these folders. So it can
read the capture before, during and after the replacement.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

STAGED: Final = "staged"
REPLACED: Final = "replaced"


def file_elsewhere(path: Path) -> Path | None:
    """Return where a file of the archive is that is not at `path`; None if it does not exist."""
    for folder in (STAGED, REPLACED):
        found = path.parent / folder / path.name
        if found.exists():
            return found
    return path if path.exists() else None  # it was put in its place a moment ago
