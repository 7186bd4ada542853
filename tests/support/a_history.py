"""A collection whose pages have many versions, without a crawl.

Exchanges are written into WARC files as a worker would write them, and the next start of a node
reads them, as after a kill.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from gossamer.archive.warc import RevisitOf, payload_digest
from gossamer.archive.writer import WarcWriter
from gossamer.base.clock import ManualClock
from gossamer.collection.directory import CollectionPaths, open_to_read
from gossamer.frontier.meta_keys import SALT_KEY
from gossamer.frontier.store import StateTable
from gossamer.node.build import open_node
from gossamer.records import Answer, Fetched, Lease, Purpose
from gossamer.settings import Archive, Settings, with_values
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import Keys

SEED = "http://site.test/"
DAY_S = 86_400.0


@dataclass
class History:
    """Writes visits at chosen times."""

    folder: Path
    values: Mapping[str, object] = field(default_factory=dict)
    has_revisits: bool = True  # else the body is stored again
    now_us: int = 1_767_225_600_000_000  # 2026-01-01

    def __post_init__(self) -> None:
        self.settings = with_values(Settings(), dict(self.values))
        self.paths = CollectionPaths(self.folder)
        self.last: dict[str, tuple[int, bytes]] = {}  # URL -> capture with the body, and the body
        self.seen: list[tuple[str, int, bytes]] = []  # URL, time and body of every visit
        self._number = 0
        self.open()
        store = open_to_read(self.paths)
        self.keys = Keys(store.find(StateTable.META, SALT_KEY) or b"")
        store.close()

    @property
    def clock(self) -> ManualClock:
        return ManualClock(self.now_us)

    def wait(self, days: float) -> None:
        self.now_us += round(days * DAY_S * 1e6)

    def open(self) -> None:
        """Start a node, which reads what was written, and end it cleanly."""

        async def run() -> None:
            with ExitStack() as stack:
                opened = open_node(
                    self.paths, lambda _: self.settings, [SEED], self.clock, stack, is_import=True
                )
                await opened.node.settle()
                await opened.node.aclose()

        asyncio.run(run())

    def write(self, visits: Iterable[tuple[str, bytes]], *, step_s: float = 1.0) -> str:
        """Write one file with a visit of each URL; a body that is the same becomes a revisit."""
        archive = Archive(roll_bytes=self.settings.archive.roll_bytes)
        info = {"robots": "obey", "salt": self.keys.salt.hex()}
        folder = self.paths.archive
        writer = WarcWriter.open(folder, "gossamer-run-w0", archive, info, self.clock)
        for url, body in visits:
            self.now_us += round(step_s * 1e6)
            self._visit(writer, url, body)
        writer.close()
        return writer.name

    def _visit(self, writer: WarcWriter, url: str, body: bytes) -> None:
        at_us = self.now_us
        before = self.last.get(url)
        is_same = before is not None and before[1] == body
        revisit_of = None
        if before is not None and is_same and self.has_revisits:
            revisit_of = RevisitOf(url, before[0], payload_digest(body))
        elif not is_same:
            self.last[url] = at_us, body
        self.seen.append((url, at_us, body))
        writer.append(self.lease(url), an_answer(url, at_us, body), revisit_of)

    def append(self, *answers: tuple[Lease, Answer]) -> str:
        """Write one file with any exchanges."""
        archive = Archive()
        writer = WarcWriter.open(
            self.paths.archive, "gossamer-run-w0", archive, {"robots": "obey"}, self.clock
        )
        for lease, answer in answers:
            writer.append(lease, answer)
        writer.close()
        return writer.name

    def lease(self, url: str, purpose: Purpose = Purpose.PAGE) -> Lease:
        self._number += 1
        return Lease(
            self._number, url, self.keys.of(url), host_of(url), "192.0.2.7", purpose, depth=1
        )


def an_answer(url: str, at_us: int, body: bytes, status: int = 200) -> Fetched:
    head = f"HTTP/1.1 {status} OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
    request = b"GET / HTTP/1.1\r\nHost: site.test\r\n\r\n"
    return Fetched(url, status, head.encode(), body, request, "192.0.2.7", "http/1.1", at_us, 0.01)


def a_body(name: str, version: int, *links: str) -> bytes:
    """A page of about two kilobytes."""
    words = " ".join(f"{name}word{version}x{n}" for n in range(150))
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return f"<title>{name} {version}</title><p>{words}</p>{anchors}".encode()
