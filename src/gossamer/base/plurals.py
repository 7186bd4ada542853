"""Counts with their nouns: `1 page`, `2 pages`, `1,650 URLs`."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "") -> str:
    """The number and its noun; `plural` if it is not the noun with an `s`."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
