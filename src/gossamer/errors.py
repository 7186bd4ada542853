"""Everything this program raises on purpose.

GossamerError
├── UsageError           what was typed cannot be used: a flag, a seed, a file of seeds (exit 2)
│   ├── SettingsError    a setting has a value, or a name, that cannot be used          (exit 2)
│   └── QueryError       a filter of a search (site, since) has a value that cannot be used (exit 2)
├── StoreError           a collection, or a file of it, cannot be used                  (exit 1)
│   ├── NoCollection     there is none at that place
│   │   └── StateLost    its archive is there and its state is not
│   ├── CollectionInUse  another process is writing to it
│   ├── CorruptFile      its bytes are not what we wrote
│   ├── Rewritten        a takedown replaced it while it was read
│   ├── StaleEpoch       another writer has taken it over
│   └── WrongVersion     it is whole, but another release wrote it
├── NotKnown             the collection knows nothing of what was asked for             (exit 1)
└── DiskFault            the disk is full, read-only (exit 11) or failed (exit 1)

A page that could not be fetched is no error: it is an outcome (records.py). Every message is one
sentence that says what is wrong and what to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

CAN_GO_ON: Final = 11  # the exit code of what stopped and can go on


class GossamerError(Exception):
    """Base of the tree; never raised itself."""

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross processes as they are, whatever their constructors ask for."""
        return _as_it_was, (type(self), self.args, self.__dict__)


def _as_it_was(
    kind: type[GossamerError], arguments: tuple[Any, ...], names: dict[str, Any]
) -> GossamerError:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(names)
    return error


class UsageError(GossamerError):
    """What the person typed cannot be used."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting has a value that cannot be used, or there is no such setting."""

    def __init__(self, key: str, problem: str, *, where: str = "") -> None:
        super().__init__(f"{where}: {key} {problem}" if where else f"{key} {problem}")
        self.key = key
        self.problem = problem
        self.where = where

    def named(self, name: str) -> SettingsError:
        """The same fault of a setting that was given under another name, as `--scope`."""
        fault = SettingsError(self.key, self.problem, where=self.where)
        fault.args = (str(fault).replace(f"{self.key} ", f"{name} ", 1),)
        return fault


class QueryError(UsageError):
    """A filter beside the words of a search has a value that cannot be used.

    The words themselves are never an error: what is not syntax is read as words.
    """


class StoreError(GossamerError):
    """A collection, or a file of it, cannot be used."""


class NoCollection(StoreError):
    """There is no collection at that place."""

    def __init__(self, home: Path) -> None:
        super().__init__(
            f"no collection in {home}: name one with -c DIR, or start one with "
            f"`gossamer crawl -c {home} URL`"
        )
        self.home = home


class StateLost(NoCollection):
    """The archive of a collection is there, and its state is not."""

    def __init__(self, home: Path) -> None:
        StoreError.__init__(
            self,
            f"{home} has an archive and its state is lost; make it again from archive and log with "
            f"`gossamer rebuild all -c {home}`",
        )
        self.home = home


class CollectionInUse(StoreError):
    """Another process is writing to the collection."""

    def __init__(self, home: Path, holder: str) -> None:
        super().__init__(
            f"{home} is in use by {holder}; wait for it, or stop it with `gossamer stop -c {home}`"
        )
        self.home = home


class CorruptFile(StoreError):
    """A file's bytes are not what we wrote."""

    def __init__(self, path: object, offset: int, found: str) -> None:
        """`path` is a path, or what a part of another file is called."""
        super().__init__(f"{path}, byte {offset}: {found}")
        self.path = path
        self.offset = offset
        self.found = found


class Rewritten(StoreError):
    """The collection was replaced while it was read: what was read may be of both."""

    def __init__(self, home: Path) -> None:
        super().__init__(f"{home} was rewritten while it was read (`forget`, `rebuild`); try again")
        self.home = home


class StaleEpoch(StoreError):
    """Another writer, with a higher epoch, has taken the state over."""

    def __init__(self, epoch: int, stored: int) -> None:
        super().__init__(
            f"another process has taken over this state (epoch {stored}, this process has {epoch})"
            "; nothing was written: stop this process"
        )
        self.epoch = epoch
        self.stored = stored


class WrongVersion(StoreError):
    """The collection is whole, but another release wrote it."""

    def __init__(self, home: Path, found: int, ours: int) -> None:
        if found > ours:
            way_out = "install a newer gossamer to open it"
        else:
            way_out = "import its archive into a new collection"
        super().__init__(f"{home} has format {found} and this release reads {ours}; {way_out}")
        self.found = found


class NotKnown(GossamerError):
    """The collection knows nothing of what was asked for."""


class DiskFault(GossamerError):
    """The disk is full, read-only or failed. What is committed is safe; nothing after it is
    believed. When there is room, or the disk can be written again, one can go on."""

    def __init__(self, what: str, *, is_full: bool, is_read_only: bool = False) -> None:
        super().__init__(what)
        self.is_full = is_full
        self.is_read_only = is_read_only
        self.exit_code = CAN_GO_ON if is_full or is_read_only else 1
