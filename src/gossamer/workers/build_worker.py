"""What a worker is made of, in the node's own process or in one of its own.

Kept apart from `build.py` so that a worker process loads nothing of the node: it starts in half
the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gossamer.archive.writer import WarcWriter
from gossamer.base.clock import Clock
from gossamer.base.values import dataclass
from gossamer.fetch.cookies import Jar
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.guard import guard_of
from gossamer.fetch.judge import Judge
from gossamer.parse.documents.pdf_process import LEAST_MEMORY_MB
from gossamer.parse.html import Parser
from gossamer.settings import Fetch, Settings
from gossamer.urls.canonical import NormalForm
from gossamer.urls.forgotten import NOTHING, Forgotten
from gossamer.urls.keys import Keys
from gossamer.urls.linker import Linker
from gossamer.workers.crash_marker import CrashMarker
from gossamer.workers.process import PageProcessor
from gossamer.workers.worker import LinkGatherer, Worker


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """Where a worker works, and under which name its files are."""

    paths: Path
    name: str
    run: str  # no two runs write files of the same name
    info: Mapping[str, str]  # for the first record of each WARC file

    @property
    def archive_prefix(self) -> str:
        return f"gossamer-{self.run}-{self.name}"

    @property
    def links_prefix(self) -> str:
        return f"{self.run}-{self.name}"

    @property
    def marker(self) -> Path:
        return self.paths / "run" / f"marker-{self.run}-{self.name}"


def judge_of(settings: Settings) -> Judge:
    """What is fetched: the types asked for, and HTML, because it is the way to all others."""
    types = settings.fetch.types
    is_way = "html" in types or Judge(types, 1).wants("text/html")
    return Judge(types if is_way else (*types, "html"), settings.fetch.max_body_bytes)


def asking_nobody(settings: Settings) -> Settings:
    """The settings for a node that only reads: without what only those need who ask.

    A file of logins may be on another machine, and the value of a secret header is kept nowhere.
    """
    names = (
        "headers", "headers_file", "logins_file", "cookies_file", "client_certificate",
        "authorities_file", "proxy", "proxies",
    )  # fmt: skip
    default = Fetch()
    return replace(
        settings, fetch=replace(settings.fetch, **{name: getattr(default, name) for name in names})
    )


def with_shared_memory(settings: Settings, workers: int) -> Settings:
    """The settings for each of so many workers: they share what PDF may take of the memory."""
    each = max(LEAST_MEMORY_MB, settings.parse.pdf_memory_mb // max(1, workers))
    return replace(settings, parse=replace(settings.parse, pdf_memory_mb=each))


def build_worker(
    settings: Settings,
    context: WorkerContext,
    processor: PageProcessor,
    links: LinkGatherer,
    clock: Clock,
    jar: Jar | None = None,
) -> Worker:
    """A worker that is ready to carry leases."""
    judge = judge_of(settings)
    guard = guard_of(settings.fetch)
    archive = WarcWriter(
        context.paths / "archive", context.archive_prefix, settings.archive, context.info, clock
    )
    fetcher = Fetcher(settings.fetch, judge, guard, clock, jar)
    return Worker(fetcher, archive, processor, links, CrashMarker(context.marker))


def build_processor(
    settings: Settings, keys: Keys, forgotten: Forgotten = NOTHING
) -> PageProcessor:
    """What turns answers into reports; links to what was forgotten are none."""
    judge = Judge(settings.fetch.types, settings.fetch.max_body_bytes)
    form = NormalForm(settings.urls.query, settings.urls.session_parameters)
    # Without graph and index nobody asks for a page's words: it is only followed and archived.
    is_bare = not (settings.node.graph or settings.node.index)
    parser = Parser(settings.parse, judge.wants_media, is_bare=is_bare)
    return PageProcessor(settings, parser, Linker(form, keys, forgotten=forgotten))


def build_gatherer(settings: Settings, context: WorkerContext, clock: Clock) -> LinkGatherer:
    """What takes a worker's links to the graph."""
    return LinkGatherer(context.paths / "graph", context.links_prefix, settings.node, clock)
