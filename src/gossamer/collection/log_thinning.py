"""Leave old lines out of crawl.jsonl.

A page that is visited every day adds a line every day. Lines that are older than some days go,
except refusals and failures without a request: a lost state is rebuilt from them, and visits do not
add more of them. The new log is complete beside the old one before the state names its length;
from then on it is the log (`complete_log`), also after a kill.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from gossamer.base.checked_lines import crc32
from gossamer.base.clock import iso_of
from gossamer.base.files import sync_folder
from gossamer.frontier.meta_keys import LOG_KEY, LOG_NEW_KEY, LOG_SUM_KEY
from gossamer.frontier.store import StateTable, Store

_AT: Final = slice(8, 28)  # the time in a line, after `{"at": "`
_NO_REQUEST: Final = (b'"outcome": "refused"', b'"outcome": "failed"')


def new_log_path(log: Path) -> Path:
    return log.with_name(f"{log.name}.thinned")


@dataclass(slots=True)
class ThinnedLog:
    """A new log in the making. `copy` may be called several times, as the old one grows."""

    log: Path
    before: bytes  # lines of an earlier time go
    read_bytes: int = 0  # of the old log
    length: int = 0
    crc32: int = 0

    @classmethod
    def begin(cls, log: Path, before_us: int) -> ThinnedLog:
        new_log_path(log).unlink(missing_ok=True)
        return cls(log, iso_of(before_us).encode())

    @property
    def is_shorter(self) -> bool:
        """Whether it is worth it: a tenth of the log goes."""
        return self.length < self.read_bytes * 0.9

    def copy(self) -> None:
        """Copy the lines that stay, up to the last whole line, and sync. Raises OSError."""
        with self.log.open("rb") as old, new_log_path(self.log).open("ab") as new:
            old.seek(self.read_bytes)
            for line in old:
                if not line.endswith(b"\n"):
                    break
                self.read_bytes += len(line)
                if _stays(line, self.before):
                    self._put(new, line)
            new.flush()
            os.fsync(new.fileno())

    def _put(self, new: BinaryIO, line: bytes) -> None:
        new.write(line)
        self.length += len(line)
        self.crc32 = crc32(line, self.crc32)

    def decide(self, store: Store) -> None:
        """Make it the log, in the state. Raises DiskFault."""
        rows = {
            LOG_KEY: self.length.to_bytes(8, "big"),
            LOG_SUM_KEY: self.crc32.to_bytes(4, "big"),
            LOG_NEW_KEY: b"1",
        }
        store.write({StateTable.META: rows})


def complete_log(log: Path, store: Store) -> None:
    """Put a new log in the place of the old one if the state says so, else delete it. May be
    repeated. Raises OSError, DiskFault."""
    new = new_log_path(log)
    if store.find(StateTable.META, LOG_NEW_KEY) is None:
        new.unlink(missing_ok=True)
        return
    if new.exists():
        new.replace(log)
        sync_folder(log.parent)
    store.write({StateTable.META: {LOG_NEW_KEY: None}})


def _stays(line: bytes, before: bytes) -> bool:
    if line[_AT] >= before or not line.startswith(b'{"at": "'):
        return True
    return b'"address"' not in line and any(words in line for words in _NO_REQUEST)
