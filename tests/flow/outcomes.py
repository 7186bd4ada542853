"""What became of each URL, and a clock in a hurry."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from gossamer.frontier.rows import UrlRow
from gossamer.node.figures.progress import Summary
from gossamer.reader.collection_reader import CollectionReader
from support import a_crawl


def outcomes(collection: Path) -> dict[str, UrlRow]:
    """Every known URL with what is known of it."""
    with CollectionReader.open(collection) as reader:
        return {row.url: row for row in reader.url_rows()}


def fates(collection: Path) -> dict[str, str]:
    """For each path its outcome: `fetched 200`, `failed reset`, `refused robots`, `queued`."""
    found = {}
    for url, row in outcomes(collection).items():
        what = str(row.status) if row.outcome == "fetched" else row.reason
        path = "/" + url.partition("//")[2].partition("/")[2]
        found[path] = f"{row.outcome} {what}".strip()
    return found


class HurriedClock:
    """The machine's clock, many times as quick: waits of minutes pass in a moment.

    For what is to be tried again later. Times that libcurl keeps are not hurried.
    """

    def __init__(self, times: float = 500.0) -> None:
        self.times = times
        self._began_s = time.monotonic()
        self._began_us = time.time_ns() // 1000

    def now_s(self) -> float:
        return (time.monotonic() - self._began_s) * self.times

    def wall_us(self) -> int:
        return self._began_us + round(self.now_s() * 1e6)

    async def sleep_until(self, when_s: float) -> None:
        await asyncio.sleep(max(0.0, when_s - self.now_s()) / self.times)


def crawl(collection: Path, seeds: Sequence[str], **settings: object) -> Summary:
    """A crawl that ends after 90 s, come what may: no bug may hang a test."""
    return a_crawl.crawl(collection, seeds, **{"limits__max_time_s": 90.0, **settings})


def crawl_hurried(collection: Path, seeds: Sequence[str], **settings: object) -> Summary:
    """`crawl`, with a clock in a hurry."""
    clock = HurriedClock()
    seldom = {  # 120 ms of ours; a connection that a server closed is known to be closed by then
        "node__commit_every_s": 60.0,
        "node__index_every_s": 60.0,
        "politeness__idle_retry_wait_s": 60.0,
    }
    named = {"limits__max_time_s": 90.0 * clock.times, **seldom, **settings}
    return asyncio.run(a_crawl.crawl_in_loop(collection, seeds, named, clock=clock))
