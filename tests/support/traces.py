"""Find the places in a collection that still contain a text, byte by byte, compressed or not."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.store import StateTable, walk
from gossamer.graph.arrow import pq


def traces_of(collection: Path, marker: str) -> list[str]:
    """The files and tables of a collection that contain the marker, ignoring case."""
    wanted = marker.lower().encode()
    return sorted({where for where, data in _all_bytes(collection) if wanted in data.lower()})


def _all_bytes(collection: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(collection.rglob("*")):
        name = str(path.relative_to(collection))
        yield name, name.encode()
        if not path.is_file():
            continue
        data = path.read_bytes()
        yield name, data
        if path.suffix == ".gz":
            yield name, gzip.decompress(data)
        elif path.suffix == ".parquet":
            yield name, repr(pq.read_table(path).to_pylist()).encode()
        elif path.name == "texts":
            yield name, b"".join(_texts(data))
    store = RocksStore.open_to_read(collection / "state")
    for table in StateTable:
        for key, row in walk(store, table):
            yield f"table {table}", key + b" " + row
    store.close()


def _texts(data: bytes) -> Iterator[bytes]:
    """The texts of the index, each compressed separately."""
    while data:
        inflater = zlib.decompressobj()
        yield inflater.decompress(data)
        data = inflater.unused_data
