"""Check both copies of the list of takedowns (`forgotten.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.collection.directory import CollectionPaths
from gossamer.collection.forgotten import ListCopies, read_copies
from gossamer.collection.forgotten_list import ForgottenList
from gossamer.errors import CorruptFile, StoreError
from gossamer.upkeep.check_state import Problem

_MEND = "run `gossamer crawl` once, or `gossamer rebuild all`: it is restored from the other copy"
_NOTE = "the takedowns stay in force; the next crawl or rebuild writes the missing lines"


def forgotten_problems(paths: CollectionPaths) -> Iterator[Problem]:
    """Yield copies of the list that are missing, damaged or old, and takedowns that acts.jsonl
    lacks."""
    copies = read_copies(paths.takedowns)
    if all(one is None for one in copies.read.values()):
        return  # no takedowns, or an older release noted them only in acts.jsonl
    try:
        newest = copies.newest
    except StoreError as error:
        what, _, todo = str(error).partition("; ")
        yield Problem(str(paths.path), what, f"{todo}. Until then crawl and rebuild are refused")
        return
    yield from _copy_problems(copies, newest)
    if copies.unnoted:
        what = f"{len(copies.unnoted)} takedowns or permissions are missing in it"
        yield Problem(str(paths.actions), what, _NOTE)


def _copy_problems(copies: ListCopies, newest: ForgottenList) -> Iterator[Problem]:
    for path, one in copies.read.items():
        if isinstance(one, CorruptFile):
            yield Problem(str(path), one.found, _MEND)
        elif one is None:
            yield Problem(str(path), "the list of takedowns is missing", _MEND)
        elif one.generation < newest.generation:
            yield Problem(str(path), "the list of takedowns is out of date", _MEND)
