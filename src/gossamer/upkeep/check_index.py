"""Does the index hold exactly the pages that the state says it should?

Both are walked in the order of their keys. Beside a running crawl the two are never of the same
moment, and what a killed one left behind the next start reads; then it is only seen that the index
can be read.
"""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.collection.archive_ends import known_ends
from gossamer.collection.directory import is_in_use
from gossamer.errors import CorruptFile, StoreError
from gossamer.frontier.meta_keys import CLEAN_KEY
from gossamer.frontier.rows import UrlRow
from gossamer.frontier.store import Table
from gossamer.index.folder import find_current
from gossamer.index.reader import covered, faults_in, ids
from gossamer.reader.collection_reader import CollectionReader
from gossamer.upkeep.check_state import Checked, Problem, problem_of

_REBUILD = "run `gossamer rebuild index`: it is made again from the archive"
_SHOWN = 20  # pages on each side; a damaged index can lack all of them


def index_problems(reader: CollectionReader, checked: Checked) -> Iterator[Problem]:
    """Pages that are in one of the two and not in the other."""
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
    is_clean = reader.store.find(Table.META, CLEAN_KEY) == b"1"
    is_live = is_in_use(reader.paths)
    for damage in faults_in(folder, is_at_rest=is_clean and not is_live):
        yield problem_of(damage)
    if is_live or (is_behind and not is_clean):
        checked.entries += sum(1 for _ in found)
        if not is_live:
            what = f"{folder} does not reach to the end of the archive"
            checked.unsure.append(f"{what}: go on with `gossamer crawl` once, and it catches up")
        return
    if is_behind:
        todo = "go on with the crawl once: pages are read again from the archive"
        yield Problem(str(folder), "it does not reach to the end of the archive", todo)
        return
    yield from _differences(reader, found, checked)


def _differences(
    reader: CollectionReader, found: Iterator[str], checked: Checked
) -> Iterator[Problem]:
    missing = strange = 0
    entry = next(found, None)
    for key, packed in reader.scan(Table.URL):
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
            if missing + strange <= _SHOWN:
                what = "it is in the index" if is_there else "it is not in the index"
                said = f"outcome {row.outcome}, status {row.status}, robots {row.robots or 'none'}"
                yield Problem(row.url, f"{what}, though the state says: {said}", _REBUILD)
    strange += sum(1 for _ in found) + (entry is not None)
    if missing or strange:
        what = f"{missing} pages are missing in it, and {strange} should not be there"
        yield Problem(str(reader.paths.index), what, _REBUILD)
