"""Check that the index holds exactly the pages that the state says it should.

Both are read in the order of their keys. While a crawl runs, or after a kill, index and state are
never of the same moment; then only the readability of the index is checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.collection.archive_ends import known_ends
from gossamer.collection.directory import is_in_use
from gossamer.errors import CorruptFile, StoreError
from gossamer.frontier.meta_keys import CLEAN_KEY
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import StateTable
from gossamer.index.folder import find_current
from gossamer.index.reader import covered, faults_in, ids
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.check_state import Checked, Problem, problem_of

_REBUILD = "run `gossamer rebuild index`: it recreates the index from the archive"
_MAX_LISTED = 20  # pages per direction; a damaged index can lack all pages


def index_problems(reader: CollectionReader, checked: Checked) -> Iterator[Problem]:
    """Yield pages that are only in the index or only in the state."""
    folder = reader.paths.index
    if not reader.settings().node.index:
        return
    try:
        if find_current(folder) is None:
            yield Problem(str(folder), "there is no index", _REBUILD)
            return
        reached = covered(folder)
        found = ids(folder)
    except (CorruptFile, StoreError) as error:
        yield Problem(str(folder), str(error), _REBUILD)
        return
    ends = known_ends(reader.store)
    is_behind = any(reached.get(file, 0) < end for file, end in ends.items())
    is_clean = reader.store.find(StateTable.META, CLEAN_KEY) == b"1"
    is_live = is_in_use(reader.paths)
    for damage in faults_in(folder, is_at_rest=is_clean and not is_live):
        yield problem_of(damage)
    if is_live or (is_behind and not is_clean):
        checked.entries += sum(1 for _ in found)
        if not is_live:
            what = f"{folder} does not cover the end of the archive"
            checked.unsure.append(f"{what}: run `gossamer crawl` once to update it")
        return
    if is_behind:
        todo = "run `gossamer crawl` once: it reads the pages again from the archive"
        yield Problem(str(folder), "it does not cover the end of the archive", todo)
        return
    yield from _differences(reader, found, checked)


def _differences(
    reader: CollectionReader, found: Iterator[str], checked: Checked
) -> Iterator[Problem]:
    missing = strange = 0
    entry = next(found, None)
    for key, packed in reader.scan(StateTable.URL):
        name = key.hex()
        while entry is not None and entry < name:
            strange += 1
            entry = next(found, None)
        row = UrlRow.decode(packed)
        is_there = entry == name
        if is_there:
            checked.entries += 1
            entry = next(found, None)
        if row.has_entry != is_there:
            missing += not is_there
            strange += is_there
            if missing + strange <= _MAX_LISTED:
                what = "it is in the index" if is_there else "it is missing in the index"
                said = f"outcome {row.outcome}, status {row.status}, robots {row.robots or 'none'}"
                yield Problem(row.url, f"{what}, but the state says: {said}", _REBUILD)
    strange += sum(1 for _ in found) + (entry is not None)
    if missing or strange:
        what = f"{missing} pages are missing and {strange} should not be there"
        yield Problem(str(reader.paths.index), what, _REBUILD)
