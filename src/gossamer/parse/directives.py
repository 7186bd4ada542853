"""Robots directives of a page: `meta` tags and `X-Robots-Tag` headers, merged.

The strictest reading holds: a directive in any of them counts. Kept are `noindex`, `nofollow`,
`noarchive` and `nosnippet`; `none` means the first two. Directives for other robots are ignored.
`unavailable_after` is ignored: it would need the time, and a page that is gone says so at the next
request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

KNOWN: Final = frozenset({"noindex", "nofollow", "noarchive", "nosnippet"})
NAMES: Final = frozenset({"robots", "gossamer"})  # of `meta`; the second is for this crawler only

_NONE: Final = frozenset({"noindex", "nofollow"})
_AGENT: Final = re.compile(r"[a-z0-9_*-]+")
_WITH_VALUE: Final = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)


def in_meta(content: str) -> frozenset[str]:
    """The directives in the content of a `meta` for robots."""
    return _known(word.strip() for word in content.lower().split(","))


def in_headers(values: Iterable[str]) -> frozenset[str]:
    """The directives for us in the values of X-Robots-Tag.

    `otherbot: noindex, nofollow` is for another robot, up to the next name with a colon or the end
    of the value. Directives without a name are for all.
    """
    ours: list[str] = []
    for value in values:
        is_ours = True
        for part in value.lower().split(","):
            name, colon, rest = (piece.strip() for piece in part.partition(":"))
            if colon and name not in _WITH_VALUE and _AGENT.fullmatch(name):
                is_ours = name in ("gossamer", "*")
                name = rest
            if is_ours:
                ours.append(name)
    return _known(ours)


def _known(words: Iterable[str]) -> frozenset[str]:
    given = frozenset(words)
    return (given | _NONE if "none" in given else given) & KNOWN
