"""Decide whether a URL belongs to the crawl.

    page     the seeds alone
    prefix   the directory of a seed and everything below it, on the seed's own origin
    host     the hosts of the seeds at the ports of the seeds; the default ports of http and
             https count as one
    site     the sites (registrable domains) of the seeds, all their hosts
    list     the listed domains and all hosts below them
    any      everything

`exclude` removes URLs from these. If there is an `include`, it removes all URLs that it does not
match, except seeds, because the way to the wanted pages starts there. In all other respects seeds
are judged like other URLs. `patterns.py` describes the patterns.

Pure: built once, then read-only. Depth, budgets and bans are checked elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, get_args

from gossamer.errors import UsageError
from gossamer.urls.canonical import host_of
from gossamer.urls.domains import Domains, domain_of, lines_of
from gossamer.urls.patterns import Pattern, Prefixes, find_match, pattern_of
from gossamer.urls.site import site_of

ScopeKind = Literal["page", "prefix", "host", "site", "list", "any"]
ScopeRule = Callable[[str], "Verdict"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a URL is in scope, and the rule that decides, as the second half of a sentence."""

    is_in: bool
    because: str


_IN_BY_PAGE: Final = Verdict(True, "it is a seed")
_IN_BY_HOST: Final = Verdict(True, "it is on the host of a seed")
_IN_BY_SITE: Final = Verdict(True, "it is on the site of a seed")
_IN_BY_ANY: Final = Verdict(True, "the scope is `any`")
_OUT_BY_PAGE: Final = Verdict(False, "it is not a seed")
_OUT_BY_PREFIX: Final = Verdict(False, "it is not in the directory of a seed")

_USUAL_PORT: Final = re.compile(r":(?:80|443)$")
_REMEMBERED_HOSTS: Final = 10_000  # cached verdicts, 400 bytes each


class Scope:
    """The scope of one crawl."""

    def __init__(
        self,
        rule: ScopeRule,
        include: tuple[Pattern, ...] = (),
        exclude: tuple[Pattern, ...] = (),
        seeds: Iterable[str] = (),
        *,
        is_by_host: bool = False,
    ) -> None:
        """`is_by_host`: the rule depends on the host of a URL only."""
        self._rule = rule
        self._include = include
        self._exclude = exclude
        self._seeds = frozenset(seeds if include else ())
        self.is_by_host = is_by_host and not include and not exclude

    @classmethod
    def build(
        cls,
        kind: ScopeKind,
        seeds: Sequence[str],
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        domains: Iterable[str] = (),
    ) -> Scope:
        """A scope around canonical `seeds`. Raises UsageError for invalid patterns or domains."""
        return cls(
            _rule_of(kind, seeds, domains),
            tuple(map(pattern_of, include)),
            tuple(map(pattern_of, exclude)),
            seeds,
            is_by_host=kind not in ("page", "prefix"),
        )

    def judge(self, url: str) -> Verdict:
        """Whether a canonical URL belongs to the crawl."""
        verdict = self._rule(url)
        if not verdict.is_in:
            return verdict
        if self._exclude and (found := find_match(self._exclude, url)) is not None:
            return Verdict(False, f"it matches exclude `{found}`")
        is_chosen = not self._include or url in self._seeds
        if not is_chosen and find_match(self._include, url) is None:
            wanted = ", ".join(f"`{pattern.text}`" for pattern in self._include[:3])
            return Verdict(False, f"it matches no include ({wanted})")
        return verdict


def domains_from(path: Path) -> tuple[str, ...]:
    """The domains in a file, one per line. Raises UsageError with file and line."""
    return tuple(_domain_at(place, text) for place, text in lines_of(path))


def _domain_at(place: str, text: str) -> str:
    domain = domain_of(text)
    if domain is None:
        raise UsageError(f"{place}: {text[:80]!r} is not a domain (example.org expected)")
    return domain


def _rule_of(kind: ScopeKind, seeds: Sequence[str], domains: Iterable[str]) -> ScopeRule:
    match kind:
        case "page":
            pages = frozenset(seeds)
            return lambda url: _IN_BY_PAGE if url in pages else _OUT_BY_PAGE
        case "prefix":
            return _prefix_rule(seeds)
        case "host":
            return _host_rule(seeds)
        case "site":
            return _site_rule(seeds)
        case "list":
            return _list_rule(domains)
        case "any":
            return lambda _url: _IN_BY_ANY
    raise UsageError(f"scope {kind!r} is unknown; use one of {', '.join(get_args(ScopeKind))}")


def _prefix_rule(seeds: Sequence[str]) -> ScopeRule:
    prefixes = Prefixes(directory_of(seed) for seed in seeds)

    def judge(url: str) -> Verdict:
        found = prefixes.find(url)
        return Verdict(True, f"it is in {found}") if found else _OUT_BY_PREFIX

    return judge


def _host_rule(seeds: Sequence[str]) -> ScopeRule:
    places = frozenset(map(_place_of, seeds))
    hosts = frozenset(map(host_of, seeds))

    @lru_cache(_REMEMBERED_HOSTS)
    def of_place(place: str) -> Verdict:
        if place in places:
            return _IN_BY_HOST
        host = host_of(f"http://{place}/")
        if host in hosts:
            return Verdict(False, f"{place} is not among the seeds' hosts and ports")
        return Verdict(False, f"host {host} is not among the seeds' hosts")

    return lambda url: of_place(_place_of(url))


def _place_of(url: str) -> str:
    """Host and port of a canonical URL: `example.org` at the default port, or `example.org:8080`.

    Port 80 of https and port 443 of http are dropped too: they are the default of the other scheme.
    """
    return _USUAL_PORT.sub("", url[8 if url[4] == "s" else 7 : url.index("/", 8)])


def _site_rule(seeds: Sequence[str]) -> ScopeRule:
    sites = frozenset(site_of(host_of(seed)) for seed in seeds)

    def judge(url: str) -> Verdict:
        site = site_of(host_of(url))
        if site in sites:
            return _IN_BY_SITE
        return Verdict(False, f"site {site} is not among the seeds' sites")

    return judge


def _list_rule(domains: Iterable[str]) -> ScopeRule:
    listed = Domains([_domain_at("scope list", domain) for domain in domains])

    def judge(url: str) -> Verdict:
        host = host_of(url)
        found = listed.find(host)
        if found is not None:
            return Verdict(True, f"domain {found} is listed")
        return Verdict(False, f"host {host} is not in a listed domain")

    return judge


def directory_of(url: str) -> str:
    """A canonical URL up to the last slash of its path."""
    path_end = url.find("?")
    return url[: url.rindex("/", 0, path_end if path_end >= 0 else None) + 1]
