"""Parse `rel` attributes, with a cache: the pages of a site use only a few."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

# Relations of `link` that a person would follow. Others (stylesheet, icon, preload, pingback...)
# are for programs, and are included only if the crawl wants all types.
FOLLOWED_RELATIONS: Final = frozenset({
    "alternate", "amphtml", "appendix", "archives", "author", "bookmark", "canonical", "chapter",
    "contents", "copyright", "first", "glossary", "help", "home", "index", "last", "license",
    "next", "prev", "previous", "privacy-policy", "search", "section", "shortlink", "start",
    "subsection", "terms-of-service", "toc", "top", "up",
})  # fmt: skip


_MAX_CHARS: Final = 1000  # of a `rel`; the rest is ignored


class Relation(NamedTuple):
    """The words of a `rel`, in lower case and folded, and their meaning for a `link`."""

    words: str
    is_followed: bool
    is_canonical: bool


def relation_of(rel: str) -> Relation:
    """The relation of a `rel`; empty for an empty one."""
    return _relation_of(rel[:_MAX_CHARS])


@lru_cache(maxsize=512)
def _relation_of(rel: str) -> Relation:
    words = rel.lower().split()
    is_followed = not FOLLOWED_RELATIONS.isdisjoint(words) and "stylesheet" not in words
    return Relation(" ".join(words), is_followed, "canonical" in words)
