"""The messages between the server and its search processes (`channel.py` sends them)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gossamer.search.copies.results import CopiesRequest
from gossamer.search.results import Request

PICKLE, JSON = 0, 1  # kinds of answers


@dataclass(frozen=True, slots=True)
class SearchedCollection:
    """A collection; `stamp` distinguishes it from an earlier one in the same directory."""

    path: Path
    stamp: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FailedSearch:
    """The search failed by a bug; the traceback is for the terminal."""

    trace: str


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """A search for a process to do."""

    where: SearchedCollection
    request: Request | CopiesRequest
    as_json: bool = False
