"""The crawl as a Python object.

    async with gossamer.Crawl("https://example.org", collection="study", depth=2) as crawl:
        async for page in crawl:
            print(page.status, page.url, page.title, len(page.links))

Plain `with` and `for` work too, also in a notebook that has its own event loop: the crawl then runs
in a thread. Leaving the block stops the crawl cleanly; it continues when the collection is opened
again.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Final, Self, Unpack, cast

from gossamer.base.clock import SystemClock
from gossamer.base.notebook import plain
from gossamer.base.plurals import counted
from gossamer.collection.option_docs import IN_PYTHON, documented, explicit
from gossamer.collection.option_names import settings_of
from gossamer.collection.options import Options
from gossamer.errors import GossamerError, UsageError
from gossamer.graph.ranks.top import top
from gossamer.node.crawled_page import CrawledPage, page_of
from gossamer.node.figures.progress import Progress, Summary
from gossamer.node.seeds import read_seeds
from gossamer.node.session import CrawlPlan, opened
from gossamer.node.visits.revisit_filter import RevisitFilter, revisit_of
from gossamer.reader.change_filter import ChangeOptions, changes_wanted
from gossamer.reader.changes import SeenChange, changes
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.links import anchors, backlinks
from gossamer.reader.page_links import PageLink
from gossamer.reader.pages import StoredPage
from gossamer.reader.summary import html_of, line_of
from gossamer.reader.tables import Table, ask, may_name
from gossamer.records import Outcome
from gossamer.search.copies.results import Copies, CopiesRequest, Copy
from gossamer.search.engine import Engine
from gossamer.search.results import Hit, Request, Results, Sort
from gossamer.settings import Settings, with_values
from gossamer.transfer.export_schemas import READ_AGAIN
from gossamer.transfer.exports import batches, glance
from gossamer.transfer.networks import Graph
from gossamer.urls.canonical import NormalForm
from gossamer.workers.process import ProcessedPage

__all__ = [
    "Collection",
    "Copies",
    "Copy",
    "Crawl",
    "CrawledPage",
    "GossamerError",
    "Graph",
    "Hit",
    "NothingFetched",
    "Options",
    "PageLink",
    "Results",
    "StoredPage",
    "Table",
    "crawl",
    "open",
]

_IN_SQL: Final = ("pages", "links", "hosts", "captures", "files")
_AHEAD: Final = 200  # fetched pages that the reader has not taken; at this number the crawl waits


class NothingFetched(GossamerError):
    """No server responded. The collection keeps the failures: `gossamer why URL` explains them."""

    exit_code = 3


def plan_for(seeds: Sequence[str], collection: str | Path, given: Options) -> CrawlPlan:
    """Return the plan of a crawl. Raises UsageError."""
    options: dict[str, object] = {**given}
    may_change = bool(options.pop("change", False))
    may_add = bool(options.pop("add", False))
    is_forever = bool(options.pop("forever", False))
    revisit = _revisit_in(options)
    flags = settings_of({**IN_PYTHON, **options})
    urls = with_values(Settings(), {k: v for k, v in flags.items() if k.startswith("urls.")}).urls
    form = NormalForm(urls.query, urls.session_parameters)
    return CrawlPlan(
        Path(collection), read_seeds(seeds, form), flags, may_change, may_add, is_forever, revisit
    )


def _revisit_in(options: dict[str, object]) -> RevisitFilter | None:
    """Take the options of a revisit out of all options. Raises UsageError."""
    is_wanted = bool(options.pop("revisit", False))
    older_than, site = options.pop("older_than", None), options.pop("site", None)
    match = options.pop("match", None) or ()
    patterns = [match] if isinstance(match, str) else list(cast("Sequence[str]", match))
    return revisit_of(is_wanted, _text(older_than), _text(site), patterns)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


class Crawl:
    """A crawl to loop over, in a `with` or `async with` block."""

    @explicit
    def __init__(
        self, *seeds: str, collection: str | Path = "gossamer", **options: Unpack[Options]
    ) -> None:
        self._plan = plan_for(seeds, collection, options)
        self._stack = AsyncExitStack()
        self._pages: asyncio.Queue[CrawledPage | None] = asyncio.Queue()
        self._hand_over: Callable[[CrawledPage | None], None] = self._pages.put_nowait
        self._ahead = 0  # fetched pages that the reader has not taken
        self._running: asyncio.Task[Summary] | None = None
        self._thread: _InThread | None = None
        self.summary: Summary | None = None
        self._why_nothing = ""

    # -- async

    async def __aenter__(self) -> Self:
        opening = await self._stack.enter_async_context(opened(self._plan))
        self._node = opening.node
        self._node.on_processed = self._take
        self._node.may_continue = self._has_room
        self._running = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._node.stop()
        try:
            if self._running is not None:
                await self._running
        finally:
            await self._stack.aclose()

    async def __aiter__(self) -> AsyncIterator[CrawledPage]:
        if self._running is None:
            raise UsageError("use `async with Crawl(...) as crawl` and loop inside the block")
        while (page := await self._pages.get()) is not None:
            self.note_taken()
            yield page
        self._pages.put_nowait(None)  # ends a second loop
        await self._running  # raises what ended the crawl

    def __repr__(self) -> str:
        seeds = ", ".join(plain(seed) for seed in self._plan.seeds[:3])
        more = f" and {len(self._plan.seeds) - 3} more" if len(self._plan.seeds) > 3 else ""
        if self.summary is not None:
            state = f"{self.summary.stopped}, {counted(self.summary.fetched, 'page')} fetched"
        elif self._running is None:
            state = "not started"
        else:
            now = self.progress()
            state = f"{now.state}, {counted(now.fetched, 'page')} fetched, {now.queued:,} queued"
        return f"<Crawl of {seeds}{more} into {str(self._plan.collection)!r}: {state}>"

    @property
    def why_nothing(self) -> str:
        """For a crawl that fetched nothing: the reason, for one URL."""
        return self._why_nothing

    def progress(self) -> Progress:
        """Return the current progress."""
        return self._node.progress()

    async def _run(self) -> Summary:
        try:
            self.summary = await self._node.run()
            self._why_nothing = self._node.why_nothing
            return self.summary
        finally:
            self._hand_over(None)

    def _has_room(self) -> bool:
        return self._ahead < _AHEAD

    def _take(self, processed: ProcessedPage) -> None:
        if processed.report.outcome is Outcome.FETCHED:
            self._ahead += 1
            self._hand_over(page_of(processed))

    def hand_over_to(self, take: Callable[[CrawledPage | None], None]) -> None:
        """Pass pages, and None at the end, to `take`; the caller calls `note_taken` for each."""
        self._hand_over = take

    def note_taken(self) -> None:
        """Record that the reader has taken a page: the crawl may wait for that."""
        self._ahead -= 1
        self._node.nudge()

    # -- plain

    def __enter__(self) -> Self:
        self._thread = _InThread(self)
        self._thread.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._thread is not None, "created by __enter__"
        self._thread.end()

    def __iter__(self) -> Iterator[CrawledPage]:
        if self._thread is None:
            raise UsageError("use `with Crawl(...) as crawl` and loop inside the block")
        return self._thread.pages()


class _InThread:
    """A crawl in a thread with its own event loop, for programs without one, or with another."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        # Unbounded: the crawl itself counts the pages that its reader has not taken.
        self._pages: queue.SimpleQueue[CrawledPage | None] = queue.SimpleQueue()
        self._opened: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._fault: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._main, name="gossamer-crawl", daemon=True)

    def begin(self) -> None:
        self._thread.start()
        fault = self._opened.get()
        if fault is not None:
            self._thread.join()
            raise fault

    def end(self) -> None:
        self._tell(self._leaving.set)
        self._thread.join()
        if self._fault is not None:
            raise self._fault

    def pages(self) -> Iterator[CrawledPage]:
        while (page := self._pages.get()) is not None:
            self._tell(self._crawl.note_taken)
            yield page
        self._pages.put(None)  # ends a second loop
        if self._fault is not None:
            raise self._fault

    def _tell(self, order: Callable[[], object]) -> None:
        """Run a function in the crawl's event loop, unless the crawl has ended."""
        assert self._loop is not None, "begin() waits for it"
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(order)

    def _main(self) -> None:
        try:
            asyncio.run(self._carry())
        except BaseException as fault:  # noqa: BLE001  # re-raised in the calling thread
            self._fault = fault
            self._opened.put(fault)
        finally:
            self._pages.put(None)

    async def _carry(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._leaving = asyncio.Event()
        self._crawl.hand_over_to(self._take)
        async with self._crawl:
            self._opened.put(None)
            await self._leaving.wait()

    def _take(self, page: CrawledPage | None) -> None:
        if page is None:
            self._leaving.set()
        else:
            self._pages.put(page)


class Collection(CollectionReader):
    """A collection, opened for reading."""

    @property
    def pages(self) -> Table:
        """Every known URL with its outcome. Reading the whole table, as `.to_arrow()` does, also
        reads `h1`, `description`, `canonical` and `words` from the archive."""
        return self._table("pages")

    @property
    def links(self) -> Table:
        """Every link with its anchor text."""
        return self._table("links")

    @property
    def hosts(self) -> Table:
        return self._table("hosts")

    @property
    def importance(self) -> Table:
        """What fetched pages are worth by each metric: links to it and from it, ranks in both
        directions, similarity to the query, relevance, location and visits."""
        return self._table("importance")

    @property
    def files(self) -> Table:
        """Every file that was found: type, size, linking pages and anchor texts."""
        return self._table("files")

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        site: str = "",
        type: str = "",
        lang: str = "",
        since: str = "",
        changed: str = "",
        sort: Sort = "relevance",
        per_site: int = 0,
        explain: bool = False,
        copies: bool = False,
    ) -> Results:
        """Pages that match a query, best first. The syntax is that of `gossamer search`.

        Includes what a running crawl has committed. A query never fails: invalid syntax is read
        as words, and `hint` of the result says so. Raises QueryError for an invalid filter,
        UsageError, CorruptFile, and StoreError if there is no index.
        """
        request = Request(
            query=query,
            limit=limit,
            offset=offset,
            site=site,
            type=type,
            lang=lang,
            since=since,
            changed=changed,
            sort=sort,
            per_site=per_site,
            explain=explain,
            all_copies=copies,
        )
        return self._engine.search(request)

    def copies(
        self, text: str = "", *, url: str = "", min_words: int = 20, limit: int = 20
    ) -> Copies:
        """Pages that contain parts of a text, those with the most of it first.

        With `url` the text is that of a stored page, which is not among the results. Raises
        UsageError, NotKnown, CorruptFile, and StoreError if there is no index.
        """
        if bool(text) == bool(url):
            raise UsageError("give either a text or a url")
        but = b""
        if url:
            page = self.page(url)
            text, but = page.page.text, self.keys.of(page.url)
        request = CopiesRequest(text=text, but=but, min_words=min_words, limit=limit)
        return self._engine.copies(request)

    @cached_property
    def _engine(self) -> Engine:
        return Engine(self.paths.path)

    def sql(self, query: str) -> Table:
        """Query the tables pages, links, hosts, captures and files with SQL (DuckDB)."""
        tables = {name: self._table(name) for name in _IN_SQL}
        if not may_name(query, READ_AGAIN):  # then no page is read again from the archive
            tables["pages"] = Table("pages", lambda: glance(self, "pages"))
        return ask(query, tables)

    def changes(
        self, since: str = "", *, limit: int = 100, **wanted: Unpack[ChangeOptions]
    ) -> Iterator[SeenChange]:
        """What visits found new, changed, gone, back or moved, the newest first; `limit` 0 is all.
        Times are those of `gossamer changes`: `7d`, a date. Raises UsageError.

            for change in study.changes("7d", kinds=["gone"]): print(change.at, change.url)
        """
        return changes(self, changes_wanted(since, **wanted), limit)

    def backlinks(self, url: str, by: str = "page") -> Table:
        """The links to a URL, or the hosts or sites that link to it.

        Raises NotKnown, UsageError or CorruptFile.
        """
        return Table.of("backlinks", backlinks(self, url, by)[1])

    def anchors(self, url: str) -> Table:
        """The anchor texts of links to a URL, with counts. Raises the same."""
        return Table.of("anchors", anchors(self, url)[1])

    def top(self, by: str = "backlinks", level: str = "page", limit: int = 20) -> Table:
        """The top pages or sites by backlinks, hosts, sites, pagerank, hubs or authorities.

        Raises UsageError or CorruptFile.
        """
        return Table.of("top", top(self.paths.graph, SystemClock(), by, level, limit))

    def graph(self, level: str = "page") -> Graph:
        """The links between pages, hosts or sites, as a network. Raises UsageError."""
        return Graph(self, level)

    def close(self) -> None:
        self._is_closed = True
        super().close()

    _is_closed = False

    def __repr__(self) -> str:
        return line_of(self, is_closed=self._is_closed)

    def _repr_html_(self) -> str:
        return html_of(self, is_closed=self._is_closed)

    def _table(self, name: str) -> Table:
        quick = (lambda: glance(self, name)) if name == "pages" else None
        return Table(name, lambda: batches(self, name), quick)


Crawl.__doc__ = documented(Crawl.__doc__)


@explicit
def crawl(
    *seeds: str, collection: str | Path = "gossamer", **options: Unpack[Options]
) -> Collection:
    """Crawl until done, or to a limit, and open the collection."""
    with Crawl(*seeds, collection=collection, **options) as running:
        for _ in running:
            pass
    ended = running.summary
    if ended is not None and ended.failed and not (ended.fetched or ended.redirects):
        raise NothingFetched(f"nothing was fetched: {running.why_nothing}")
    return open(collection)


crawl.__doc__ = documented(crawl.__doc__)


def open(collection: str | Path = "gossamer") -> Collection:  # noqa: A001  # gossamer.open is its name
    """Open a collection for reading, also while a crawl is running. Raises NoCollection."""
    return Collection.open(Path(collection))
