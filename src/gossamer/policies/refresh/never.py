"""When is a fetched page requested again?"""

from __future__ import annotations

from typing import NamedTuple, Protocol


class FetchedPage(NamedTuple):
    """A page that was just fetched, as a refresh policy sees it."""

    url: str
    status: int
    digest: str  # of the body; the same digest means the same body
    modified_at: str  # the Last-Modified header; empty where there is none
    at_us: int  # wall time of the request


class Refresh(Protocol):
    """Says when a page is due again. Pure: it is told the time, and keeps what it needs to know
    of earlier fetches itself."""

    @property
    def is_never(self) -> bool:
        """No page is ever due again: `next_us` need not be called."""
        ...

    def next_us(self, page: FetchedPage, /) -> int | None:
        """The wall time at which the page is due, later than `page.at_us`; None for never."""
        ...


class NeverRefresh:
    """Each page is fetched once."""

    is_never = True

    def next_us(self, _page: FetchedPage, /) -> int | None:
        """None, whatever the page."""
        return None
