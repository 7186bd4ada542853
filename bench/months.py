"""A year in the life of a collection: what grows when its pages are visited every day?

Each round is one day: every page is visited once, some have changed, and the crawl is started and
ended. The exchanges are written as a worker would write them, without a network, and the start of
the node reads them, as after a kill. So state, links, index, log and archive are those of a real
crawl. After each round the retention rule is applied, as a running crawl does once a day.

    python bench/months.py [--rounds 300] [--pages 200] [--keep "last 3 or 30 days"]

prints the disk use of each part after some rounds, and the time of a start.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gossamer.archive.warc import RevisitOf, payload_digest
from gossamer.archive.writer import WarcWriter
from gossamer.base.clock import ManualClock
from gossamer.collection.directory import CollectionPaths, open_to_read
from gossamer.collection.disk_use import disk_use
from gossamer.frontier.meta_keys import SALT_KEY
from gossamer.frontier.store import StateTable
from gossamer.node.build import open_node
from gossamer.policies.retention import RetentionRule
from gossamer.records import Fetched, Lease, Purpose
from gossamer.settings import Settings, with_values
from gossamer.upkeep.verify import verify
from gossamer.urls.keys import Keys

HOST: Final = "http://site.test"
DAY_US: Final = 86_400_000_000
WORDS: Final = 600
REQUEST: Final = b"GET /page HTTP/1.1\r\nHost: site.test\r\nUser-Agent: gossamer\r\n\r\n"


def body_of(page: int, version: int, pages: int) -> bytes:
    """A page of about 6 kB of words and twenty links; a new version has ten new words."""
    words = [hashlib.sha1(f"{page} {n}".encode()).hexdigest()[:8] for n in range(WORDS)]
    for n in range(10):
        words[n] = hashlib.sha1(f"{page} {version} {n}".encode()).hexdigest()[:8]
    links = "".join(f'<a href="/p{(page + n) % pages}">page {n}</a>' for n in range(20))
    return f"<title>Page {page}</title><p>{' '.join(words)}</p>{links}".encode()


@dataclass
class Year:
    """One collection, day by day."""

    folder: Path
    keep: str
    pages: int
    now_us: int = 1_767_225_600_000_000
    bodies: dict[int, tuple[int, bytes]] = field(default_factory=dict)  # time and body
    changed: int = 0

    def __post_init__(self) -> None:
        self.paths = CollectionPaths(self.folder)
        self.settings = with_values(Settings(), {"archive.keep": self.keep})
        self.start_s = self.prune_s = 0.0
        asyncio.run(self._run())
        store = open_to_read(self.paths)
        self.keys = Keys(store.find(StateTable.META, SALT_KEY) or b"")
        store.close()

    def day(self, number: int) -> None:
        """One day: page n changes every n + 1 days, and half of them never."""
        self.now_us += DAY_US
        writer = WarcWriter.open(
            self.paths.archive, f"gossamer-day{number}-w0", self.settings.archive,
            {"salt": self.keys.salt.hex()}, ManualClock(self.now_us),
        )  # fmt: skip
        self._robots(writer)
        for page in range(self.pages):
            self._visit(writer, page, number)
        writer.close()
        asyncio.run(self._run(is_pruned=True))

    def _visit(self, writer: WarcWriter, page: int, number: int) -> None:
        version = number // (page + 1) if page < self.pages // 2 else 0
        body = body_of(page, version, self.pages)
        at_us, before = self.bodies.get(page, (0, b""))
        self.now_us += 1_000_000
        url = f"{HOST}/p{page}"
        revisit_of = None
        if body == before:
            revisit_of = RevisitOf(url, at_us, payload_digest(body))
        else:
            self.bodies[page] = self.now_us, body
            self.changed += bool(before)
        writer.append(self._lease(url), self._answer(url, body), revisit_of)

    def _robots(self, writer: WarcWriter) -> None:
        url = f"{HOST}/robots.txt"
        lease = self._lease(url, Purpose.ROBOTS)
        writer.append(lease, self._answer(url, b"User-agent: *\nDisallow: /private\n"))

    def _lease(self, url: str, purpose: Purpose = Purpose.PAGE) -> Lease:
        return Lease(1, url, self.keys.of(url), "site.test", "192.0.2.7", purpose, depth=1)

    def _answer(self, url: str, body: bytes) -> Fetched:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        return Fetched(
            url, 200, head.encode(), body, REQUEST, "192.0.2.7", "http/1.1", self.now_us, 0.01
        )

    async def _run(self, *, is_pruned: bool = False) -> None:
        """Start a node, which reads what was written, apply the rule, and end."""
        with ExitStack() as stack:
            began_s = time.perf_counter()
            clock = ManualClock(self.now_us)
            opened = open_node(
                self.paths, lambda _: self.settings, [f"{HOST}/"], clock, stack, is_import=True
            )
            self.start_s = time.perf_counter() - began_s
            if is_pruned:
                began_s = time.perf_counter()
                await opened.node.pruner.run(RetentionRule.read(self.keep))
                opened.node.pruner.delete_replaced(keep_s=0.0)
                self.prune_s = time.perf_counter() - began_s
            await opened.node.settle()
            await opened.node.aclose()

    def rows(self, rounds: int, every: int) -> Iterator[str]:
        names = ("archive", "state", "graph", "index", "log", "other")
        head = (*names, "files", "start s", "prune s", "changed")
        yield f"{'day':>5} " + " ".join(f"{name:>9}" for name in head)
        for number in range(1, rounds + 1):
            self.day(number)
            if number == 1 or number % every == 0:
                use = disk_use(self.folder).as_json()
                files = len(list(self.paths.archive.glob("*.warc.gz")))
                parts = [f"{use[name] / 1000:>9,.0f}" for name in names]
                times = [f"{self.start_s:>9.2f}", f"{self.prune_s:>9.2f}", f"{self.changed:>9,}"]
                yield f"{number:>5} " + " ".join([*parts, f"{files:>9}", *times])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--keep", action="append")
    chosen = parser.parse_args()
    for keep in chosen.keep or ["all", "versions", "last 3 or 30 days"]:
        folder = Path(tempfile.mkdtemp(prefix="months-"))
        try:
            print(f"keep = {keep}: kB of each part", flush=True)
            year = Year(folder / "c", keep, chosen.pages)
            for line in year.rows(chosen.rounds, chosen.every):
                print(line, flush=True)
            problems = list(verify(year.paths))
            print(f"verify: {len(problems)} problems", *problems[:3], sep="\n  ", flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
