"""Classify an element by the words in its class and id.

Authors name the parts of a page: `article-body`, `comment-list`, `relatedPosts`, `cookie-banner`.
The words are compared one by one, so that `advertisement` counts and `leader` does not. Names in
camel case are split into their words.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final


class Role(IntEnum):
    """The purpose of an element, as far as its name or its tag says."""

    PLAIN = 0  # unknown
    SECONDARY = 1  # probably not content: shares, tags, bylines, adverts
    BOILERPLATE = 2  # certainly not content: navigation, footers, cookie notices
    COMMENTS = 3  # texts by readers below the content
    BODY = 4  # the content


_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_COMMENTS: Final = frozenset({
    "comment", "commentary", "commentlist", "comments", "disqus", "livefyre", "replies",
    "respond",
})  # fmt: skip
_BOILERPLATE: Final = frozenset({
    "consent", "cookie", "cookies", "footer", "gdpr", "modal", "popup",
})  # fmt: skip
_SECONDARY: Final = frozenset({
    "ad", "ads", "advert", "advertisement", "advertising", "author", "banner", "bio",
    "breadcrumb", "breadcrumbs", "byline", "caption", "copyright", "credit", "credits", "date",
    "disclaimer", "headerlink", "hidden", "jump", "lightbox", "login", "menu", "meta", "more",
    "most", "nav", "navbar", "navigation", "newsletter", "outbrain", "overlay", "pager",
    "pagination", "popular", "print", "promo", "rating", "recommend", "recommendation",
    "recommendations", "recommended", "related", "share", "sharing", "sidebar", "signup",
    "skip", "social", "sponsor", "sponsored", "subscribe", "taboola", "tags", "teaser",
    "timestamp", "toc", "toolbar", "trending", "widget",
})  # fmt: skip
_SUBJECTS: Final = frozenset({
    "article", "blog", "body", "content", "entry", "main", "news", "page", "post", "story",
})  # fmt: skip
_BODIES: Final = frozenset({
    "article", "body", "content", "entry", "main", "text",
})  # fmt: skip
_BODY: Final = frozenset({
    "articlebody", "articlecontent", "articletext", "bodytext",
})  # fmt: skip
# Classes that only manuals have. The ids in manuals come from headings, which may contain any word.
_MANUAL: Final = frozenset({
    "appendix", "chapter", "refentry", "refsect", "refsynopsisdiv", "sect",
})  # fmt: skip


def role_of(name: str, own_id: str = "") -> Role:
    """The role that the words of a class and an id give to an element."""
    role = _role_of(name) if name else Role.PLAIN
    if not own_id or role is not Role.PLAIN or _is_manual(name):
        return role
    return _role_of(own_id)


@lru_cache(maxsize=8192)
def _role_of(name: str) -> Role:
    words = [word.lower() for word in _WORD.findall(name)]
    found = frozenset(words)
    if found & _COMMENTS:
        return Role.COMMENTS
    if found & _BODY or any(
        first in _SUBJECTS and second in _BODIES and first != second
        for first, second in pairwise(words)
    ):
        return Role.BODY
    if found & _BOILERPLATE:
        return Role.BOILERPLATE
    return Role.SECONDARY if found & _SECONDARY else Role.PLAIN


@lru_cache(maxsize=1024)
def _is_manual(name: str) -> bool:
    return not _MANUAL.isdisjoint(_WORD.findall(name))


def is_section(tag: str, name: str) -> bool:
    """Whether an element is a section of a longer text, by its tag and its class."""
    return tag == "section" or "section" in name.split() or _is_manual(name)
