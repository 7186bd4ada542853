"""The contract of orders that look at words: of URLs, and of the links to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.columns import PageColumns, UrlSlots


@runtime_checkable
class UrlOrder(ColumnOrder, Protocol):
    """Also hears of the URLs themselves. Both methods are called before `learn` for the same page,
    and the values of these URLs may change by them."""

    @property
    def wants_anchors(self) -> bool:
        """Whether `note_anchors` is to be called: then the words of links are sent to the node."""
        ...

    def note_urls(self, pages: PageColumns, slots: UrlSlots, urls: Sequence[str], /) -> None:
        """URLs were found for the first time."""
        ...

    def note_anchors(self, pages: PageColumns, slots: UrlSlots, texts: Sequence[str], /) -> None:
        """Links to URLs were found; each with its anchor text. A text that was told for the same
        URL before may be left out."""
        ...


@runtime_checkable
class ContextOrder(UrlOrder, Protocol):
    """Also hears of the text around links."""

    def note_contexts(self, pages: PageColumns, slots: UrlSlots, texts: Sequence[str], /) -> None:
        """New URLs were found; each with the text around the link to it."""
        ...
