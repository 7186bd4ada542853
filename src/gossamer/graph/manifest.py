"""The manifest of the graph: its files, and how much of the archive they cover.

Only files that `manifest.json` names belong to the graph; others may be deleted. It is replaced as
a whole, so a reader sees the old graph or the new one, never a mixture.

    {"version": 2,
     "parts": [{"name", "rows", "file", "start", "end"}, ...],
     "sets": [{"name", "links", "rows", "captures"}, ...],
     "covered": {WARC file: first byte that is not covered},
     "retired": {file: when it was replaced}}

The rows of a raw part come from the bytes `start` to `end` of the WARC file `file`; a part of many
files has an empty `file` and no span. A set is the result of merging parts or smaller sets: three
files (`MergedSet.files`). Files that a merge replaced are retired: no new reader uses them, and
they are kept for a while for readers that have started. The layout is in docs/formats/graph.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from dataclasses import replace as changed
from pathlib import Path
from typing import Any, Final

from gossamer.base.files import sync_folder
from gossamer.errors import CorruptFile, WrongVersion

NAME: Final = "manifest.json"
VERSION: Final = 2
_OLDER: Final = 1  # has no sets; can be read unchanged
PREFIX: Final = "links-"  # of parts and sets; other tables may be in the same folder
PART_SUFFIX: Final = ".parquet"
TEMPORARY_SUFFIX: Final = ".new"
# The advice in the error about a damaged file.
REBUILD: Final = "rebuild the links with `gossamer rebuild graph`"


@dataclass(frozen=True, slots=True)
class LinkPart:
    """One raw Parquet file, and the span of the archive that its rows come from."""

    name: str
    rows: int
    file: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class MergedSet:
    """Merged links in three files: sorted by target, sorted by source, and captures of sources.

    `links` is the number of rows by target; `rows` is the number by source, which includes
    malformed links.
    """

    name: str
    links: int
    rows: int
    captures: int

    @property
    def by_target(self) -> str:
        return f"{self.name}-by-target{PART_SUFFIX}"

    @property
    def by_source(self) -> str:
        return f"{self.name}-by-source{PART_SUFFIX}"

    @property
    def captures_file(self) -> str:
        return f"{self.name}-captures{PART_SUFFIX}"

    @property
    def files(self) -> dict[str, int]:
        """Each file with its number of rows."""
        return {
            self.by_target: self.links,
            self.by_source: self.rows,
            self.captures_file: self.captures,
        }


@dataclass(frozen=True, slots=True)
class Manifest:
    """The graph at one moment."""

    parts: tuple[LinkPart, ...] = ()
    covered: Mapping[str, int] = field(default_factory=dict)
    sets: tuple[MergedSet, ...] = ()
    retired: Mapping[str, int] = field(default_factory=dict)  # microseconds since 1970

    @property
    def files(self) -> dict[str, int]:
        """Every current file, with its number of rows."""
        found = {part.name: part.rows for part in self.parts}
        for merged in self.sets:
            found |= merged.files
        return found

    @property
    def links(self) -> int:
        """Total rows, including those of captures and malformed links."""
        return sum(part.rows for part in self.parts) + sum(merged.rows for merged in self.sets)

    def with_part(self, part: LinkPart, covered: Mapping[str, int]) -> Manifest:
        """This graph with one more part; `covered` has the new offsets."""
        return changed(self, parts=(*self.parts, part), covered={**self.covered, **covered})

    def with_covered(self, covered: Mapping[str, int]) -> Manifest:
        """The same links; `covered` has the new offsets of files without links."""
        return changed(self, covered={**self.covered, **covered})

    def without_covered(self, files: Iterable[str]) -> Manifest:
        """The same links; the given WARC files do not exist any more."""
        gone = frozenset(files)
        left = {file: end for file, end in self.covered.items() if file not in gone}
        return changed(self, covered=left)

    def with_merged(self, replaced: Iterable[str], new: MergedSet, at_us: int) -> Manifest:
        """This graph with a set in place of the given parts and sets."""
        names = frozenset(replaced)
        gone = [part.name for part in self.parts if part.name in names]
        gone += [file for old in self.sets if old.name in names for file in old.files]
        return changed(
            self,
            parts=tuple(part for part in self.parts if part.name not in names),
            sets=(*(old for old in self.sets if old.name not in names), new),
            retired={**self.retired, **dict.fromkeys(gone, at_us)},
        )

    def without_retired(self, names: Iterable[str]) -> Manifest:
        """The same links; the given files are deleted, or about to be."""
        gone = frozenset(names)
        return changed(self, retired={n: at for n, at in self.retired.items() if n not in gone})


def read(folder: Path) -> Manifest:
    """The manifest of a folder; an empty one if there is none. Raises CorruptFile."""
    path = folder / NAME
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return Manifest()
    try:
        return _from_json(folder, json.loads(text))
    except json.JSONDecodeError as e:
        raise CorruptFile(path, e.pos, f"not JSON ({e.msg}); {REBUILD}") from None
    except UnicodeDecodeError as e:
        raise CorruptFile(path, e.start, f"not UTF-8; {REBUILD}") from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as e:
        found = f"not a manifest ({type(e).__name__} {e}); {REBUILD}"
        raise CorruptFile(path, 0, found) from None


def replace(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest. When this returns it survives a power loss.

    The files that it names must be on disk before (`PartWriter.write` and `merge.py` do that).
    """
    record = {
        "version": VERSION,
        "parts": [asdict(part) for part in manifest.parts],
        "sets": [asdict(merged) for merged in manifest.sets],
        "covered": dict(manifest.covered),
        "retired": dict(manifest.retired),
    }
    new = folder / (NAME + TEMPORARY_SUFFIX)
    with new.open("wb") as file:
        file.write(json.dumps(record, indent=1).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    new.replace(folder / NAME)
    sync_folder(folder)


def delete_unlisted(folder: Path, manifest: Manifest) -> list[str]:
    """Delete link files that no manifest names, and incomplete files; return their names.

    Only for the writer, at its start: a file is written before it is named.
    """
    named = manifest.files.keys() | manifest.retired.keys()
    unlisted = sorted(
        path
        for path in folder.iterdir()
        if path.name.startswith((PREFIX, NAME))
        and path.name.endswith((PART_SUFFIX, TEMPORARY_SUFFIX))
        and path.name not in named
    )
    for path in unlisted:
        path.unlink()
    return [path.name for path in unlisted]


def _from_json(folder: Path, record: Any) -> Manifest:
    version = _number(record["version"])
    if version not in (VERSION, _OLDER):
        raise WrongVersion(folder, version, VERSION)
    parts = tuple(
        LinkPart(
            _file_name(part["name"]),
            _number(part["rows"]),
            _string(part["file"]),
            _number(part["start"]),
            _number(part["end"]),
        )
        for part in record["parts"]
    )
    covered = {_string(file): _number(end) for file, end in record["covered"].items()}
    if version == _OLDER:
        return Manifest(parts, covered)
    sets = tuple(
        MergedSet(
            _plain_name(merged["name"]),
            _number(merged["links"]),
            _number(merged["rows"]),
            _number(merged["captures"]),
        )
        for merged in record["sets"]
    )
    retired = {_file_name(file): _number(at_us) for file, at_us in record["retired"].items()}
    return Manifest(parts, covered, sets, retired)


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _plain_name(value: object) -> str:
    """A plain file name in the folder itself, not a path out of it."""
    name = _string(value)
    if not name or Path(name).name != name:
        raise ValueError(f"{name!r} is no name of a file here")
    return name


def _file_name(value: object) -> str:
    name = _plain_name(value)
    if not name.endswith(PART_SUFFIX):
        raise ValueError(f"{name!r} is no name of a part")
    return name
