"""A node whose web is a dictionary, and whose commits can be stopped between any two steps.

A kill is a copy of the directory: what a dead process leaves behind is what is on disk, no more.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from gossamer.archive.reader import iter_exchanges
from gossamer.base.clock import ManualClock
from gossamer.collection.directory import CollectionPaths
from gossamer.fetch.resolve import ResolvedHost
from gossamer.graph import manifest as manifests
from gossamer.index.reader import IndexReader, ids
from gossamer.node.build import Opened, open_node
from gossamer.node.commit import Committer, sync_descriptor
from gossamer.node.indexing import Fresh
from gossamer.policies.policies import Policies
from gossamer.records import Answer, Failed, Fetched, Lease, Reason
from gossamer.settings import Settings, with_values
from gossamer.workers.pool import LocalPool
from gossamer.workers.worker import Worker

SEED = "http://a.example/"
VALUES: dict[str, object] = {
    # The order of requests would depend on the pages that this process has seen.
    "frontier.trap_budget": 0,
    "node.workers": 0,
    "politeness.host_delay_s": 0,
    "scope.kind": "host",
    "archive.roll_bytes": 10_000,
}


@dataclass
class Web:
    """Pages by URL; `flaky` ones are reset the first time. Remembers whom it was asked for."""

    pages: dict[str, str]
    redirects: dict[str, str] = field(default_factory=dict)
    flaky: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def answer(self, lease: Lease, at_us: int) -> Answer:
        url = lease.url
        self.asked.append(url)
        if url in self.flaky and not lease.tries:
            return Failed(url, Reason.RESET, "the line went dead", at_us, 0.01)
        status, body, more = 200, self.pages.get(url, ""), ""
        if url in self.redirects:
            status, more = 301, f"location: {self.redirects[url]}\r\n"
        elif url not in self.pages:
            status, body = 404, "gone"
        head = f"HTTP/1.1 {status} X\r\ncontent-type: text/html\r\n{more}\r\n"
        return Fetched(
            url,
            status,
            head.encode(),
            body.encode(),
            f"GET {url}".encode(),
            lease.address,
            "http/1.1",
            at_us,
            0.01,
        )


def a_web() -> Web:
    """Forty pages in a ring with chords, and one of everything that can go wrong."""
    pages = {
        f"{SEED}{number}": "".join(
            f"<a href='/{(number * step + 1) % 40}'>to {step}</a>" for step in (1, 2, 3)
        )
        + "filler " * 30
        for number in range(40)
    }
    pages[SEED] = (
        "<a href=/0>in</a> <a href=/old>old</a> <a href=/gone>gone</a> <a href=/secret/1>s</a>"
        "<a href=http://b.example/>out</a> <a href=/flaky>flaky</a>"
    )
    pages[f"{SEED}robots.txt"] = "User-agent: *\nDisallow: /secret\n"
    pages[f"{SEED}flaky"] = "<a href=/39>up again</a>"
    return Web(pages, redirects={f"{SEED}old": "/12"}, flaky={f"{SEED}flaky"})


class CrashBench:
    """An open collection, stepped by hand."""

    def __init__(
        self,
        path: Path,
        web: Web,
        clock: ManualClock,
        values: dict[str, object] | None = None,
        policies: Policies | None = None,
    ) -> None:
        self.home = CollectionPaths(path)
        self.web = web
        self.clock = clock
        named = {"fetch.contact": "a@b.example", **VALUES, **(values or {})}
        settings = with_values(Settings(), named)
        with ExitStack() as stack:
            self.opened: Opened = open_node(
                self.home, lambda _: settings, [SEED], clock, stack, policies=policies
            )
            self._stack = stack.pop_all()
        self.parts = self.opened.node._parts
        assert isinstance(self.parts.pool, LocalPool)
        self.worker: Worker = self.parts.pool._worker

    @property
    def committer(self) -> Committer:
        return self.parts.committer

    # -- going on

    def step(self) -> bool:
        """Carry one lease; False when there is none at this moment."""
        lease = self.lease()
        if lease is None:
            return False
        self.carry(lease)
        return True

    def lease(self) -> Lease | None:
        scheduler = self.parts.scheduler
        lease = scheduler.next_lease()
        while lease is None and (hosts := scheduler.take_unresolved()):
            for host in hosts:
                scheduler.resolved(host, ResolvedHost(("127.0.0.1",), float("inf")))
            lease = scheduler.next_lease()
        return lease

    def carry(self, lease: Lease) -> None:
        """What `Worker.fetch_and_store` and the node do, without the network."""
        self.clock._now_s += 0.01
        answer = self.web.answer(lease, self.clock.wall_us())
        stored = self.worker.archive.append(lease, answer)
        processed = self.worker._read(lease, answer, stored)
        self.worker.links.add(processed)
        self.opened.node.take(processed)

    def finish(self) -> None:
        """Crawl to the end and close cleanly."""
        while self.parts.frontier.counts.queued:
            if not self.step():
                self.commit()
                self.clock._now_s += 5.0
                self.parts.frontier.wake_due(self.clock.wall_us())
        self.write_part()
        self.commit()
        assert self.parts.index is not None
        self.parts.index.write(Fresh(), is_last=True)
        self.close()

    def write_part(self) -> None:
        part = self.worker.links.write_now()
        if part is not None:
            self.parts.links.note(part)

    def commit(self) -> None:
        self.committer.commit_now()

    def commit_in_steps(self, snapshot: Path) -> list[Path]:
        """A commit with a copy of the directory before, between and after its steps."""
        copies = [self.copy(snapshot / "0-before")]
        moment = self.committer._moment(is_clean=False)
        for descriptor in moment.descriptors:
            sync_descriptor(descriptor)
        copies.append(self.copy(snapshot / "1-archive"))
        self.parts.crawl_log.append(moment.log_lines)
        copies.append(self.copy(snapshot / "2-log"))
        self.committer._store.write(moment.changes)
        copies.append(self.copy(snapshot / "3-state"))
        self.parts.links.name(moment.parts)
        copies.append(self.copy(snapshot / "4-graph"))
        assert self.parts.index is not None
        assert moment.fresh is not None
        self.parts.index.write(moment.fresh, is_last=True)
        copies.append(self.copy(snapshot / "5-index"))
        self.parts.frontier.end_commit(moment.changes)
        return copies

    def copy(self, to: Path) -> Path:
        shutil.copytree(self.home.path, to)
        return to

    def close(self) -> None:
        self.worker.archive.close()
        self.worker._marker.close()
        self.parts.crawl_log.close()
        self.parts.close_store()
        self.parts.resolver.close()
        self._stack.close()


@dataclass(frozen=True)
class Found:
    """What a collection holds, apart from times."""

    rows: dict[str, tuple[Any, ...]]
    counts: dict[str, Any]
    log: Counter[tuple[Any, ...]]
    links: Counter[tuple[Any, ...]]
    indexed: dict[str, tuple[Any, ...]]
    archived: Counter[tuple[Any, ...]]
    strays: list[str]


def found_in(path: Path, clock: ManualClock) -> Found:
    """Read a closed collection whole."""
    bench = CrashBench(path, Web({}), clock)
    frontier = bench.parts.frontier
    rows = {
        row.url: (row.outcome, row.reason, row.status, row.depth, row.redirect, row.tries)
        for row in frontier.rows(10_000)
    }
    counts = {
        name: getattr(frontier.counts, name)
        for name in ("known", "queued", "fetched", "redirects", "failed", "refused", "indexed")
    }
    bench.close()
    lines = [json.loads(line) for line in bench.home.log.read_text().splitlines()]
    log = Counter(
        tuple(line.get(name) for name in ("url", "outcome", "reason", "status", "tries", "purpose"))
        for line in lines
    )
    manifest = manifests.read(bench.home.graph)
    links: Counter[tuple[Any, ...]] = Counter()
    for part in manifest.parts:
        table = pq.read_table(bench.home.graph / part.name)  # type: ignore[no-untyped-call]
        assert table.num_rows == part.rows
        for row in table.to_pylist():
            links[row["source"], row["target"], row["anchor"], row["kind"]] += 1
    view = IndexReader(bench.home.index).view
    indexed = {}
    for name in ids(bench.home.index):
        kept = view.find(bytes.fromhex(name))
        assert kept is not None
        indexed[kept.url] = (kept.title, kept.headings, view.text(kept))
    archived = Counter(
        (exchange.lease.url, exchange.lease.tries, exchange.lease.purpose)
        for file in sorted(bench.home.archive.glob("*.warc.gz"))
        for exchange in iter_exchanges(file)
    )
    strays = [
        file.name
        for file in bench.home.graph.iterdir()
        if file.name != manifests.NAME and file.name not in {part.name for part in manifest.parts}
    ]
    return Found(rows, counts, log, links, indexed, archived, strays)
