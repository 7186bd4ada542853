"""Which bodies the central collection has, for the question of a unit (`packages/known.py`)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gossamer.base.clock import Clock, SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import StoreError
from gossamer.fleet.packages.hosts import JobHosts
from gossamer.fleet.packages.known import KnownName, read_name
from gossamer.frontier.rows import CaptureRow
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader

_LOOKED_AT: Final = 1_000  # captures of a URL
_REFRESH_S: Final = 1.0


class KnownBodies:
    """Reads the central collection beside the process that merges. Several threads may use it."""

    def __init__(self, collection: Path, clock: Clock | None = None) -> None:
        self._paths = CollectionPaths(collection)
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._reader: CollectionReader | None = None
        self._fresh_until_s = 0.0

    def close(self) -> None:
        with self._lock:
            if self._reader is not None:
                self._reader.close()
                self._reader = None

    def salt(self) -> str:
        """The salt of the URL keys of the collection, hexadecimal; empty if there is none yet."""
        with self._lock:
            reader = self._open()
            return reader.keys.salt.hex() if reader is not None else ""

    def missing(self, hosts: Sequence[str] | None, names: Sequence[str]) -> list[int]:
        """The positions of bodies that the collection does not have among the captures of URLs of
        these hosts (None: of all). If it cannot be read now, all are missing."""
        with self._lock:
            reader = self._open()
            if reader is None:
                return list(range(len(names)))
            job = JobHosts(hosts) if hosts is not None else None
            try:
                return [
                    at
                    for at, name in enumerate(names)
                    if (one := read_name(name)) is None or not _has(reader, job, one)
                ]
            except StoreError:  # the collection was replaced meanwhile
                return list(range(len(names)))

    def has_pages(self, hosts: Sequence[str]) -> bool:
        """Whether the collection has a URL of one of these hosts, for `Assignment.has_earlier`."""
        with self._lock:
            reader = self._open()
            if reader is None:
                return False
            named = [host for host in hosts if not host.startswith(".")]
            keys = [reader.keys.host(host.lower()) for host in named]
            if any(reader.store.find(StateTable.HOST, key) for key in keys):
                return True
            return len(named) < len(hosts)

    def _open(self) -> CollectionReader | None:
        now_s = self._clock.now_s()
        try:
            if self._reader is None:
                if not self._paths.exists:
                    return None
                self._reader = CollectionReader.open(self._paths.path)
            elif now_s >= self._fresh_until_s:
                self._reader.refresh()
        except StoreError:
            return None
        self._fresh_until_s = now_s + _REFRESH_S
        return self._reader


def _has(reader: CollectionReader, hosts: JobHosts | None, wanted: KnownName) -> bool:
    row = reader.find_key(wanted.key)
    if row is None or (hosts is not None and not hosts.has_url(row.url)):
        return False
    stop = wanted.key + b"\xff" * 9
    rows = reader.store.scan(StateTable.CAPTURE, wanted.key, stop, _LOOKED_AT)
    return any(CaptureRow.decode(packed).digest == wanted.digest for _, packed in rows)
