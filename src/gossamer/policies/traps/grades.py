"""The grades of pages (`news.py`)."""

from __future__ import annotations

from enum import IntEnum


class News(IntEnum):
    """What a page brought. The numbers are in reports."""

    UNKNOWN = 0
    REPEATED = 1
    ODD = 2
    KNOWN = 3
    NEW = 4
    STALE = 5
