"""Lines of the two logs that are no JSON any more: found, and wrapped so that nothing is lost.

A damaged line cannot be made again. It is kept as the text of a line that can be read, so that the
file is whole and whoever looks into it finds what is left.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from gossamer.base.files import sync_folder


def unreadable_lines(path: Path) -> Iterator[int]:
    """The numbers, from 1, of lines that are no JSON object."""
    if not path.exists():
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not _is_readable(line):
                yield number


def wrap_unreadable(path: Path) -> int:
    """Write a log anew with every damaged line wrapped; how many there were. Raises OSError.

    The file is another one afterwards, even where nothing was damaged (`checksums.py`).
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
