"""Read a collection: rows, archived pages, and the story of a URL.

Works during a crawl and never stops it: it reads the state as a RocksDB secondary, and archive and
graph as files that only grow. It sees one moment, that of `open` or of the last `refresh`, also in
a scan that takes an hour. Only a takedown is visible at once (`state.py`): deleted pages are no
longer returned, and a running scan ends with Rewritten.
"""

from __future__ import annotations

import difflib
import heapq
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from gossamer.archive.reader import Exchange, read_exchange
from gossamer.base.clock import iso_of
from gossamer.collection.directory import CollectionPaths
from gossamer.collection.forgotten import read_forgotten
from gossamer.collection.starting_points import stored_points
from gossamer.collection.stored_settings import stored_bans, stored_seeds, stored_settings
from gossamer.errors import CorruptFile, NotKnown, Rewritten, UsageError
from gossamer.frontier.counts import Counts
from gossamer.frontier.frontier import HOST_BYTES
from gossamer.frontier.meta_keys import COUNTS_KEY, FRESHNESS_KEY, SALT_KEY
from gossamer.frontier.rows import CaptureRow, HostRow, UrlRow, time_key, time_of
from gossamer.frontier.store import StateTable, Store
from gossamer.frontier.visits.freshness import Freshness
from gossamer.politeness.access import Access
from gossamer.reader.duplicate_facts import duplicate_facts
from gossamer.reader.moments import moment_of
from gossamer.reader.pages import StoredCapture, StoredPage, nearest_capture
from gossamer.reader.state import PresentState, StateCheck
from gossamer.reader.story import Judged, RobotsView, Step, Story, robots_view
from gossamer.reader.trap_facts import trap_sentences
from gossamer.records import Fetched, Found
from gossamer.schedule.admission import Admission, build_scope
from gossamer.settings import Settings
from gossamer.urls.bans import BanList
from gossamer.urls.canonical import NormalForm, host_of, origin_of
from gossamer.urls.keys import KEY_BYTES, Keys
from gossamer.urls.linker import Linker

if TYPE_CHECKING:
    from gossamer.reader.page_diffs import PageDiff

SCAN_ROWS: Final = 10_000
_TRIES: Final = 3  # attempts to read one page while takedowns happen
_LONGEST_CHAIN: Final = 50
# chained revisits in imported archives; a crawl refers to a full capture directly
_REVISITS: Final = 10
_NEAR_ROWS: Final = 5_000  # URLs of a host that are searched for a similar one
_MOST_NEAR: Final = 50  # of these, compared character by character
_LONGEST_NEAR: Final = 500
_HAS_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)


class _FileGone(CorruptFile):
    """A file of the archive is lost, or was replaced by another one in the meantime."""


