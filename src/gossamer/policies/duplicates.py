"""Which pages count as duplicates of each other?

Four modes (`docs/duplicates.md`): `none`; `exact`, the same bytes; `near`, the same visible text
when dates, counters and tokens are masked; `html95`, HTML that is at least 95 % the same.

In the modes `exact` and `near` each page belongs to a group, which has a name of at most 32 bytes:
pages of one group are duplicates. In the mode `html95` HTML pages have no group; they are compared
(`duplicates/`). What is not HTML is compared by its bytes in every mode. A frameset is never a
duplicate: its HTML says little of what it shows.
"""

from __future__ import annotations

from typing import Final, Protocol

from gossamer.settings import DuplicateMode
from gossamer.settings import Duplicates as DuplicateSettings

# The first byte of `Report.sketch`. Without a sketch the digest of the body decides.
FRAMESET: Final = b"F"
TEXT: Final = b"~"  # before the fingerprint of the visible text
HTML: Final = b"<"  # before the numbers of `duplicates/sketch.py`

_DIGEST: Final = b"="
_DIGEST_CHARS: Final = 24  # of base32: 120 bits


class Duplicates(Protocol):
    """Says to which group a page belongs.

    A group depends on the arguments alone and is the same in every process and version: the state
    keeps groups from run to run.
    """

    @property
    def mode(self) -> DuplicateMode: ...

    @property
    def threshold(self) -> float:
        """The least similarity of HTML that is compared."""
        ...

    def group(self, status: int, size_bytes: int, digest: str, sketch: bytes, /) -> bytes:
        """The name of the group; empty for a page that belongs to none."""
        ...


class NoDuplicates:
    """Every page counts as different."""

    mode: DuplicateMode = "none"
    threshold: float = 1.0

    def group(self, *_facts: int | str | bytes) -> bytes:
        """Empty, whatever the page."""
        return b""


class GroupedDuplicates:
    """Pages with the same body or the same sketch, by the mode in which sketches are made."""

    def __init__(self, mode: DuplicateMode = "exact", threshold: float = 0.95) -> None:
        self.mode: DuplicateMode = mode
        self.threshold = threshold

    def group(self, status: int, size_bytes: int, digest: str, sketch: bytes, /) -> bytes:
        """Of an answer of 200 with a body."""
        if status != 200 or not size_bytes:
            return b""
        match sketch[:1]:
            case b"":
                name = digest[5 : 5 + _DIGEST_CHARS] if digest.startswith("sha1:") else digest
                return _DIGEST + name.encode() if name else b""
            case b"~":
                return sketch
            case _:
                return b""


class ExactDuplicates(GroupedDuplicates):
    """Pages whose bodies are the same, byte for byte."""

    def __init__(self) -> None:
        super().__init__("exact")


def duplicates_named(settings: DuplicateSettings) -> Duplicates:
    """The policy that the settings name."""
    if settings.mode == "none":
        return NoDuplicates()
    return GroupedDuplicates(settings.mode, settings.threshold)
