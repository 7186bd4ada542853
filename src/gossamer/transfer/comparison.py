"""Compare two collections, or two moments of one: which pages are new, gone, moved or changed?

URLs are compared by their text, because two collections have different keys. One table is walked,
and each URL is looked up on the other side, so memory does not grow with the collections. The
versions of a changed page are read from the archives and compared as a crawl does it: words, links
and title, without noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final, NamedTuple

from gossamer.base.clock import iso_of
from gossamer.compare.versions import change_of, compare_versions
from gossamer.errors import CorruptFile, NotKnown
from gossamer.frontier.rows import CaptureRow, Standing, UrlRow, time_of
from gossamer.frontier.store import StateTable
from gossamer.policies.noise import TemplateNoise, without_noise
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.page_diffs import noise_of
from gossamer.reader.pages import StoredCapture, StoredPage
from gossamer.urls.keys import KEY_BYTES

KINDS: Final = ("new", "gone", "moved", "changed", "status")
_GONE: Final = frozenset({404, 410})


class Side(NamedTuple):
    """One of the two that are compared: a collection, now or at a moment."""

    reader: CollectionReader
    at_us: int | None = None  # None: as it is now

    @property
    def name(self) -> str:
        when = f" at {iso_of(self.at_us)}" if self.at_us is not None else ""
        return f"{self.reader.paths.path}{when}"


class PageState(NamedTuple):
    """What a side knows of a URL. Without a capture it has no answer of it."""

    capture: StoredCapture | None = None
    target: str = ""  # of a redirect, if it is known

    @property
    def status(self) -> int:
        return self.capture.status if self.capture is not None else 0

    @property
    def is_page(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Difference:
    """A URL in which the two sides differ."""

    kind: str  # one of KINDS
    url: str
    status_before: int = 0
    status: int = 0
    words_added: int = 0
    words_removed: int = 0
    links_added: int = 0
    links_removed: int = 0
    title_before: str = ""  # empty where the title is the same
    title: str = ""
    target: str = ""  # of a page that moved
    at: str = ""  # of the newer version

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class Totals:
    """The sums of a comparison."""

    pages_before: int = 0
    pages_after: int = 0
    same: int = 0
    noise: int = 0  # pages with other bytes, in which nothing but noise changed
    unreached: int = 0  # pages of the first side of which the second has no answer
    by_kind: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    words_added: int = 0
    words_removed: int = 0
    links_added: int = 0
    links_removed: int = 0

    def as_json(self) -> dict[str, Any]:
        values = asdict(self)
        return {**values.pop("by_kind"), **values}

    def note(self, found: Difference) -> None:
        self.by_kind[found.kind] += 1
        self.words_added += found.words_added
        self.words_removed += found.words_removed
        self.links_added += found.links_added
        self.links_removed += found.links_removed


class Comparison:
    """Yields the differences of two sides, and sums them up in `totals` on the way."""

    def __init__(self, old: Side, new: Side, *, is_quick: bool = False) -> None:
        """`is_quick`: pages with other bytes count as changed, and no version is read."""
        self._old = old
        self._new = new
        self._is_quick = is_quick
        self.totals = Totals()

    def differences(self) -> Iterator[Difference]:
        """Yield every difference, in the order of the state. Raises CorruptFile, Rewritten."""
        pairs = self._moments() if self._old.reader is self._new.reader else self._collections()
        for url, before, after in pairs:
            self.totals.pages_before += before is not None and before.is_page
            self.totals.pages_after += after is not None and after.is_page
            found = self._difference(url, before, after)
            if found is not None:
                self.totals.note(found)
                yield found

    def _moments(self) -> Iterator[tuple[str, PageState | None, PageState | None]]:
        moments = self._old.at_us, self._new.at_us
        for row, captures in _captured(self._old.reader):
            before, after = (_at(row, captures, at_us) for at_us in moments)
            yield row.url, before, after

    def _collections(self) -> Iterator[tuple[str, PageState | None, PageState | None]]:
        old, new = self._old, self._new
        for row, captures in _captured(old.reader):
            before = _at(row, captures, old.at_us)
            if before is not None:
                yield row.url, before, _find(new, row.url)
        for row, captures in _captured(new.reader):
            after = _at(row, captures, new.at_us)
            if after is not None and _find(old, row.url) is None:
                yield row.url, None, after

    def _difference(
        self, url: str, before: PageState | None, after: PageState | None
    ) -> Difference | None:
        kind = kind_of(before, after)
        if kind is None:
            if before is not None and before.is_page and after is not None:
                self.totals.same += after.is_page
                self.totals.unreached += after.capture is None
            return None
        found = Difference(
            kind,
            url,
            before.status if before else 0,
            after.status if after else 0,
            target=after.target if after and kind == "moved" else "",
            at=after.capture.at if after and after.capture else "",
        )
        if kind != "changed" or self._is_quick:
            return found
        assert before is not None, "a page that changed was there"
        assert after is not None, "and is there"
        return self._with_details(found, before, after)

    def _with_details(
        self, found: Difference, before: PageState, after: PageState
    ) -> Difference | None:
        """A changed page with its words and links; None if only noise changed."""
        old, new = _page(self._old, found.url, before), _page(self._new, found.url, after)
        if old is None or new is None:
            return found  # a version was deleted from the archive
        if not (old.text or old.title or new.text or new.title):
            return found  # an image, say: other bytes are all that can be said
        change = change_of(compare_versions(old.version, new.version), 0)
        real = without_noise(change, _noise(self._new, found.url))
        if not real.counts and old.status == new.status:
            self.totals.noise += 1
            return None
        return Difference(
            found.kind,
            found.url,
            found.status_before,
            found.status,
            real.words_added,
            real.words_removed,
            change.links_added,
            change.links_removed,
            change.title_before,
            new.title,
            at=found.at,
        )


def kind_of(before: PageState | None, after: PageState | None) -> str | None:
    """How a URL differs; None if it does not, or if one side has no answer of it. Without a state a
    side does not know the URL."""
    was_page, is_page = before is not None and before.is_page, after is not None and after.is_page
    if is_page and not was_page:
        has_answer = before is None or before.capture is not None
        return "new" if has_answer else None
    if was_page and after is None:
        return "gone"
    if before is None or after is None or before.capture is None or after.capture is None:
        return None
    if was_page and is_page:
        return "changed" if before.capture.digest != after.capture.digest else None
    if was_page and after.status in _GONE:
        return "gone"
    if was_page and 300 <= after.status < 400:
        return "moved"
    return "status" if before.status != after.status else None


def _captured(
    reader: CollectionReader,
) -> Iterator[tuple[UrlRow, list[StoredCapture]]]:
    """Walk URLs with their captures: both tables have the same order."""
    captures = reader.scan(StateTable.CAPTURE)
    following = next(captures, None)
    for key, packed in reader.scan(StateTable.URL):
        found: list[StoredCapture] = []
        while following is not None and following[0][:KEY_BYTES] <= key:
            at, capture = following
            if at[:KEY_BYTES] == key:
                row = CaptureRow.decode(capture)
                found.append(StoredCapture.of(time_of(at[KEY_BYTES:]), row))
            following = next(captures, None)
        yield UrlRow.decode(packed), found


def _find(side: Side, url: str) -> PageState | None:
    row = side.reader.find(url)
    return _at(row, side.reader.captures(row.url), side.at_us) if row is not None else None


def _at(row: UrlRow, captures: list[StoredCapture], at_us: int | None) -> PageState | None:
    """The state of a URL at a moment; None if there was no answer of it yet."""
    # A 304 is a visit of the version before it; an error of the server says nothing of the page.
    answers = [one for one in captures if one.status != 304 and one.status < 500]
    if at_us is not None:
        answers = [one for one in answers if one.at_us <= at_us]
    elif row.standing != Standing.FETCHED:
        return PageState()
    if not answers:
        return PageState() if at_us is None else None
    is_last = answers[-1].at_us == row.version_us
    return PageState(answers[-1], row.redirect if is_last else "")


def _page(side: Side, url: str, state: PageState) -> StoredPage | None:
    assert state.capture is not None, "a page that changed has one on both sides"
    try:
        return side.reader.page_at(url, state.capture)
    except (CorruptFile, NotKnown):
        return None


def _noise(side: Side, url: str) -> TemplateNoise:
    return noise_of(side.reader, url)
