"""Iterate over all entries of an index in shares, so that memory is bounded for any size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import tantivy

from gossamer.index import schema


class Share(NamedTuple):
    """One of `of` equal shares of all keys, by the first four bytes of their lower half: the upper
    half is the host's, and one host may have all pages.
    """

    number: int
    of: int

    @property
    def first(self) -> int:
        """The least lower half of its keys."""
        return (self.number << 32) // self.of << 32

    @property
    def last(self) -> int:
        """The greatest lower half of its keys."""
        return (((self.number + 1) << 32) // self.of << 32) - 1

    def holds(self, key: bytes) -> bool:
        """Whether a key is in this share."""
        return self.first <= int.from_bytes(key[8:], "big") <= self.last


_SMALL: Final = 1_000  # entries: shares of so few are unequal
ALL: Final = Share(0, 1)


def shares_of(count: int, most: int) -> Iterator[Share]:
    """Shares with about `most` of `count` items each."""
    of = -(-count // most) or 1
    return (Share(number, of) for number in range(of))


def addresses_in(
    searcher: tantivy.Searcher, fields: tantivy.Schema, share: Share
) -> list[tantivy.DocAddress]:
    """The addresses of the entries of a share, unordered."""
    query = tantivy.Query.range_query(
        fields, schema.KEY_LOW, tantivy.FieldType.Unsigned, share.first, share.last
    )
    # tantivy allocates the requested number. Keys are digests, so shares are about equal.
    most = searcher.num_docs // share.of * 5 // 4 + _SMALL
    found = searcher.search(query, most, count=False).hits
    if len(found) == most:
        found = searcher.search(query, max(1, searcher.num_docs), count=False).hits
    return [address for _, address in found]


def keys_of(searcher: tantivy.Searcher, addresses: list[tantivy.DocAddress]) -> list[bytes]:
    """The keys of entries."""
    high = searcher.fast_field_values(schema.KEY_HIGH, addresses)
    low = searcher.fast_field_values(schema.KEY_LOW, addresses)
    return [
        ((int(upper or 0) << 64) | int(lower or 0)).to_bytes(16, "big")
        for upper, lower in zip(high, low, strict=True)
    ]
