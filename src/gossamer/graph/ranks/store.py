"""Ranks on disk: their files, and the graph they belong to.

    ranks.json               names the files; replaced by rename (docs/ranks.md)
    ranks-*-pages.parquet    url pagerank hub authority
    ranks-*-sites.parquet    the same for sites, if requested
    ranks-*-keys.npy         hashes of all URLs, sorted, and
    ranks-*-values.npy       in the same order, PageRank times the number of pages

Files are written completely before they are named. Replaced files are kept for a grace time,
because a reader may have read their names a moment ago.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.base.checked_lines import crc32, crc32_of
from gossamer.base.disk import is_full_error, is_read_only_error
from gossamer.base.files import delete_if_possible, sync_folder
from gossamer.errors import CorruptFile, DiskFault
from gossamer.graph.arrow import pa, pq
from gossamer.graph.manifest import REBUILD, TEMPORARY_SUFFIX, Manifest

NAME: Final = "ranks.json"
PREFIX: Final = "ranks-"
VERSION: Final = 1
GRACE_S: Final = 600.0
_PIECE_BITS: Final = 4
_STEP: Final = 1_000_000

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class RankInfo:
    """Computed ranks: of which graph, how, and in which files. An empty name means no file."""

    graph: str  # `graph_digest` of the manifest
    at_us: int  # microseconds since 1970
    with_nofollow: bool
    pages: int
    links: int
    rounds: int
    change: float  # by the last iteration of PageRank, in sum
    pages_file: str
    keys_file: str
    values_file: str
    with_hits: bool = False
    sites_file: str = ""
    sums: Mapping[str, str] = field(default_factory=dict)  # CRC-32 of each file

    @property
    def files(self) -> list[str]:
        names = (self.pages_file, self.keys_file, self.values_file, self.sites_file)
        return [name for name in names if name]


def graph_digest(manifest: Manifest) -> str:
    """A digest that identifies a graph.

    The links follow from the archive, so the covered bytes identify them; merging files changes
    nothing. A graph that covers nothing known is identified by its files.
    """
    told = sorted(manifest.covered.items()) or sorted(manifest.files.items())
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]


def hash_of(url: str) -> int:
    """The key of a URL among ranks: the lower 64 bits of its MD5.

    Not the fastest hash, but hard to attack: no page can choose a URL with the key of another.
    """
    digest: bytes = _md5(url.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little")


def _md5_of_short_texts() -> Any:
    """Python's own MD5, which takes half the time of OpenSSL's; else that."""
    try:
        return importlib.import_module("_md5").md5
    except ImportError:  # missing in this Python
        return hashlib.md5


_md5: Final = _md5_of_short_texts()


def hashes_of(urls: Any) -> Hashes:
    """The keys of the URLs in an Arrow column: half the time of single `hash_of` calls."""
    texts = urls.view(pa.binary()).to_pylist()
    digests = [_md5(text, usedforsecurity=False).digest() for text in texts]
    return np.frombuffer(b"".join(digests), "<u8")[1::2].astype(np.uint64)


def write_ordered(paths: tuple[Path, Path], keys: Hashes, values: NDArray[np.float64]) -> None:
    """Write two arrays, sorted by key. Sorted in pieces: all at once takes 16 more bytes per
    key.
    """
    top = np.empty(len(keys), np.uint8)
    for start in range(0, len(keys), _STEP):
        step = slice(start, start + _STEP)
        top[step] = keys[step] >> np.uint64(64 - _PIECE_BITS)
    with ExitStack() as stack:
        files = [stack.enter_context(_written(path)) for path in paths]
        for file, array in zip(files, (keys, values), strict=True):
            np.lib.format.write_array_header_1_0(file, _header(array))
        for piece in range(1 << _PIECE_BITS):
            places = np.flatnonzero(top == piece)
            places = places[np.argsort(keys[places], kind="stable")]
            for file, array in zip(files, (keys, values), strict=True):
                file.write(array[places].data)


def _header(array: NDArray[Any]) -> dict[str, Any]:
    kind = np.lib.format.dtype_to_descr(array.dtype)
    return {"descr": kind, "fortran_order": False, "shape": array.shape}


def find_info(folder: Path) -> RankInfo | None:
    """The content of ranks.json; None if there are no ranks, or none of this version.

    Raises CorruptFile.
    """
    path = folder / NAME
    try:
        record = json.loads(path.read_bytes())
        if record.pop("version") != VERSION:
            return None
        said = record.pop("sum", None)  # missing in older releases
        if said is not None and said != _sum_of(record):
            raise ValueError("its checksum is wrong")
        return _checked(RankInfo(**record))
    except FileNotFoundError:
        return None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise CorruptFile(
            path, 0, f"no ranks ({type(error).__name__} {error}); {REBUILD}"
        ) from None


def _text_of(info: RankInfo) -> bytes:
    record = asdict(info)
    record = {"version": VERSION, **record, "sum": _sum_of(record)}
    return json.dumps(record, indent=1).encode() + b"\n"


def _sum_of(record: Mapping[str, object]) -> str:
    return f"{crc32(json.dumps(record, sort_keys=True).encode()):08x}"


def faults_in(folder: Path) -> Iterator[CorruptFile]:
    """Every damaged file of ranks. Ranks of an older release have no checksums, so only the
    existence of their files is checked.
    """
    try:
        info = find_info(folder)
    except CorruptFile as error:
        yield error
        return
    if info is None:
        if (folder / NAME).exists():
            yield CorruptFile(folder / NAME, 0, f"it has another version; {REBUILD}")
        elif any(folder.glob(f"{PREFIX}*")):
            yield CorruptFile(
                folder / NAME, 0, f"it is missing, but files of ranks exist; {REBUILD}"
            )
        return
    if info.sums and (folder / NAME).read_bytes() != _text_of(info):
        yield CorruptFile(folder / NAME, 0, f"checksum mismatch: its bytes have changed; {REBUILD}")
    for name in info.files:
        try:
            found = f"{crc32_of(folder / name)[0]:08x}"
        except OSError as error:
            what = f"ranks.json names this file, but it cannot be read ({error.strerror})"
            yield CorruptFile(folder / name, 0, f"{what}; {REBUILD}")
            continue
        if info.sums and found != info.sums.get(name):
            what = f"checksum mismatch: its bytes have changed; {REBUILD}"
            yield CorruptFile(folder / name, 0, what)


def _checked(info: RankInfo) -> RankInfo:
    """Check that a name is that of a file in the folder, not a path out of it."""
    for name in info.files:
        if not name.startswith(PREFIX) or Path(name).name != name:
            raise ValueError(f"{name!r} is no name of ranks")
    return info


def replace_info(folder: Path, info: RankInfo) -> RankInfo:
    """Replace ranks.json. Return `info` with the checksums of its files, which must be on disk
    before.
    """
    try:
        sums = {name: f"{crc32_of(folder / name)[0]:08x}" for name in info.files}
    except OSError as error:
        raise disk_fault(error) from error
    info = replace(info, sums=sums)
    with _written(folder / NAME) as file:
        file.write(_text_of(info))
    try:
        sync_folder(folder)
    except OSError as error:
        raise disk_fault(error) from error
    return info


def write_table(path: Path, schema: Any, batches: Iterable[Any]) -> None:
    """URLs are distinct and ranks nearly so, so dictionaries would be as long as the columns."""
    with (
        _written(path) as file,
        pq.ParquetWriter(file, schema, compression="lz4", use_dictionary=False) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


@contextmanager
def _written(path: Path) -> Any:
    """A file that exists, complete and synced, if the block succeeds."""
    new = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        with new.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        delete_if_possible(new)
        raise disk_fault(error) from error


def disk_fault(error: OSError) -> DiskFault:
    is_full, is_read_only = is_full_error(error), is_read_only_error(error)
    way_out = "check the disk"
    if is_full:
        way_out = "the disk is full: free some space, then resume"
    elif is_read_only:
        way_out = "the disk is read-only: make it writable, then resume"
    what = f"cannot write the ranks ({error}); {way_out}"
    return DiskFault(what, is_full=is_full, is_read_only=is_read_only)


def delete_old(folder: Path, before: RankInfo | None, now: RankInfo, at_us: int) -> None:
    """Delete files of ranks that were replaced longer ago than the grace time.

    The modification time of a file is set to the time of its replacement.
    """
    for name in set(before.files if before else ()) - set(now.files):
        path = folder / name
        if path.exists():
            os.utime(path, (at_us / 1e6, at_us / 1e6))
    for path in folder.glob(PREFIX + "*"):
        if path.name not in now.files and path.stat().st_mtime < at_us / 1e6 - GRACE_S:
            path.unlink(missing_ok=True)


def table_schema() -> Any:
    numbers = [pa.field(name, pa.float64()) for name in ("pagerank", "hub", "authority")]
    return pa.schema([pa.field("url", pa.string(), nullable=False), *numbers])
