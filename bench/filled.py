"""States that know many URLs, made in minutes instead of days.

Rows, queue entries, captures, hosts and sums are those that a crawl would have written, by the
frontier's own encodings, only without the crawl. One URL in fifty is of a host that will be
crawled; the hosts of the others rest for a hundred years, so that nobody asks them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.base.packing import pack
from gossamer.collection.directory import CollectionPaths, open_to_write
from gossamer.frontier.frontier import HOST_BYTES, Frontier
from gossamer.frontier.meta_keys import SALT_KEY, SEEDS_KEY
from gossamer.frontier.rocks import RocksStore
from gossamer.frontier.rows import CaptureRow, QueueEntry, Standing, UrlRow, time_key
from gossamer.frontier.store import StateTable, Store
from gossamer.policies.order import make_key
from gossamer.records import Reason
from gossamer.settings import Frontier as FrontierSettings
from gossamer.settings import Settings
from gossamer.urls.keys import Keys

HOSTS: Final = 1000
AT_HOME: Final = 50  # one URL in so many is of a host that is crawled
NOW_US: Final = 1_700_000_000_000_000
_AT_ONCE: Final = 20_000  # URLs in one batch
_REST_S: Final = 100 * 365 * 86_400  # a node takes it for a day, whenever it starts
_PAGE_BYTES: Final = 20_000


@dataclass(frozen=True, slots=True)
class Filled:
    """A state with so many known URLs, of which so many count as fetched."""

    path: Path
    known: int
    fetched: int


def fill(path: Path, known: int, site_hosts: Sequence[str]) -> Filled:
    """Make a state with `known` URLs, unless it is there from the last time."""
    told = path / "filled.json"
    if told.exists():
        facts = json.loads(told.read_text(encoding="utf-8"))
        return Filled(path, facts["known"], facts["fetched"])
    shutil.rmtree(path, ignore_errors=True)
    home = CollectionPaths(path)
    home.make()
    began_s = time.monotonic()
    fetched = _written(home, lambda store: write_known(store, known, site_hosts))
    told.write_text(json.dumps({"known": known, "fetched": fetched}), encoding="utf-8")
    took_s = time.monotonic() - began_s
    size_mb = sum(file.stat().st_size for file in home.state.iterdir()) / 2**20
    print(
        f"filled {known} URLs in {took_s:.0f} s, {size_mb:.0f} MB on disk",
        file=sys.stderr,
        flush=True,
    )
    return Filled(path, known, fetched)


def _written(home: CollectionPaths, write: Callable[[Store], int]) -> int:
    """What `write` says, after the state is open, written and at rest."""
    store = open_to_write(home, Settings().frontier.memory_mb)
    try:
        said = write(store)
        _let_settle(store)
    finally:
        store.close()
    return said


def _let_settle(store: Store) -> None:
    """Wait for RocksDB to sort its files, as it does all along in a crawl that took its time."""
    assert isinstance(store, RocksStore)
    quiet = 0
    while quiet < 5:
        time.sleep(0.1)
        busy = store._db.property_int_value("rocksdb.num-running-compactions")
        quiet = 0 if busy else quiet + 1


def write_known(store: Store, known: int, site_hosts: Sequence[str]) -> int:
    """Rows, queue entries, captures, hosts and sums of so many URLs; how many count as fetched."""
    frontier = Frontier(store, FrontierSettings(), lambda _: None)
    keys = Keys(store.find(StateTable.META, SALT_KEY) or b"")
    for number, url in enumerate(urls(known, site_hosts)):
        at_home = number % AT_HOME == 0
        _put_known(frontier, url, keys.of(url), number, at_home=at_home)
        if number % _AT_ONCE == 0:
            commit(frontier, store)
    free_us = time.time_ns() // 1000 + _REST_S * 1_000_000
    for place in range(HOSTS):
        host = frontier.touch(keys.host(host_name(place)))
        host.name, host.free_us = host_name(place), free_us
    for name in site_hosts:
        frontier.touch(keys.host(name)).name = name
    seeds = [f"http://{name}/" for name in site_hosts]
    frontier.pending.put(StateTable.META, SEEDS_KEY, pack(seeds))
    commit(frontier, store)
    return frontier.counts.fetched


def urls(known: int, site_hosts: Sequence[str]) -> Iterator[str]:
    """So many distinct URLs; one in fifty of the hosts that will be crawled."""
    for number in range(known):
        if number % AT_HOME == 0 and site_hosts:
            name = site_hosts[(number // AT_HOME) % len(site_hosts)]
        else:
            name = host_name(number % HOSTS)
        yield url_at(name, number)


def url_at(host: str, number: int) -> str:
    return f"http://{host}/archive/{number // 3000}/article-{number}.html"


def host_name(place: int) -> str:
    return f"host-{place}.invalid"  # a name that never is one (RFC 2606)


def _put_known(frontier: Frontier, url: str, key: bytes, number: int, *, at_home: bool) -> None:
    """One URL: fetched, refused or queued in turn."""
    pending, counts = frontier.pending, frontier.counts
    host = frontier.touch(key[:HOST_BYTES])
    host.known += 1
    counts.known += 1
    turn = (number + number // HOSTS) % 20  # each host has some of each
    if turn < 10:
        pending.put(StateTable.URL, key, _fetched_row(url, number).encode())
        capture = CaptureRow(
            "gossamer-0-00001.warc.gz", number * 5000, 5000, 200, "text/html",
            _digest(number), _PAGE_BYTES,
        )  # fmt: skip
        pending.put(StateTable.CAPTURE, key + time_key(NOW_US + number), capture.encode())
        counts.fetched += 1
        counts.count_status(200)
        counts.size_bytes += _PAGE_BYTES
        host.fetched += 1
        host.size_bytes += _PAGE_BYTES
    elif turn < 19 or at_home:
        row = UrlRow(standing=Standing.REFUSED, depth=number % 7, url=url, first_us=NOW_US)
        row.reason, row.detail, row.at_us = Reason.SCOPE, "another host", NOW_US
        pending.put(StateTable.URL, key, row.encode())
        counts.refused += 1
        counts.count_reason(Reason.SCOPE)
        host.refused += 1
    else:
        place = make_key(number % 7, number)
        row = UrlRow(standing=Standing.QUEUED, depth=number % 7, url=url, place=place)
        pending.put(StateTable.URL, key, row.encode())
        entry = QueueEntry(key, url, number % 7)
        pending.put(StateTable.QUEUE, key[:HOST_BYTES] + place, entry.encode())
        counts.queued += 1
        host.queued += 1


def _fetched_row(url: str, number: int) -> UrlRow:
    row = UrlRow(standing=Standing.FETCHED, depth=number % 7, url=url, first_us=NOW_US)
    row.at_us, row.took_s, row.status = NOW_US + number, 0.12, 200
    row.type, row.size_bytes, row.digest = "text/html", _PAGE_BYTES, _digest(number)
    row.title, row.language, row.out_links = f"Article {number} of the archive", "en", 90
    return row


def _digest(number: int) -> str:
    """As long as a real one, and as hard to pack."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    mixed = number * 0x9E3779B97F4A7C15F39CC0605CEDC835 + 0x1234567
    return "sha1:" + "".join(alphabet[mixed >> shift & 31] for shift in range(0, 160, 5))


def commit(frontier: Frontier, store: Store) -> None:
    changes = frontier.begin_commit()
    store.write(changes)
    frontier.end_commit(changes)


def copied(filled: Filled, to: Path) -> Path:
    """A collection with the same state. Table files are linked: RocksDB never changes one."""
    state = CollectionPaths(to).state
    state.mkdir(parents=True)
    for file in CollectionPaths(filled.path).state.iterdir():
        if file.suffix == ".sst":
            os.link(file, state / file.name)
        elif file.is_file():
            shutil.copy(file, state / file.name)
    return to
