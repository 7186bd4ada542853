"""Verify a whole collection. Reads everything and changes nothing.

While a crawl runs, it checks one moment and skips data not committed by then. Every problem says
what to do. `Checked.unsure` lists what could not be checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from gossamer.collection.directory import CollectionPaths
from gossamer.errors import CorruptFile, StateLost
from gossamer.graph.manifest import Manifest
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.check_archive import archive_problems, bare_archive_problems
from gossamer.upkeep.check_changes import change_problems
from gossamer.upkeep.check_checksums import act_problems, sum_problems
from gossamer.upkeep.check_forgotten import forgotten_problems
from gossamer.upkeep.check_graph import graph_problems, read_manifest
from gossamer.upkeep.check_index import index_problems
from gossamer.upkeep.check_manifest import manifest_problems
from gossamer.upkeep.check_state import Checked, Problem, problem_of, state_problems
from gossamer.upkeep.checks.check_duplicates import duplicate_problems

__all__ = ["Checked", "Problem", "verify"]


def verify(paths: CollectionPaths | Path, checked: Checked | None = None) -> Iterator[Problem]:
    """Yield every problem as it is found; `checked` counts what was checked.

    Raises NoCollection, WrongVersion.
    """
    paths = paths if isinstance(paths, CollectionPaths) else CollectionPaths(paths)
    checked = checked if checked is not None else Checked()
    reported: dict[Problem, None] = {}  # two checks may find the same fault
    for problem in _problems(paths, checked):
        if problem not in reported:
            reported[problem] = None
            yield problem
    # Last: most damage has been reported by then, with its place in the file.
    for problem in sum_problems(paths, checked):
        if not any(_is_same(one.where, problem.where) for one in reported):
            yield problem


def _is_same(where: str, file: str) -> bool:
    """Whether a reported problem is in this file, or in a folder with it."""
    return where.startswith(file) or file.startswith(f"{where}{os.sep}")


def _problems(paths: CollectionPaths, checked: Checked) -> Iterator[Problem]:
    yield from forgotten_problems(paths)
    yield from act_problems(paths)
    manifest = read_manifest(paths.graph)  # before the state, which then has all that it covers
    try:
        reader = CollectionReader.open(paths.path)
    except StateLost as lost:
        yield Problem(str(paths.state), "the state is missing", str(lost).rpartition("; ")[2])
        yield from bare_archive_problems(paths, checked)
        return
    except CorruptFile as error:
        yield problem_of(error)
        yield from bare_archive_problems(paths, checked)
        return
    with reader:
        yield from _study_problems(reader, manifest, checked)


def _study_problems(
    reader: CollectionReader, manifest: Manifest | Problem, checked: Checked
) -> Iterator[Problem]:
    try:
        yield from state_problems(reader, checked)
        yield from change_problems(reader)
        yield from duplicate_problems(reader)
        yield from archive_problems(reader, checked)
    except CorruptFile as error:  # of the state: damage of the archive is reported separately
        yield problem_of(error)
        yield from bare_archive_problems(reader.paths, checked)
    yield from manifest_problems(reader.paths, reader.keys.salt)
    try:
        if isinstance(manifest, Problem):
            yield manifest
        else:
            yield from graph_problems(reader, manifest, checked)
    except CorruptFile as error:
        yield problem_of(error)
    try:
        yield from index_problems(reader, checked)
    except CorruptFile as error:
        yield problem_of(error)
