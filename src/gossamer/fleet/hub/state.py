"""The state of a hub in memory, and what of it is not written yet.

Every table is a dictionary of rows. `put` marks a row as changed; `flush` writes all changed rows
in one transaction. A failed write keeps them: the next one writes them. Callers hold the lock of
the hub, except in `flush`, which takes it only to collect.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, ValuesView
from typing import Any, Generic, TypeVar

import msgspec

from gossamer.errors import CorruptFile
from gossamer.fleet.hub.rows import (
    SPECS,
    TABLES,
    BanRow,
    CheckRow,
    CodeRow,
    FreeHostRow,
    HubRow,
    JobRow,
    NumberRow,
    OrderRow,
    PackageRow,
    PersonRow,
    UnitRow,
)
from gossamer.fleet.hub.store import HubStore
from gossamer.fleet.protocol import JobSpec

_R = TypeVar("_R", bound=HubRow)
_ENCODER = msgspec.json.Encoder()
_SPECS = msgspec.json.Decoder(JobSpec)


class PendingRows:
    """Rows that are not written yet, and the number of changes so far."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], object] = {}
        self.edits = 0

    def put(self, table: str, key: str, row: object) -> None:
        self.rows[table, key] = row
        self.edits += 1


class RowTable(Generic[_R]):
    """One table: rows by the text of their first field."""

    def __init__(self, name: str, kind: type[_R], pending: PendingRows) -> None:
        self.name = name
        self._kind = kind
        self._key = msgspec.structs.fields(kind)[0].name
        self._rows: dict[str, _R] = {}
        self._pending = pending

    def load(self, store: HubStore) -> None:
        decoder = msgspec.json.Decoder(self._kind)
        for key, body in store.load(self.name):
            try:
                self._rows[key] = decoder.decode(body)
            except msgspec.DecodeError as fault:
                raise CorruptFile(f"table {self.name}, row {key}", 0, str(fault)) from fault

    def put(self, row: _R) -> None:
        """Add a row, or note that it has changed."""
        key = str(getattr(row, self._key))
        self._rows[key] = row
        self._pending.put(self.name, key, row)

    def put_later(self, row: _R) -> None:
        """Note a change that no answer has to wait for: the next flush writes it."""
        self._pending.rows[self.name, str(getattr(row, self._key))] = row

    def delete(self, key: str) -> None:
        if self._rows.pop(key, None) is not None:
            self._pending.put(self.name, key, None)

    def get(self, key: str | int) -> _R | None:
        return self._rows.get(str(key))

    def __getitem__(self, key: str | int) -> _R:
        return self._rows[str(key)]

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[_R]:
        return iter(self._rows.values())

    def values(self) -> ValuesView[_R]:
        return self._rows.values()


class HubState:
    """All tables of a hub."""

    def __init__(self, store: HubStore) -> None:
        self._store = store
        self._pending = PendingRows()
        self.saved = 0  # of the changes that `edits` counts
        self._writing: dict[tuple[str, str], object] = {}  # by a flush that has not ended
        self._flushing = threading.Lock()
        self.lock = threading.RLock()
        self.jobs: RowTable[JobRow] = self._table("jobs")
        self.units: RowTable[UnitRow] = self._table("units")
        self.codes: RowTable[CodeRow] = self._table("codes")
        self.people: RowTable[PersonRow] = self._table("people")
        self.orders: RowTable[OrderRow] = self._table("orders")
        self.packages: RowTable[PackageRow] = self._table("packages")
        self.bans: RowTable[BanRow] = self._table("bans")
        self.hosts: RowTable[FreeHostRow] = self._table("hosts")
        self.checks: RowTable[CheckRow] = self._table("checks")
        self.numbers: RowTable[NumberRow] = self._table("numbers")

    def _table(self, name: str) -> RowTable[Any]:
        table: RowTable[Any] = RowTable(name, TABLES[name], self._pending)
        table.load(self._store)
        return table

    def put_spec(self, job: str, spec: JobSpec) -> None:
        self._pending.put(SPECS, job, spec)

    def spec_of(self, job: str) -> JobSpec:
        """The specification of a job, from the store if it is written."""
        for waiting in (self._pending.rows, self._writing):
            if isinstance(found := waiting.get((SPECS, job)), JobSpec):
                return found
        body = self._store.read(SPECS, job)
        if body is None:
            raise CorruptFile(f"table {SPECS}", 0, f"job {job} has no specification")
        return _SPECS.decode(body)

    def next_number(self, name: str) -> int:
        """The next number of a kind of row: 1, 2, ..."""
        row = self.numbers.get(name) or NumberRow(name=name)
        row.value += 1
        self.numbers.put(row)
        return row.value

    @property
    def edits(self) -> int:
        """The number of changes so far; those up to `saved` are durable."""
        return self._pending.edits

    def flush(self) -> None:
        """Write all changes made before the call. Raises StoreError, DiskFault; then the changes
        are kept for the next flush."""
        with self._flushing:
            with self.lock:
                batch, edits = self._pending.rows, self._pending.edits
                self._pending.rows = {}
                self._writing = batch
                rows = {
                    key: None if row is None else _ENCODER.encode(row) for key, row in batch.items()
                }
            try:
                self._store.write(rows)
            except BaseException:
                with self.lock:
                    for key, row in batch.items():
                        self._pending.rows.setdefault(key, row)
                raise
            else:
                self.saved = edits
            finally:
                self._writing = {}

    def close(self) -> None:
        self._store.close()
