"""Is a collection whole? Reads everything, believes nothing, changes nothing.

Beside a running crawl it looks at one moment, and leaves out what that moment had not committed.
Every problem comes with what to do about it. What cannot be vouched for stands in `Checked.unsure`.
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
from gossamer.upkeep.check_checksums import act_problems, sum_problems
from gossamer.upkeep.check_forgotten import forgotten_problems
from gossamer.upkeep.check_graph import graph_problems, read_manifest
from gossamer.upkeep.check_index import index_problems
from gossamer.upkeep.check_manifest import manifest_problems
from gossamer.upkeep.check_state import Checked, Problem, problem_of, state_problems

__all__ = ["Checked", "Problem", "verify"]


def verify(home: CollectionPaths | Path, checked: Checked | None = None) -> Iterator[Problem]:
    """Every problem, as it is found; `checked` counts what was looked at.

    Raises NoCollection, WrongVersion.
    """
    home = home if isinstance(home, CollectionPaths) else CollectionPaths(home)
    checked = checked if checked is not None else Checked()
    told: list[str] = []
    for problem in _problems(home, checked):
        told.append(problem.where)
        yield problem
    # Last: most damage has been told by then, and where in the file it lies.
    for problem in sum_problems(home, checked):
        if not any(_is_same(where, problem.where) for where in told):
            yield problem


def _is_same(where: str, file: str) -> bool:
    """Whether a problem that was told is in this file, or in a folder with it."""
    return where.startswith(file) or file.startswith(f"{where}{os.sep}")


def _problems(home: CollectionPaths, checked: Checked) -> Iterator[Problem]:
    yield from forgotten_problems(home)
    yield from act_problems(home)
    manifest = read_manifest(home.graph)  # before the state: what it covers is committed there
    try:
        study = CollectionReader.open(home.path)
    except StateLost as lost:
        yield Problem(str(home.state), "the state is lost", str(lost).rpartition("; ")[2])
        yield from bare_archive_problems(home, checked)
        return
    except CorruptFile as error:
        yield problem_of(error)
        yield from bare_archive_problems(home, checked)
        return
    with study:
        yield from _study_problems(study, manifest, checked)


def _study_problems(
    study: CollectionReader, manifest: Manifest | Problem, checked: Checked
) -> Iterator[Problem]:
    try:
        yield from state_problems(study, checked)
        yield from archive_problems(study, checked)
    except CorruptFile as error:  # of the state: damage of the archive is a problem by itself
        yield problem_of(error)
        yield from bare_archive_problems(study.home, checked)
    yield from manifest_problems(study.home, study.keys.salt)
    try:
        if isinstance(manifest, Problem):
            yield manifest
        else:
            yield from graph_problems(study, manifest, checked)
    except CorruptFile as error:
        yield problem_of(error)
    try:
        yield from index_problems(study, checked)
    except CorruptFile as error:
        yield problem_of(error)
