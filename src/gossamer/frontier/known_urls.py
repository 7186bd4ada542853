"""Which URLs are known, and what the row of each says.

A row is looked up among the uncommitted changes first, then in the store. While few URLs are
known, all their keys are in memory, so the store is not asked for a URL that is new.
"""

from __future__ import annotations

from gossamer.frontier.pending import Pending
from gossamer.frontier.rows import UrlRow, url_in
from gossamer.frontier.store import StateTable, Store


class KnownUrls:
    """The table URL of one collection, with its uncommitted changes."""

    def __init__(self, store: Store, pending: Pending, few_known: int) -> None:
        """Of a new collection, up to `few_known` keys are held in memory."""
        self._store = store
        self._pending = pending
        self._few_known = few_known
        self.is_empty = not store.scan(StateTable.URL, b"", None, 1)  # when it was opened
        # All keys while they are few; None means that only the store knows.
        self.keys: set[bytes] | None = set() if self.is_empty else None

    def find(self, key: bytes) -> UrlRow | None:
        """The row of a URL, or None if the URL is not known."""
        row = self._pending.find(StateTable.URL, key)
        return UrlRow.decode(row) if row else None

    def url_of(self, key: bytes) -> str:
        """The URL that a key names; empty if it is not known."""
        row = self._pending.find(StateTable.URL, key)
        return url_in(row) if row else ""

    def via_of(self, key: bytes) -> bytes:
        """The key of the page that names a URL; empty if it is not known."""
        row = self.find(key)
        return row.via if row else b""

    def run_of(self, key: bytes) -> int:
        """The run of a URL (`UrlRow.run`); 0 if it is not known."""
        row = self.find(key)
        return row.run if row else 0

    def rows(self, limit: int) -> list[UrlRow]:
        """Some committed rows, to be shown to people."""
        return [UrlRow.decode(row) for _, row in self._store.scan(StateTable.URL, b"", None, limit)]

    def put(self, key: bytes, row: UrlRow) -> None:
        """Write a row with the next commit."""
        self._pending.put(StateTable.URL, key, row.encode())

    def add_key(self, key: bytes) -> None:
        """A URL becomes known; its row follows."""
        if self.keys is not None:
            self.keys.add(key)

    def drop_key(self, key: bytes) -> None:
        """A URL is not known after all: it gets no row."""
        if self.keys is not None:
            self.keys.discard(key)

    def limit_keys(self) -> None:
        """Stop holding keys in memory when there are more than `few_known`."""
        if self.keys is not None and len(self.keys) > self._few_known:
            self.keys = None
