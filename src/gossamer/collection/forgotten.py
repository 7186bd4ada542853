"""The list of takedowns of a collection: names that must not come back.

The list is stored twice, in `log/` and in `archive/`, each copy with a checksum
(`forgotten_list.py`). acts.jsonl also has a line for each takedown. A lost or flipped byte must not
undo a takedown:

    one copy is lost, damaged or older   the other one is used; the next writer repairs the first
    a line of acts.jsonl is lost         the lists are used; the next writer adds the line again
    no copy exists                       acts.jsonl is used: an older release wrote the collection;
                                         the next writer creates the copies
    all existing copies are damaged      crawl and rebuild are refused: no request is better than
                                         one to a page that was taken down
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.archive.writer import disk_fault
from gossamer.base.clock import iso_of
from gossamer.collection.crawl_log import note_action, read_actions
from gossamer.collection.forgotten_list import (
    ALLOW,
    FORGET,
    Decision,
    ForgottenList,
    TakedownFiles,
    read_list,
    write_list,
)
from gossamer.errors import CorruptFile, StoreError
from gossamer.urls.forgotten import Forgotten, Named

_DIGESTS: Final = "digests"


@dataclass(frozen=True, slots=True)
class ListCopies:
    """The list as its copies and acts.jsonl have it."""

    read: Mapping[Path, ForgottenList | CorruptFile | None]  # None: missing
    actions: Mapping[str, Decision]

    @property
    def newest(self) -> ForgottenList:
        """Return the current list from the copies only. Raises StoreError if all are damaged."""
        whole = [one for one in self.read.values() if isinstance(one, ForgottenList)]
        damaged = [str(p) for p, one in self.read.items() if isinstance(one, CorruptFile)]
        if damaged and not whole:
            is_one = len(damaged) == 1
            raise StoreError(
                f"{' and '.join(damaged)} {'is' if is_one else 'are'} damaged, so the takedowns of "
                "this collection are unknown and no page may be requested; restore "
                f"{'it' if is_one else 'one of them'} from a backup, or, if log/acts.jsonl is "
                f"complete, delete {'it' if is_one else 'both'} to use that file instead"
            )
        return max(whole, key=lambda one: one.generation, default=ForgottenList())

    @property
    def merged(self) -> ForgottenList:
        """Return the current list. Raises StoreError if all copies are damaged."""
        return self.newest.merged(self.actions)

    @property
    def unnoted(self) -> dict[str, Decision]:
        """Return the decisions that acts.jsonl lacks."""
        decided = self.merged.decisions.items()
        return {
            d: one for d, one in decided if d not in self.actions or self.actions[d].act != one.act
        }


def read_copies(files: TakedownFiles) -> ListCopies:
    """Read all files of the list of takedowns."""
    read: dict[Path, ForgottenList | CorruptFile | None] = {}
    for path in files.lists:
        try:
            read[path] = read_list(path)
        except CorruptFile as error:
            read[path] = error
    return ListCopies(read, _decided_in(files.actions))


def read_forgotten(files: TakedownFiles) -> Forgotten:
    """Return the current takedowns. Raises StoreError if they are unknown."""
    return _forgotten(read_copies(files).merged)


def mend_forgotten(files: TakedownFiles, at_us: int) -> Forgotten:
    """The same for the holder of the lock: write copies that are lost, damaged or old again, and
    add lost lines to acts.jsonl. Raises StoreError, DiskFault."""
    copies = read_copies(files)
    listed = copies.merged
    if listed.decisions:
        _note_again(files, at_us, copies.unnoted)
        _write_lists(listed, (p for p, one in copies.read.items() if one != listed))
    return _forgotten(listed)


def note_forgotten(
    files: TakedownFiles, new: TakedownFiles, at_us: int, named: Sequence[Named], /, **sums: int
) -> Forgotten:
    """Record a takedown in the new parts of a collection: when, how much, and digests instead of
    names. `files` have the earlier takedowns. Raises StoreError, DiskFault."""
    breadths = sorted({one.breadth.value for one in named})
    digests = [one.digest for one in named]
    listed = read_copies(files).merged.merged(_decisions(FORGET, at_us, digests))
    note_action(new.actions, at_us, FORGET, what=breadths, **{_DIGESTS: digests}, **sums)
    _write_lists(listed, new.lists)
    return _forgotten(listed)


def note_allowed(files: TakedownFiles, at_us: int, named: Sequence[Named]) -> None:
    """Allow crawling of these names again, from the next start on. Raises StoreError, DiskFault."""
    digests = [one.digest for one in named]
    before = read_copies(files).merged
    decisions = dict(before.decisions) | _decisions(ALLOW, at_us, digests)
    note_action(files.actions, at_us, ALLOW, **{_DIGESTS: digests})
    _write_lists(ForgottenList(before.generation + 1, decisions), files.lists)


def _decisions(act: str, at_us: int, digests: Sequence[str]) -> dict[str, Decision]:
    return dict.fromkeys(digests, Decision(act, iso_of(at_us)))


def _forgotten(listed: ForgottenList) -> Forgotten:
    decided = listed.decisions.items()
    return Forgotten({digest: one.at for digest, one in decided if one.act == FORGET})


def _decided_in(actions: Path) -> dict[str, Decision]:
    """Return the last decision on each name in acts.jsonl. Unreadable lines are skipped."""
    decided: dict[str, Decision] = {}
    for act in read_actions(actions, _DIGESTS):
        if act.get("act") in (FORGET, ALLOW) and isinstance(act.get(_DIGESTS), list):
            decision = Decision(str(act["act"]), str(act.get("at", "")))
            decided |= {one: decision for one in act[_DIGESTS] if isinstance(one, str)}
    return decided


def _note_again(files: TakedownFiles, at_us: int, unnoted: Mapping[str, Decision]) -> None:
    for act in (FORGET, ALLOW):
        digests = [digest for digest, one in unnoted.items() if one.act == act]
        if digests:
            note_action(files.actions, at_us, act, restored=True, **{_DIGESTS: digests})


def _write_lists(listed: ForgottenList, paths: Iterable[Path]) -> None:
    for path in paths:
        try:
            write_list(path, listed)
        except OSError as error:
            raise disk_fault(f"cannot write {path}", error) from error
