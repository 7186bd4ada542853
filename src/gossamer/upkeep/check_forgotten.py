"""Is it known, and known twice, what was forgotten? (`forgotten.py`)"""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.collection.directory import CollectionPaths
from gossamer.collection.forgotten import Copies, read_copies
from gossamer.collection.forgotten_list import ForgottenList
from gossamer.errors import CorruptFile, StoreError
from gossamer.upkeep.check_state import Problem

_MEND = "go on with the crawl once, or run `gossamer rebuild all`: it is made from the other copy"
_NOTE = "nothing is forgotten less by it; going on with the crawl, or a rebuild, notes them again"


def forgotten_problems(paths: CollectionPaths) -> Iterator[Problem]:
    """Copies of the list that are lost, damaged or old, and acts that acts.jsonl has lost."""
    copies = read_copies(paths.takedowns)
    if all(one is None for one in copies.read.values()):
        return  # nothing was forgotten, or an older release noted it in acts.jsonl alone
    try:
        newest = copies.newest
    except StoreError as error:
        what, _, todo = str(error).partition("; ")
        yield Problem(str(paths.path), what, f"{todo}. Until then nobody crawls or rebuilds")
        return
    yield from _copy_problems(copies, newest)
    if copies.unnoted:
        what = f"{len(copies.unnoted)} of the names that were forgotten or allowed are not in it"
        yield Problem(str(paths.actions), what, _NOTE)


def _copy_problems(copies: Copies, newest: ForgottenList) -> Iterator[Problem]:
    for path, one in copies.read.items():
        if isinstance(one, CorruptFile):
            yield Problem(str(path), one.found, _MEND)
        elif one is None:
            yield Problem(str(path), "the list of what was forgotten is gone", _MEND)
        elif one.generation < newest.generation:
            yield Problem(str(path), "the list of what was forgotten is an older one", _MEND)
