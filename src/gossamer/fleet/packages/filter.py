"""Which pages of a job are sent. Pure.

A page that is left out is reported as refused, with the rule, so that `gossamer why` at the centre
can tell. Redirects and responses with an error are always sent: they are small, and say what became
of a URL.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from gossamer.fetch.judge import ResponseJudge
from gossamer.fleet.protocol import PageFilter
from gossamer.records import Reason
from gossamer.urls.canonical import target_of
from gossamer.urls.patterns import find_match, pattern_of

_WORD: Final = re.compile(r"\w+")

FilterVerdict = tuple[Reason, str]


@dataclass(frozen=True, slots=True)
class FilterText:
    """What is known of a page only after it was parsed."""

    language: str
    text: str  # with title and headings


@dataclass(frozen=True, slots=True)
class FilteredPage:
    """A page with status 200. `parsed` is called only if a rule needs it."""

    url: str
    type: str  # MIME type without parameters, lower case
    size_bytes: int
    parsed: Callable[[], FilterText]


class PackageFilter:
    """The filter of one job. Raises UsageError for a pattern or type that matches nothing."""

    def __init__(self, rules: PageFilter) -> None:
        self._rules = rules
        self._extensions = frozenset(one.lower().lstrip(".") for one in rules.extensions)
        self._wanted = ResponseJudge(rules.types, 1) if rules.types else None
        self._languages = frozenset(one.lower() for one in rules.languages)
        self._include = [pattern_of(one) for one in rules.include]
        self._exclude = [pattern_of(one) for one in rules.exclude]
        self._words = frozenset(_WORD.findall(rules.topic.casefold()))

    def judge(self, page: FilteredPage) -> FilterVerdict | None:
        """The rule that excludes a page, and None if it is sent."""
        return self._by_url(page.url) or self._by_facts(page) or self._by_text(page)

    def _by_url(self, url: str) -> FilterVerdict | None:
        if self._include and find_match(self._include, url) is None:
            return Reason.SCOPE, "the job returns only URLs that match a pattern of its filter"
        if (found := find_match(self._exclude, url)) is not None:
            return Reason.SCOPE, f"the job does not return URLs that match {found}"
        if self._extensions and extension_of(url) not in self._extensions:
            return Reason.TYPE, f"the job returns only .{', .'.join(sorted(self._extensions))}"
        return None

    def _by_facts(self, page: FilteredPage) -> FilterVerdict | None:
        if self._wanted is not None and not self._wanted.wants(page.type):
            return Reason.TYPE, f"the job returns only {', '.join(self._rules.types)}"
        if page.size_bytes < self._rules.min_bytes:
            return Reason.SIZE, f"the job returns only pages from {self._rules.min_bytes} bytes"
        if self._rules.max_bytes and page.size_bytes > self._rules.max_bytes:
            return Reason.SIZE, f"the job returns only pages up to {self._rules.max_bytes} bytes"
        return None

    def _by_text(self, page: FilteredPage) -> FilterVerdict | None:
        if not (self._languages or self._words):
            return None
        parsed = page.parsed()
        if self._languages and parsed.language.lower() not in self._languages:
            return (
                Reason.SCOPE,
                f"the job returns only pages in {', '.join(sorted(self._languages))}",
            )
        if self._words and self._words.isdisjoint(_WORD.findall(parsed.text.casefold())):
            return Reason.SCOPE, "the page has none of the words of the job's topic"
        return None


def extension_of(url: str) -> str:
    """The extension of the last part of the path, lower case; empty if there is none."""
    path = target_of(url).partition("?")[0]
    name = unquote(path.rpartition("/")[2])
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""
