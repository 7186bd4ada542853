"""The state in RocksDB: one writer, and readers in other processes that never stop it.

Found by trying: `write` holds the interpreter's lock, so batches are kept to what one second of
crawling brings; raw mode (bytes in, bytes out) is three times as quick as the typed one.

Filters and indexes are cut into partitions of 4 KiB. Whole ones grow with their table files, to
1.3 MB at a million URLs, and the cache is divided into up to 64 shards: one that is larger than its
shard is read and thrown away for every single lookup. `bench/known.py`, CPU for a new URL and a
known one, in microseconds: whole 160 and 470 at a million URLs, 460 and 920 at ten million;
partitioned 1.6 and 9, then 3 and 13. Kept outside the cache they cost 1 and 9, but 3 bytes of
memory for every URL ever known, without a bound.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from rocksdict import (
    AccessType,
    BlockBasedIndexType,
    BlockBasedOptions,
    Cache,
    Checkpoint,
    DBCompressionType,
    Options,
    Rdict,
    ReadOptions,
    WriteBatch,
    WriteOptions,
)

from gossamer.base.disk import is_denied_error, is_full_error, is_read_only_error
from gossamer.base.files import link_files
from gossamer.errors import CollectionInUse, CorruptFile, DiskFault
from gossamer.frontier.meta_keys import EPOCH_KEY
from gossamer.frontier.store import StateTable, TableChanges, check_epoch, epoch_in, epoch_row

_OF_THE_DISK: Final = ("No space left", "Input/output error", "Read-only file system")
_BINDING: Final = "rocksdict-config.json"
# What the error of a damaged state says to do.
REBUILD: Final = "rebuild it with `gossamer rebuild state`"
_PARTITION_BYTES: Final = 4096
_FILE: Final = re.compile(r"([^/\s:]+\.(?:sst|log)|MANIFEST-\d+|CURRENT)\b")
_OFFSET: Final = re.compile(r"\boffset (\d+)")
_ATTEMPTS: Final = 3
_MANY_FILES: Final = 32  # from which threads that open them pay on a slow disk
_MOST_CHARS: Final = 200  # of what RocksDB says
_FILTER_SHARE: Final = 0.05  # of the room for rows: 10 bits for each of some 120 bytes, and more


@dataclass(frozen=True, slots=True)
class _Beside:
    """A reader beside the writer: where it lies, and which table files it was opened on."""

    folder: Path
    scratch: Path
    memory_mb: int
    manifest: tuple[str, int, int]


class RocksStore:
    """A directory of RocksDB files, a column family for each table."""

    def __init__(self, db: Rdict, beside: _Beside | None = None) -> None:
        self._beside = beside
        self._synced = WriteOptions()
        self._synced.sync = True
        self._epoch: int | None = None  # that wrote last; read by the first write
        self._use(db)

    def _use(self, db: Rdict) -> None:
        self._db = db
        there = _tables_of(Path(db.path()))
        self._tables = {table: db.get_column_family(table.value) for table in there}
        self._handles = {table: db.get_column_family_handle(table.value) for table in there}

    @classmethod
    def open(cls, folder: Path, memory_mb: int = 96) -> Self:
        """Open for writing, or make. Raises CollectionInUse, CorruptFile or DiskFault."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise _disk_fault(fault) from fault
        cache = Cache(memory_mb * 2**20 // 2)
        options = _options(cache, memory_mb)
        families = {table.value: _options(cache, memory_mb) for table in StateTable}
        # Three URLs of a page are new: a filter says so in 0.2 microseconds, where the list of rows
        # that are not in a file yet takes 1.1, and the more the longer it is.
        families[StateTable.URL.value].set_memtable_prefix_bloom_ratio(_FILTER_SHARE)
        families[StateTable.URL.value].set_memtable_whole_key_filtering(True)
        return cls(_open(folder, options, families, AccessType.read_write()))

    @classmethod
    def open_to_read(cls, folder: Path, memory_mb: int = 32) -> Self:
        """Open beside a writer; `refresh` shows what it wrote meanwhile."""
        return cls(*_open_beside(folder, memory_mb))

    def find(self, table: StateTable, key: bytes) -> bytes | None:
        if table not in self._tables:
            return None
        try:
            row: bytes | None = self._tables[table].get(key)
        except Exception as fault:
            raise self._fault(fault) from fault
        return row

    def find_many(self, table: StateTable, keys: Sequence[bytes]) -> list[bytes | None]:
        """One call for all keys: a quarter quicker than one for each (20 keys: 2.0 microseconds
        each instead of 2.5, half of them known)."""
        if table not in self._tables:
            return [None] * len(keys)
        try:
            rows: list[bytes | None] | None = self._tables[table].get(list(keys))
        except Exception as fault:
            raise self._fault(fault) from fault
        return rows or []

    def scan(
        self, table: StateTable, start: bytes, stop: bytes | None, limit: int
    ) -> list[tuple[bytes, bytes]]:
        reading = ReadOptions()
        if stop is not None:
            reading.set_iterate_upper_bound(stop)
        rows: list[tuple[bytes, bytes]] = []
        if table not in self._tables:
            return rows
        try:
            cursor = self._tables[table].iter(reading)
            cursor.seek(start)
            while len(rows) < limit and cursor.valid():
                rows.append((cursor.key(), cursor.value()))
                cursor.next()
            cursor.status()  # raises when the walk ended by a fault and not by the end
        except Exception as fault:
            raise self._fault(fault) from fault
        return rows

    def write(self, changes: TableChanges, epoch: int = 0) -> None:
        if self._epoch is None:
            self._epoch = epoch_in(self.find(StateTable.META, EPOCH_KEY))
        check_epoch(self._epoch, epoch)
        batch = WriteBatch(raw_mode=True)
        for table, rows in changes.items():
            handle = self._handles[table]
            for key, value in rows.items():
                if value is None:
                    batch.delete(key, handle)
                else:
                    batch.put(key, value, handle)
        if epoch > self._epoch:
            batch.put(EPOCH_KEY, epoch_row(epoch), self._handles[StateTable.META])
        try:
            self._db.write(batch, self._synced)
        except Exception as fault:
            if _is_damage(str(fault)):  # met by a compaction; RocksDB takes no rows after it
                raise self._fault(fault) from fault
            raise _disk_fault(fault) from fault
        self._epoch = epoch

    def checkpoint(self, folder: Path) -> None:
        """Lay the state of this moment aside in a new folder; the files of both are shared.

        Another thread may be writing. Raises DiskFault.
        """
        try:
            Checkpoint(self._db).create_checkpoint(str(folder))
        except Exception as fault:
            if _is_damage(str(fault)):
                raise self._fault(fault) from fault
            raise _disk_fault(fault) from fault

    def refresh(self) -> None:
        """See what was written since; nothing for the writer itself.

        A reader that catches up goes on answering from the log that it has read, though the writer
        has put newer rows into tables and ended: the last seconds of a crawl would stay unseen.
        So it is opened anew whenever tables were added, which is every few minutes and at the end.
        """
        if self._beside is None:
            return
        folder, memory_mb = self._beside.folder, self._beside.memory_mb
        if _manifest_of(folder) != self._beside.manifest:
            # One that cannot be opened this moment (a file went away meanwhile) can be the next.
            with contextlib.suppress(CorruptFile, DiskFault):
                db, beside = _open_beside(folder, memory_mb)
                self.close()
                self._beside = beside
                self._use(db)
                return
        try:
            self._db.try_catch_up_with_primary()
        except Exception as fault:
            raise self._fault(fault) from fault

    def _fault(self, fault: Exception) -> CorruptFile | DiskFault:
        """What RocksDB raised while rows were read, as an error of ours."""
        folder = self._beside.folder if self._beside is not None else Path(self._db.path())
        text = str(fault)
        return _disk_fault(fault) if _is_disk(text) else damage_of(folder, text)

    def tidy(self) -> None:
        """Let RocksDB's threads put what is in its log into tables. `close` waits for that, with
        the interpreter's lock, a quarter of a second for 15 MB of rows."""
        with contextlib.suppress(Exception):  # as in `close`
            for table in self._tables.values():
                table.flush(wait=False)

    def close(self) -> None:
        """Let go. What is written is in RocksDB's synced log; tidying it up into tables can wait.

        So a disk that fails here loses nothing, and is not spoken of: the next start reads the log.
        """
        self._tables.clear()
        self._handles.clear()
        with contextlib.suppress(Exception):  # the library raises nothing more exact
            self._db.close()
        if self._beside is not None:
            shutil.rmtree(self._beside.scratch, ignore_errors=True)


def _open_beside(folder: Path, memory_mb: int) -> tuple[Rdict, _Beside]:
    """A reader of another process's state. Raises CorruptFile, DiskFault."""
    manifest = _manifest_of(folder)  # first: what is added meanwhile is seen twice, not never
    scratch = Path(tempfile.mkdtemp(prefix="gossamer-reader-"))
    own = scratch / "own"
    own.mkdir()
    cache = Cache(memory_mb * 2**20)
    options = _options(cache, memory_mb)
    options.create_if_missing(False)
    # A secondary keeps all files open, so that the writer may delete what it no longer needs.
    options.set_max_open_files(-1)
    families = {table.value: _options(cache, memory_mb) for table in _tables_of(folder)}
    try:
        try:
            _check_tables(folder, scratch)
            db = _open(folder, options, families, AccessType.secondary(str(own)))
        except (CorruptFile, DiskFault) as fault:
            if fault.__cause__ is None or not is_denied_error(fault.__cause__):
                raise
            linked = _linked(folder, scratch / "linked")
            _check_tables(linked, scratch)
            db = _open(linked, options, families, AccessType.secondary(str(own)))
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return db, _Beside(folder, scratch, memory_mb, manifest)


def _tables_of(folder: Path) -> list[StateTable]:
    """The tables that a state has: one that an older version wrote, and that nobody has opened for
    writing since, lacks those added later. Where they cannot be listed, opening it says why."""
    try:
        names = set(Rdict.list_cf(str(folder), Options(raw_mode=True)))
    except Exception:  # noqa: BLE001 - the library raises nothing more exact
        return list(StateTable)
    return [table for table in StateTable if table.value in names]


def _linked(folder: Path, target: Path) -> Path:
    """A folder of links to the files of a state that cannot be written: the binding writes a file
    there that says how it was opened."""
    try:
        target.mkdir()
        link_files(folder, target, lambda name: name != _BINDING)
        if (folder / _BINDING).exists():
            shutil.copyfile(folder / _BINDING, target / _BINDING)
    except OSError as fault:
        raise _disk_fault(fault) from fault
    return target


def _check_tables(folder: Path, scratch: Path) -> None:
    """Raise CorruptFile when a table file cannot be opened.

    A reader beside a writer passes over such a file, and has no row of it, without a word. One that
    only reads says so. It may meet files that a writer deletes this moment: then it looks again.
    """
    cache = Cache(2**20)
    options = _options(cache, 4)
    options.create_if_missing(False)
    options.set_db_log_dir(str(scratch))  # else it would be written to the state
    options.set_max_open_files(-1)
    families = {table.value: _options(cache, 4) for table in _tables_of(folder)}
    for attempt in range(_ATTEMPTS):
        try:
            _open(folder, options, families, AccessType.read_only(False)).close()
        except CorruptFile:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def _manifest_of(folder: Path) -> tuple[str, int, int]:
    """The file that names all table files, its length, which grows with each of them, and its
    number on the disk: after a takedown another state lies here, perhaps with a like file."""
    try:
        name = (folder / "CURRENT").read_text(encoding="ascii").strip()
        found = (folder / name).stat()
        return name, found.st_size, found.st_ino
    except (OSError, ValueError):  # whoever opens it says what is wrong
        return "", 0, 0


def _options(cache: Cache, memory_mb: int) -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    options.set_compression_type(DBCompressionType.lz4())
    options.set_db_write_buffer_size(memory_mb * 2**20 // 2)
    options.set_write_buffer_size(max(4, memory_mb // 8) * 2**20)
    options.set_max_open_files(256)
    options.set_keep_log_file_num(2)
    options.set_max_background_jobs(2)
    table = BlockBasedOptions()
    table.set_block_cache(cache)
    table.set_bloom_filter(10, False)
    table.set_cache_index_and_filter_blocks(True)
    table.set_pin_l0_filter_and_index_blocks_in_cache(True)
    table.set_index_type(BlockBasedIndexType.two_level_index_search())
    table.set_partition_filters(True)
    table.set_metadata_block_size(_PARTITION_BYTES)
    table.set_pin_top_level_index_and_filter(True)
    options.set_block_based_table_factory(table)
    return options


def _open(folder: Path, options: Options, families: dict[str, Options], how: AccessType) -> Rdict:
    options.set_max_file_opening_threads(_opening_threads(folder))
    try:
        return Rdict(str(folder), options, column_families=families, access_type=how)
    except Exception as fault:
        text = str(fault)
        if "lock" in text.lower() and "LOCK" in text:
            raise CollectionInUse(folder.parent, "another process") from fault
        if _is_disk(text):
            raise _disk_fault(fault) from fault
        raise damage_of(folder, text) from fault


def _opening_threads(folder: Path) -> int:
    """How many threads open the table files. RocksDB starts as many for each table, whatever there
    is to open: 16, its own number, take 15 of the 24 ms that opening a small state takes."""
    return 1 if sum(1 for _ in folder.glob("*.sst")) < _MANY_FILES else 16


def _is_disk(text: str) -> bool:
    return any(words in text for words in _OF_THE_DISK)


def _is_damage(text: str) -> bool:
    return "Corruption" in text or "No such file" in text


def damage_of(folder: Path, text: str) -> CorruptFile:
    """RocksDB's words about damage: the file and the byte that they name, and what mends it."""
    named = _FILE.search(text)
    at = _OFFSET.search(text)
    path = folder / named[1] if named else folder
    what = " ".join(text.split("\n", 1)[0].split())[:_MOST_CHARS]
    found = f"the state is damaged ({what}); {REBUILD}"
    return CorruptFile(path, int(at[1]) if at else 0, found)


def _disk_fault(fault: Exception) -> DiskFault:
    is_full = "No space left" in str(fault) or is_full_error(fault)
    is_read_only = is_read_only_error(fault)
    what, advice = f"the state cannot be written ({fault})", "check the disk, then resume"
    if is_full:
        what, advice = "the disk is full", "free some space, then resume"
    elif is_read_only:
        what, advice = "the disk is read-only", "make it writable, then resume"
    what = f"{what}; {advice}: everything up to the last commit is safe"
    return DiskFault(what, is_full=is_full, is_read_only=is_read_only)
