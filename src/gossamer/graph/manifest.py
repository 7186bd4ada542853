"""Which parts make up the graph, and how much of the archive they cover.

`manifest.json` is the only truth: a part that it does not name does not exist, and may be
deleted. It is replaced as a whole, so a reader sees the old graph or the new one, never a mixture.

    {"version": 1,
     "parts": [{"name", "rows", "file", "start", "end"}, ...],
     "covered": {WARC file: first byte that is not covered}}

A part's rows come from the bytes `start` to `end` of the WARC file `file`; a part of many files
has an empty `file` and says nothing of spans. The layout is in docs/formats/graph.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from gossamer.errors import CorruptFile, WrongVersion

NAME: Final = "manifest.json"
VERSION: Final = 1
PART_SUFFIX: Final = ".parquet"
TEMPORARY_SUFFIX: Final = ".new"


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file, and the span of the archive that its rows come from."""

    name: str
    rows: int
    file: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """The graph at one moment."""

    parts: tuple[Part, ...] = ()
    covered: Mapping[str, int] = field(default_factory=dict)

    def with_part(self, part: Part, covered: Mapping[str, int]) -> Manifest:
        """This graph and one more part; `covered` holds the files that moved on."""
        return Manifest((*self.parts, part), {**self.covered, **covered})


def read(folder: Path) -> Manifest:
    """The manifest of a folder; an empty one where there is none. Raises CorruptFile."""
    path = folder / NAME
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return Manifest()
    try:
        return _from_json(folder, json.loads(text))
    except json.JSONDecodeError as e:
        raise CorruptFile(path, e.pos, f"no JSON: {e.msg}") from None
    except UnicodeDecodeError as e:
        raise CorruptFile(path, e.start, "no UTF-8") from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as e:
        raise CorruptFile(path, 0, f"no manifest: {type(e).__name__} {e}") from None


def replace(folder: Path, manifest: Manifest) -> None:
    """Make `manifest` the truth; when this returns it survives a loss of power.

    The parts that it names must be whole on the disk before (`PartWriter.write` sees to that).
    """
    record = {
        "version": VERSION,
        "parts": [asdict(part) for part in manifest.parts],
        "covered": dict(manifest.covered),
    }
    new = folder / (NAME + TEMPORARY_SUFFIX)
    with new.open("wb") as file:
        file.write(json.dumps(record, indent=1).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    new.replace(folder / NAME)
    sync_folder(folder)


def delete_strays(folder: Path, manifest: Manifest) -> list[str]:
    """Delete parts that no manifest names, and files left half written; returns their names.

    For the writer alone, when it starts: a part is written before it is named.
    """
    named = {part.name for part in manifest.parts}
    strays = sorted(
        path
        for path in folder.iterdir()
        if path.name.endswith(TEMPORARY_SUFFIX)
        or (path.suffix == PART_SUFFIX and path.name not in named)
    )
    for path in strays:
        path.unlink()
    return [path.name for path in strays]


def sync_folder(folder: Path) -> None:
    """Make renames in a folder last. Windows has no such act, and needs none."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _from_json(folder: Path, record: Any) -> Manifest:
    version = _number(record["version"])
    if version != VERSION:
        raise WrongVersion(folder, version, VERSION)
    parts = tuple(
        Part(
            _name(part["name"]),
            _number(part["rows"]),
            _string(part["file"]),
            _number(part["start"]),
            _number(part["end"]),
        )
        for part in record["parts"]
    )
    covered = {_string(file): _number(end) for file, end in record["covered"].items()}
    return Manifest(parts, covered)


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _name(value: object) -> str:
    """A part's name is that of a file in the folder itself, not a way out of it."""
    name = _string(value)
    if Path(name).name != name or not name.endswith(PART_SUFFIX):
        raise ValueError(f"{name!r} is no name of a part")
    return name
