"""Find lines of the two logs that are not JSON, and wrap them so that nothing is lost.

A damaged line cannot be recreated. It is kept as text inside a valid line, so that the file is
readable and the remaining text can be found.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from gossamer.base.files import sync_folder


def unreadable_lines(path: Path) -> Iterator[int]:
    """Yield the numbers, from 1, of lines that are not JSON objects."""
    if not path.exists():
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not _is_readable(line):
                yield number


def wrap_unreadable(path: Path) -> int:
    """Rewrite a log with every damaged line wrapped; return their number. Raises OSError.

    This always creates a new file, even without damaged lines (`checksums.py`).
    """
    if not path.exists():
        return 0
    count, new = 0, path.with_name(f"{path.name}.new")
    with path.open("rb") as lines, new.open("wb") as file:
        for line in lines:
            if _is_readable(line):
                file.write(line if line.endswith(b"\n") else line + b"\n")
                continue
            count += 1
            text = line.rstrip(b"\n").decode("utf-8", "backslashreplace")
            file.write(json.dumps({"unreadable": text}).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_folder(path.parent)
    return count


def _is_readable(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