class CollectionReader:
    """One collection at one moment. Close it, or use it as a context manager."""

    def __init__(self, paths: CollectionPaths, state: PresentState) -> None:
        """Use `open`."""
        self.paths = paths
        self._state = state
        self._settings = stored_settings(self.store) or Settings()
        self.keys = Keys(self.store.find(StateTable.META, SALT_KEY) or b"")
        urls = self._settings.urls
        self._form = NormalForm(urls.query, urls.session_parameters)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a collection to read. Raises NoCollection, WrongVersion or CorruptFile."""
        paths = CollectionPaths(path)
        state = PresentState(paths)
        try:
            return cls(paths, state)
        except BaseException:
            state.close()
            raise

    @property
    def store(self) -> Store:
        """The current state."""
        return self._state.store

    def steady(self) -> AbstractContextManager[StateCheck]:
        """Return a context that reads one state. It yields a check to call before any result is
        used: the check raises Rewritten if a takedown happened."""
        return self._state.steady()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def refresh(self) -> None:
        """See what has been committed in the meantime."""
        self.store.refresh()

    def close(self) -> None:
        self._state.close()

    # -- sums and rows

    def counts(self) -> Counts:
        return Counts.decode(self.store.find(StateTable.META, COUNTS_KEY))

    def freshness(self) -> Freshness | None:
        """The last figures of a crawl that visits pages again; None if there was none."""
        row = self.store.find(StateTable.META, FRESHNESS_KEY)
        return Freshness.decode(row) if row is not None else None

    def settings(self) -> Settings:
        """The settings in force when the collection was last written."""
        return self._settings

    def seeds(self) -> tuple[str, ...]:
        """Return all seeds ever given, and their redirect targets."""
        return stored_seeds(self.store)

    def scan(
        self, table: StateTable, start: bytes = b"", stop: bytes | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Yield rows of a table in key order, read in batches. Raises Rewritten."""
        check = self._state.unchanged()
        while rows := self.store.scan(table, start, stop, SCAN_ROWS):
            for row in rows:
                check()
                yield row
            start = rows[-1][0] + b"\0"

    def url_rows(self) -> Iterator[UrlRow]:
        """Yield every known URL, host by host, in key order."""
        for _, row in self.scan(StateTable.URL):
            yield UrlRow.decode(row)

    def host_rows(self) -> Iterator[HostRow]:
        """Yield every host that has a name."""
        for _, row in self.scan(StateTable.HOST):
            host = HostRow.decode(row)
            if host.name:
                yield host

    # -- one URL

    def spellings(self, text: str) -> list[str]:
        """Return the canonical URLs that a text may stand for; the scheme is optional."""
        stripped = text.strip()
        tried = [stripped]
        if not _HAS_SCHEME.match(stripped):
            tried = [f"https://{stripped}", f"http://{stripped}"]
        found = (self._form.find(one) for one in tried)
        return [url for url in dict.fromkeys(found) if url is not None]

    def _meant(self, text: str) -> str:
        """Return the first URL that a text may stand for. Raises UsageError for an invalid URL."""
        for spelling in self.spellings(text):
            return spelling
        whole = text if _HAS_SCHEME.match(text.strip()) else f"https://{text.strip()}"
        fault = self._form.fault(whole) or "only http and https are crawled"
        raise UsageError(f"{text[:200]!r} is not a URL: {fault}")

    def find(self, url: str) -> UrlRow | None:
        """Return the row of a URL, as typed; None if it is unknown."""
        for spelling in self.spellings(url):
            row = self.find_key(self.keys.of(spelling))
            if row is not None:
                return row
        return None

    def find_key(self, key: bytes) -> UrlRow | None:
        row = self.store.find(StateTable.URL, key)
        return UrlRow.decode(row) if row else None

    def get(self, url: str) -> UrlRow:
        """The same for a URL that must be known. Raises NotKnown, with the most similar known URL,
        and UsageError for an invalid URL."""
        row = self.find(url)
        if row is None:
            raise NotKnown(self._not_known(self._meant(url)))
        return row

    def captures(self, url: str) -> list[StoredCapture]:
        """Return the captures of a URL, the newest last. Raises NotKnown or UsageError."""
        return self._captures(self.keys.of(self.get(url).url))

    def _captures(self, key: bytes) -> list[StoredCapture]:
        rows = self.scan(StateTable.CAPTURE, key, key + b"\xff" * 9)
        return [
            StoredCapture.of(time_of(at[KEY_BYTES:]), CaptureRow.decode(row)) for at, row in rows
        ]

    def last_capture(self, row: UrlRow) -> StoredCapture | None:
        """Return the capture with the stored version of a fetched row."""
        at_us = row.version_us
        found = self.store.find(StateTable.CAPTURE, self.keys.of(row.url) + time_key(at_us))
        return StoredCapture.of(at_us, CaptureRow.decode(found)) if found else None

    # -- what was kept

    def page(self, url: str, at: str | datetime | None = None) -> StoredPage:
        """Return the page at a time: the last capture at or before `at`, else the first after it.

        Raises NotKnown if there is no capture, UsageError for an invalid time or URL, and
        CorruptFile if the archive is damaged there.
        """
        moment = None if at is None else moment_of(at)
        for _ in range(_TRIES - 1):
            with suppress(Rewritten):
                return self._page(url, moment)
        return self._page(url, moment)

    def _page(self, url: str, moment: int | None) -> StoredPage:
        row = self.get(url)
        captures = self._captures(self.keys.of(row.url))
        if not captures:
            because = f" ({row.reason})" if row.reason else ""
            raise NotKnown(
                f"{row.url} has no capture: it is {row.outcome.value}{because}; see `gossamer why`"
            )
        return self.page_at(row.url, nearest_capture(captures, moment))

    def page_at(self, url: str, capture: StoredCapture) -> StoredPage:
        """Return the page of one capture. Raises CorruptFile; NotKnown for a capture that was
        deleted or moved in the meantime; Rewritten."""
        with self.steady() as check:
            captures = self._captures(self.keys.of(url))
            if capture not in captures:
                when = iso_of(capture.at_us)
                raise NotKnown(f"the capture of {url} at {when} no longer exists; try again")
            try:
                page = self._read_page(url, capture, captures)
            except _FileGone:
                page = self._read_again(url, capture)
            check()
            return page

    def _read_again(self, url: str, capture: StoredCapture) -> StoredPage:
        """Read a capture whose file was replaced by another one since the last refresh."""
        self.refresh()
        captures = self._captures(self.keys.of(url))
        for one in captures:
            if one.at_us == capture.at_us:
                return self._read_page(url, one, captures)
        raise NotKnown(
            f"the capture of {url} at {iso_of(capture.at_us)} was deleted by the rule archive.keep"
        )

    def _read_page(
        self, url: str, capture: StoredCapture, versions: Sequence[StoredCapture]
    ) -> StoredPage:
        exchange = self._exchange(capture)
        answer = _answer_of(exchange, self.paths.archive / capture.file)
        described = answer
        for _ in range(_REVISITS):
            if exchange.revisit_of is None:
                break
            exchange = self._exchange(self._origin(exchange, capture))
            described = _answer_of(exchange, self.paths.archive / capture.file)
        # A 304 says that the page is as it was: people want the status of the page.
        shown = described if answer.status == 304 else answer
        return StoredPage(
            url=url,
            at_us=answer.at_us,
            status=shown.status,
            head=answer.head,
            raw_body=described.body,
            body_head=shown.head,
            is_cut=bool(described.cut),
            settings=self._settings.parse,
            versions=versions,
            linker=self._linker,
            compare=self._compare,
        )

    def _compare(self, new: StoredPage, old: StoredPage | str | None) -> PageDiff:
        from gossamer.reader.page_diffs import diff_pages  # takes 0.1 s, and few need it

        return diff_pages(self, new, old)

    def _linker(self) -> Linker:
        """Resolves links in the same way as the crawl."""
        return Linker(self._form, self.keys, forgotten=read_forgotten(self.paths.takedowns))

    def _exchange(self, capture: StoredCapture) -> Exchange:
        path = self.paths.archive / capture.file
        try:
            return read_exchange(path, capture.offset)
        except FileNotFoundError:
            raise _FileGone(
                path, capture.offset, "the file is missing; restore it from a backup"
            ) from None

    def _origin(self, exchange: Exchange, capture: StoredCapture) -> StoredCapture:
        """Return the capture that a revisit refers to, by its time or else by its digest."""
        origin = exchange.revisit_of
        assert origin is not None, "called only for revisits"
        captures = self._captures(self.keys.of(origin.url))
        same = [one for one in captures if one.at_us == origin.at_us]
        alike = [one for one in captures if one.digest == origin.digest and one != capture]
        for found in (*same, *alike):
            return found
        path = self.paths.archive / capture.file
        raise CorruptFile(
            path, capture.offset, f"it repeats a capture of {origin.url} that is missing"
        )

    # -- why

    def story(self, url: str) -> Story:
        """Return all that is known about a URL, or what the rules decide for it. Raises UsageError
        for an invalid URL."""
        meant = self._meant(url)
        row = self.find(url)
        known = row.url if row else meant
        key = self.keys.of(known)
        host = self.store.find(StateTable.HOST, key[:HOST_BYTES])
        return Story(
            url=known,
            row=row,
            via=tuple(self._chain(row)) if row else (),
            captures=tuple(self._captures(key)) if row else (),
            host=HostRow.decode(host) if host else None,
            duplicates=duplicate_facts(self.store, key),
            traps=tuple(trap_sentences(self.store, key, row)) if row else (),
            robots=self._robots(known),
            dropped=0 if row else self.counts().dropped,
            judged=None if row else self._judge(known, key),
            is_seed=known in self.seeds(),
            point=next((one for one in stored_points(self.store) if one.url == known), None),
        )

    def _chain(self, row: UrlRow) -> Iterator[Step]:
        seen: set[bytes] = set()
        while row.via and row.via not in seen and len(seen) < _LONGEST_CHAIN:
            seen.add(row.via)
            before = self.find_key(row.via)
            if before is None:
                return
            yield Step(before.url, before.depth, before.outcome)
            row = before

    def _robots(self, url: str) -> RobotsView | None:
        packed = self.store.find(StateTable.ORIGIN, origin_of(url).encode())
        return robots_view(url, Access.decode(packed)) if packed else None

    def _judge(self, url: str, key: bytes) -> Judged:
        if date := read_forgotten(self.paths.takedowns).date_of(url):
            return Judged(False, f"it was taken down on {date} and is never requested", "forgotten")
        settings, seeds = self._settings, self.seeds()
        bans = BanList.read(map(Path, settings.scope.ban_files))
        live = BanList(stored_bans(self.store))
        verdict = Admission(settings, seeds, bans, live)(Found(url, key, 0))
        if verdict is not None:
            return Judged(False, verdict[1], verdict[0])
        robots = self._robots(url)
        if robots is not None and not robots.is_allowed:
            return Judged(False, robots.rule, "robots")
        return Judged(True, build_scope(settings, seeds).judge(url).because)

    def _not_known(self, url: str) -> str:
        near = self._nearest(url)
        hint = f"did you mean {near}?" if near else f"it has no URL of the host {host_of(url)}"
        return f"the collection does not contain {url}; {hint}"

    def _nearest(self, url: str) -> str:
        """Return the most similar known URL of the same host."""
        host_key = self.keys.of(url)[:HOST_BYTES]
        rows = self.store.scan(StateTable.URL, host_key, host_key + b"\xff" * 9, _NEAR_ROWS)
        return nearest_of(url, [UrlRow.decode(row).url for _, row in rows])


def nearest_of(url: str, known: Sequence[str]) -> str:
    """Return the most similar URL, else the shortest; empty if `known` is empty.

    Exact similarity is expensive: 4 s for 5,000 URLs of 100 characters. So only those with the
    longest common beginning and end are compared, and no long ones.
    """
    if len(url) > _LONGEST_NEAR:
        return min(known, key=len, default="")
    short = [one for one in known if len(one) <= _LONGEST_NEAR]
    likely = heapq.nlargest(_MOST_NEAR, short, key=lambda one: _ends_shared(url, one))
    near = difflib.get_close_matches(url, likely, n=1, cutoff=0.6)
    return near[0] if near else min(known, key=len, default="")


def _ends_shared(one: str, other: str) -> int:
    """Count the characters that are equal at the beginning and at the end."""
    return _same_at_start(one, other) + _same_at_start(one[::-1], other[::-1])


def _same_at_start(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _answer_of(exchange: Exchange, path: Path) -> Fetched:
    if not isinstance(exchange.answer, Fetched):
        raise CorruptFile(
            path, exchange.stored.response, "a capture should be here, but is missing"
        )
    return exchange.answer
