"""Which pages count as duplicates of each other?"""

from __future__ import annotations

from typing import Protocol
from zlib import crc32


class Duplicates(Protocol):
    """Gives each page a fingerprint. Pages with the same one are duplicates.

    A fingerprint depends on its arguments alone and is the same in every process and version: the
    state keeps fingerprints from run to run.
    """

    @property
    def is_counted(self) -> bool:
        """Whether duplicates are counted at all."""
        ...

    def fingerprint(self, status: int, size_bytes: int, digest: str, /) -> int | None:
        """63 bits, or None for an answer that is compared with nothing."""
        ...


class NoDuplicates:
    """Every page counts as different."""

    is_counted = False

    def fingerprint(self, *_facts: int | str) -> int | None:
        """None, whatever the page."""
        return None


class ExactDuplicates:
    """Pages whose bodies are the same, byte for byte."""

    is_counted = True

    def fingerprint(self, status: int, size_bytes: int, digest: str, /) -> int | None:
        """Of an answer of 200 with a body. Two of ten million pages are mistaken for each other
        once in 10^5 times."""
        if status != 200 or not size_bytes or not digest:
            return None
        data, half = digest.encode(), len(digest) // 2
        return crc32(data[:half]) << 31 ^ crc32(data[half:])
