"""What kind of trap is it? A name for people, from the pattern of its URLs and their grades.

Nothing depends on the name: a part of a site is put off for what it brings, whatever it is called.
"""

from __future__ import annotations

import re
from typing import Final

from gossamer.policies.traps.grades import News

CALENDAR: Final = "numbers without end, such as a calendar"
SESSION: Final = "session ids"
FACETS: Final = "lists in every order and with every filter"
DEPTH: Final = "endless depth"
MIRROR: Final = "copies of other pages"
SOFT_404: Final = "one text for every address, such as a soft 404"
WORDS: Final = "random words, or another language"

_SESSION_NAMES: Final = re.compile(
    r"(?:.*(?:sess|sid|token|ticket|visit).*|s|cid|uid|auth|key|nonce)", re.IGNORECASE
)
_NUMBERS: Final = re.compile(r"/[^/?]*0")


def kind_of(pattern: str, wasted: int, by_grade: dict[int, int]) -> str:
    """The kind of a trap; `by_grade` says how many of the `wasted` pages had which grade."""
    if by_grade.get(News.ODD, 0) * 2 > wasted:
        return WORDS
    path, mark, query = pattern.partition("?")
    if mark:
        names = query.split("&")
        is_session = len(names) == 1 and _SESSION_NAMES.fullmatch(names[0])
        return SESSION if is_session else FACETS
    if _NUMBERS.search(path):
        return CALENDAR
    is_stale = by_grade.get(News.STALE, 0) * 2 > wasted
    if "/**/" in path and is_stale:
        return DEPTH
    return SOFT_404 if is_stale else MIRROR
