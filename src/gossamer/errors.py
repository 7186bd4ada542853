"""Every exception that this program raises on purpose.

GossamerError
├── UsageError           invalid input: a flag, a seed, a file of seeds                 (exit 2)
│   ├── SettingsError    a setting has an invalid value or an unknown name              (exit 2)
│   ├── PluginError      a plug-in is unknown, cannot be loaded, or failed              (exit 2)
│   └── QueryError       a search filter (site, since) has an invalid value             (exit 2)
├── StoreError           a collection, or a file of it, cannot be used                  (exit 1)
│   ├── NoCollection     the directory holds no collection
│   │   └── StateLost    the archive exists and the state does not
│   ├── CollectionInUse  another process is writing to it
│   ├── CorruptFile      the bytes of a file differ from those that were written
│   ├── Rewritten        `forget` or `rebuild` replaced it during a read
│   ├── StaleEpoch       another writer has taken it over
│   └── WrongVersion     another release wrote it, in another format
├── HubError             a hub of the fleet cannot be used by a unit                    (exit 1)
│   ├── HubAway          it does not answer; later it may
│   ├── HubUntrusted     its certificate is not the one that was pinned
│   └── HubRefusal       it answered with an error: a used code, a revoked token, ...
├── UpdateRefused        an update of a unit is not genuine, newer or able to start      (exit 1)
│   └── UpdateLater      it could not be fetched now
├── NotKnown             the collection does not contain the requested URL or host      (exit 1)
└── DiskFault            the disk is full or read-only (exit 11), or it failed (exit 1)

A page that could not be fetched is not an error: it is an outcome (records.py). Every message
is one sentence: what happened, why, and what to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

CAN_GO_ON: Final = 11  # exit code of a run that stopped and can be resumed


class GossamerError(Exception):
    """Base of the tree; never raised itself."""

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by arguments and attributes, because constructors take other parameters."""
        return _as_it_was, (type(self), self.args, self.__dict__)


def _as_it_was(
    kind: type[GossamerError], arguments: tuple[Any, ...], names: dict[str, Any]
) -> GossamerError:
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(names)
    return error


class UsageError(GossamerError):
    """The user gave invalid input."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting has an invalid value, or no setting has this name."""

    def __init__(self, key: str, problem: str, *, where: str = "") -> None:
        super().__init__(f"{where}: {key} {problem}" if where else f"{key} {problem}")
        self.key = key
        self.problem = problem
        self.where = where

    def named(self, name: str) -> SettingsError:
        """Return the same error for a setting that was given by another name, as `--scope`."""
        fault = SettingsError(self.key, self.problem, where=self.where)
        fault.args = (str(fault).replace(f"{self.key} ", f"{name} ", 1),)
        return fault


class PluginError(UsageError):
    """A plug-in is not there, cannot be loaded, or failed. The message names its package."""


class QueryError(UsageError):
    """A search filter has an invalid value.

    The words of a query are never an error: text that is not query syntax is read as words.
    """


class StoreError(GossamerError):
    """A collection, or a file of it, cannot be used."""


class NoCollection(StoreError):
    """The directory holds no collection."""

    def __init__(self, home: Path) -> None:
        super().__init__(
            f"no collection in {home}; name an existing one with -c DIR, or start one with "
            f"`gossamer crawl -c {home} URL`"
        )
        self.home = home


class StateLost(NoCollection):
    """The archive of a collection exists and its state does not."""

    def __init__(self, home: Path) -> None:
        StoreError.__init__(
            self,
            f"{home} has an archive but no state; rebuild the state from the archive and the log "
            f"with `gossamer rebuild all -c {home}`",
        )
        self.home = home


class CollectionInUse(StoreError):
    """Another process is writing to the collection."""

    def __init__(self, home: Path, holder: str) -> None:
        super().__init__(
            f"{home} is in use by {holder}; wait until it ends, or stop it with "
            f"`gossamer stop -c {home}`"
        )
        self.home = home


class CorruptFile(StoreError):
    """The bytes of a file differ from those that were written."""

    def __init__(self, path: object, offset: int, found: str) -> None:
        """`path` is a path, or the name of a part of another file."""
        super().__init__(f"{path}, byte {offset}: {found}")
        self.path = path
        self.offset = offset
        self.found = found


class Rewritten(StoreError):
    """The collection was replaced during a read: the result may mix both versions."""

    def __init__(self, home: Path) -> None:
        super().__init__(f"{home} was replaced by `forget` or `rebuild` during the read; try again")
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
    """Another release wrote the collection, in a format that this release does not read."""

    def __init__(self, home: Path, found: int, ours: int) -> None:
        if found > ours:
            way_out = "install a newer gossamer to open it"
        else:
            way_out = "import its archive into a new collection"
        super().__init__(
            f"{home} has format {found}, but this release reads format {ours}; {way_out}"
        )
        self.found = found


class UpdateRefused(GossamerError):
    """An update of a unit is not genuine, not newer, or does not start. The old version stays."""


class UpdateLater(UpdateRefused):
    """An update could not be fetched now; a later try may succeed."""


class NotKnown(GossamerError):
    """The collection does not contain the requested URL or host."""


class HubError(GossamerError):
    """A unit cannot work with its hub."""


class HubAway(HubError):
    """The hub, or the proxy to it, does not answer. The unit tries again."""


class HubUntrusted(HubError):
    """The certificate of the hub cannot be verified: it is another server, or a proxy reads the
    connection."""


class HubRefusal(HubError):
    """The hub refuses a request. `status` is as in `fleet/protocol.py`, `reason` is one word."""

    def __init__(self, what: str, *, status: int, reason: str = "", retry_s: float = 0.0) -> None:
        super().__init__(what)
        self.status = status
        self.reason = reason
        self.retry_s = retry_s


class DiskFault(GossamerError):
    """The disk is full, read-only or failed.

    Committed data is safe; later data is discarded. The crawl can be resumed when the disk can be
    written again.
    """

    def __init__(self, what: str, *, is_full: bool, is_read_only: bool = False) -> None:
        super().__init__(what)
        self.is_full = is_full
        self.is_read_only = is_read_only
        self.exit_code = CAN_GO_ON if is_full or is_read_only else 1
