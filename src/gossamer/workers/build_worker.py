"""Assemble a worker, for the node's own process or for a worker process.

This module is separate from `node/build.py`, so that a worker process imports nothing of the node.
That halves its start time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.archive.writer import WarcWriter
from gossamer.base.clock import Clock
from gossamer.fetch.cookies import Jar
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.guard import guard_of
from gossamer.fetch.judge import ResponseJudge
from gossamer.parse.documents.pdf_process import LEAST_MEMORY_MB
from gossamer.parse.html import Parser
from gossamer.policies.named_order import is_focused
from gossamer.settings import Fetch, Settings
from gossamer.urls.canonical import NormalForm
from gossamer.urls.forgotten import NOTHING, Forgotten
from gossamer.urls.keys import Keys
from gossamer.urls.linker import Linker
from gossamer.workers.crash_marker import CrashMarker
from gossamer.workers.previous_versions import PreviousVersions
from gossamer.workers.process import PageProcessor
from gossamer.workers.worker import LinkGatherer, Worker

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.workers.focus_words import FocusWords


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The directories and file names that one worker uses."""

    paths: Path
    name: str
    run: str  # part of each file name, so that two runs never write the same file
    info: Mapping[str, str]  # for the warcinfo record, the first of each WARC file

    @property
    def archive_prefix(self) -> str:
        return f"gossamer-{self.run}-{self.name}"

    @property
    def links_prefix(self) -> str:
        return f"{self.run}-{self.name}"

    @property
    def marker(self) -> Path:
        return self.paths / "run" / f"marker-{self.run}-{self.name}"


def judge_of(settings: Settings) -> ResponseJudge:
    """The rules for which responses are fetched: the configured types, and HTML, because links to
    the other types are in HTML.
    """
    types = settings.fetch.types
    is_way = "html" in types or ResponseJudge(types, 1).wants("text/html")
    return ResponseJudge(
        types if is_way else (*types, "html"),
        settings.fetch.max_body_bytes,
        lists_files=settings.fetch.list_only,
    )


def without_requests(settings: Settings) -> Settings:
    """The settings for a node that sends no requests, without the parts that only requests need.

    A file of logins may be on another machine, and the value of a secret header is not stored.
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
    """The settings for each of `workers` workers. They share the memory limit for PDF."""
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
    """A worker that is ready to process leases."""
    judge = judge_of(settings)
    guard = guard_of(settings.fetch)
    archive = WarcWriter(
        context.paths / "archive", context.archive_prefix, settings.archive, context.info, clock
    )
    fetcher = Fetcher(settings.fetch, judge, guard, clock, jar)
    return Worker(fetcher, archive, processor, links, CrashMarker(context.marker))


def build_processor(
    settings: Settings,
    keys: Keys,
    forgotten: Forgotten = NOTHING,
    *,
    counts_links: bool = False,
    archive: Path | None = None,
) -> PageProcessor:
    """The object that turns responses into reports. It drops links to forgotten URLs. With an
    `archive` it compares a page that changed with its previous version there."""
    judge = ResponseJudge(settings.fetch.types, settings.fetch.max_body_bytes)
    form = NormalForm(settings.urls.query, settings.urls.session_parameters)
    # Where neither graph, index nor duplicates use the text of a page, only links are read.
    focus = _focus_of(settings)
    uses_text = settings.node.index or settings.duplicates.mode == "near" or focus is not None
    is_bare = not (settings.node.graph or uses_text)
    parser = Parser(settings.parse, judge.wants_media, is_bare=is_bare)
    linker = Linker(form, keys, forgotten=forgotten)
    versions = PreviousVersions(archive, settings.parse, is_bare=is_bare)
    return PageProcessor(
        settings, parser, linker, counts_links=counts_links, versions=versions, focus=focus
    )


def _focus_of(settings: Settings) -> FocusWords | None:
    """What makes the words of pages, if the order of the crawl is by topic."""
    if not is_focused(settings.frontier.order):
        return None
    from gossamer.workers.focus_words import FocusWords  # loads NumPy

    return FocusWords(settings.focus.classifier)


def build_gatherer(settings: Settings, context: WorkerContext, clock: Clock) -> LinkGatherer:
    """The object that collects a worker's links and writes them for the graph."""
    return LinkGatherer(context.paths / "graph", context.links_prefix, settings.node, clock)
