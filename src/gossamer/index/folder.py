"""Find and replace the current generation in `index/`.

    index/
      current     {"version": 2, "generation": "g000001"}: names the index, replaced as a whole
      anchors     anchor texts (`anchors.py`), for all generations
      g000001/    one whole index: `words/` is tantivy's, `texts` ours (`texts.py`)

The index is rewritten into a new generation and swapped by replacing `current`. A generation that
`current` does not name does not count; the writer deletes it when it starts. A reader that has one
open continues with it, because its files are freed only when no process holds them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Final

import tantivy

from gossamer.base.files import sync_folder
from gossamer.errors import CorruptFile
from gossamer.index.schema import READABLE, VERSION, build_schema

REBUILD: Final = "rebuild it with `gossamer rebuild index`"
CURRENT: Final = "current"
WORDS: Final = "words"
TEXTS: Final = "texts"
ANCHORS: Final = "anchors"
COMMIT: Final = "meta.json"  # tantivy's list of segments; replaced with every commit
_FIRST: Final = "g000001"
_NAME: Final = re.compile(r"g\d{6}")


def find_current(folder: Path) -> Path | None:
    """The current generation; None if there is no index yet. Raises CorruptFile."""
    path = folder / CURRENT
    try:
        record = json.loads(path.read_bytes())
        version, name = record["version"], record["generation"]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError):
        raise CorruptFile(path, 0, f"it names no generation; {REBUILD}") from None
    if version not in READABLE:
        found = f"the index has format {version}, but this release reads up to {VERSION}"
        raise CorruptFile(path, 0, f"{found}; {REBUILD}")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise CorruptFile(path, 0, f"{name!r} is not a generation; {REBUILD}")
    if not (folder / name / WORDS).is_dir():
        raise CorruptFile(folder / name, 0, f"it is missing; {REBUILD}")
    return folder / name


def open_current(folder: Path) -> Path:
    """The current generation, created if there is none. For the writer."""
    found = find_current(folder)
    if found is None:
        found = build_generation(folder, _FIRST)
        # Empty, but valid: a reader may open it as soon as `current` names it.
        tantivy.Index(build_schema(), str(found / WORDS))
        make_current(found)
    delete_unlisted(found)
    return found


def build_generation(folder: Path, name: str) -> Path:
    """An empty generation. Remains of one with that name are deleted."""
    generation = folder / name
    shutil.rmtree(generation, ignore_errors=True)
    (generation / WORDS).mkdir(parents=True)
    (generation / TEXTS).touch()
    return generation


def next_name(generation: Path) -> str:
    return f"g{int(generation.name[1:]) + 1:06d}"


def make_current(generation: Path) -> None:
    """Make a generation that is on disk the index."""
    path = generation.parent / CURRENT
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        record = {"version": VERSION, "generation": generation.name}
        file.write(json.dumps(record).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    sync_folder(generation)
    new.replace(path)
    sync_folder(path.parent)


def delete_unlisted(current: Path) -> None:
    """Delete every other generation. One that a reader on Windows has open is deleted next time."""
    for path in current.parent.iterdir():
        if _NAME.fullmatch(path.name) and path != current:
            shutil.rmtree(path, ignore_errors=True)
