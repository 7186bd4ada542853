"""What the hosts of a collection have brought, and what follows from it for each of their URLs.

`policies/traps/` decides; here its counts are kept for each host and written with the commits. The
row of a host is written once it has wasted a request, so that most hosts have none. What is in
memory is bounded: of hosts without a row the oldest are forgotten, and of *families* (the links of
a page that brought nothing new) the last few thousand are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from gossamer.base.packing import pack, unpacker
from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.levels.sites import SiteBudgets
from gossamer.frontier.meta_keys import YIELD_PREFIX
from gossamer.frontier.pending import Pending
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.policies.traps.grades import News
from gossamer.policies.traps.odds import FREE_RUN, MOST_SAID, SAID, next_run, with_siblings
from gossamer.policies.traps.shared_text import SharedText
from gossamer.policies.traps.yields import (
    REFUSED_LEVEL,
    HostYield,
    explain,
    level_of,
)
from gossamer.urls.bans import BanList

_MOST_HOSTS: Final = 20_000  # in memory, some 500 bytes each
_MOST_FAMILIES: Final = 5_000
_MOST_CHILDREN: Final = 50  # of a family, that are moved at once when one of them brings news
_META: Final = StateTable.META
_after_prefix: Final = YIELD_PREFIX[:-1] + bytes([YIELD_PREFIX[-1] + 1])
unpack_yield: Final = unpacker(HostYield)


class Earlier(NamedTuple):
    """URLs that come earlier than they were queued, and their run."""

    keys: list[bytes]
    run: int


NONE_EARLIER: Final = Earlier([], 0)


class Family:
    """The links of one page that brought nothing new, and what those that were requested say."""

    __slots__ = ("children", "news", "said")

    def __init__(self) -> None:
        self.children: list[bytes] = []
        self.said = 0
        self.news = 0


_NO_FAMILY: Final = Family()


class TrapGuard:
    """Judges URLs by what their hosts have brought. `budget` 0: every URL is as good as another."""

    def __init__(
        self, store: Store, pending: Pending, budget: int, trusted: BanList, *, per_site: int = 0
    ) -> None:
        """`per_site`: the budget of all hosts of a site together; 0: no limit."""
        self._pending = pending
        self._budget = budget
        self.trusted = trusted
        self._hosts: dict[bytes, HostYield] = {}
        self._families: dict[bytes, Family] = {}
        self._dirty: set[bytes] = set()
        self._shared = SharedText()
        self._sites = SiteBudgets(pending, per_site)
        self.withdrawn = 0  # how often the refusals of a host were withdrawn
        # Hosts of which a URL may have a level. No other host is looked at.
        self.suspects: set[bytes] = set()
        # Those of them that have wasted requests on a pattern: its URLs have levels.
        self._blamed: set[bytes] = set()
        if budget:
            for key, host in stored_yields(store):
                self.suspects.add(key)
                if host.has_suspects:
                    self._blamed.add(key)

    @property
    def is_on(self) -> bool:
        return self._budget > 0

    # -- what is known of hosts

    def _host(self, host_key: bytes) -> HostYield:
        known = self._hosts.get(host_key)
        if known is None:
            if len(self._hosts) >= _MOST_HOSTS:
                self._forget()
            packed = self._pending.find(_META, YIELD_PREFIX + host_key)
            known = self._hosts[host_key] = unpack_yield(packed) if packed else HostYield()
        return known

    def _forget(self) -> None:
        """Drop the older half of the hosts; those with a row are read again when they matter."""
        for key in list(self._hosts)[: _MOST_HOSTS // 2]:
            if key not in self._dirty:
                del self._hosts[key]

    def begin(self) -> None:
        """A commit begins: write the hosts that have changed."""
        for key in self._dirty:
            row: bytes = pack(self._hosts[key])
            self._pending.put(_META, YIELD_PREFIX + key, row)
        self._dirty.clear()
        self._sites.begin()

    # -- what is asked for each URL

    def level(self, key: bytes, url: str, run: int, via: bytes, *, is_first: bool) -> int:
        """The level of a URL of a suspect."""
        if not run and key[:HOST_BYTES] not in self._blamed:
            return 0
        if self.trusted and self.trusted.find(url) is not None:
            return 0
        levels, _ = self._host(key[:HOST_BYTES]).levels_of(url)
        family = self._families.get(via, _NO_FAMILY)
        return level_of(run, levels, is_first=is_first, said=family.said, news=family.news)

    def refusal(self, key: bytes, url: str, run: int, level: int) -> str | None:
        """Why a URL of this level is not requested; None if it is."""
        if level < REFUSED_LEVEL:
            return None
        host = self._host(key[:HOST_BYTES])
        if host.is_spent:
            return explain(host, url, run, "host", (host.wasted, host.budget(self._budget)))
        site = self._sites.spent(key[:HOST_BYTES], url)
        if site is None:
            return None
        spent = (site.wasted, site.budget(self._sites.base))
        return explain(host, url, run, f"site {site.name}", spent)

    def is_refused(self, key: bytes, url: str, run: int) -> bool:
        """Whether a URL that was refused as a trap would be refused now."""
        if not self.is_on or key[:HOST_BYTES] not in self.suspects:
            return False
        level = self.level(key, url, run, b"", is_first=True)
        return self.refusal(key, url, run, level) is not None

    def take_trial(self, key: bytes) -> bool:
        """Whether a URL with a level may be requested in the place of level 0."""
        return self._host(key[:HOST_BYTES]).take_trial()

    def note_refused(self, key: bytes) -> None:
        self._host(key[:HOST_BYTES]).refused += 1
        self._dirty.add(key[:HOST_BYTES])

    # -- learning

    def note_child(self, key: bytes, via: bytes) -> None:
        """A page that brought nothing new names a URL that nothing named before."""
        self.suspects.add(key[:HOST_BYTES])
        family = self._families.get(via)
        if family is None:
            if len(self._families) >= _MOST_FAMILIES:
                for old in list(self._families)[: _MOST_FAMILIES // 2]:
                    del self._families[old]
            family = self._families[via] = Family()
        if len(family.children) < _MOST_CHILDREN:
            family.children.append(key)

    def note_linking(self, key: bytes, url: str, via: bytes) -> None:
        """A page of another host links to a suspect."""
        if site := self._sites.note_linking(key, url, via):
            self._host(key[:HOST_BYTES]).note_linking(site)

    def note_relevant(self, key: bytes, url: str) -> None:
        """A page is relevant to the topic of the crawl."""
        self._host(key[:HOST_BYTES]).relevant += 1
        self._sites.note_relevant(key[:HOST_BYTES], url)

    def learn(
        self, key: bytes, url: str, run: int, via: bytes, news: News, fresh: list[str]
    ) -> Earlier:
        """A page was fetched. Returns the URLs that come earlier because of it."""
        host_key = key[:HOST_BYTES]
        host = self._host(host_key)
        is_blamed = host_key in self._blamed
        had_level = run > FREE_RUN or (is_blamed and host.levels_of(url)[0] > 0)
        host.learn(url, run, news, fresh, had_level=had_level)
        if not is_blamed and news is not News.NEW and host.has_suspects:
            self.suspects.add(host_key)  # only a page without news can make it one
            self._blamed.add(host_key)
        if host_key in self.suspects:
            self._dirty.add(host_key)
        self.withdrawn += host.settle(self._budget)
        self.withdrawn += self._sites.learn(
            host_key,
            url,
            is_news=news is News.NEW,
            is_wasted=had_level and news is not News.NEW and bool(fresh),
            had_level=had_level,
        )
        return self._learn_family(run, via, news, names_some=bool(fresh)) if run else NONE_EARLIER

    def _learn_family(self, run: int, via: bytes, news: News, *, names_some: bool) -> Earlier:
        family = self._families.get(via)
        if family is None:
            return NONE_EARLIER
        said = SAID[news]
        if said < 0 or names_some:  # a page that names nothing new leads nowhere
            family.said = max(-MOST_SAID, min(MOST_SAID, family.said + said))
        if news is not News.NEW:
            return NONE_EARLIER
        family.news += 1
        children, family.children = family.children, []
        return Earlier(children, with_siblings(run, family.said))

    def grade(self, key: bytes, news: int, numbers: bytes) -> News:
        """The grade of a page, by what all workers know."""
        return self._shared.settle(key[:HOST_BYTES], News(news), numbers)

    def run_of_links(self, run: int, via: bytes, news: News) -> int:
        """The run of the links of a page, given its own, and the page that links to it."""
        if run and (family := self._families.get(via)) is not None:
            run = with_siblings(run, family.said)
        return next_run(run, news)


def find_yield(store: Store, host_key: bytes) -> HostYield | None:
    """What a state knows of a host that wasted requests; None for any other."""
    packed = store.find(_META, YIELD_PREFIX + host_key)
    return unpack_yield(packed) if packed else None


def stored_yields(store: Store) -> Iterator[tuple[bytes, HostYield]]:
    """Host keys, and what is known of those hosts."""
    for key, packed in walk(store, _META, YIELD_PREFIX, _after_prefix):
        yield key[len(YIELD_PREFIX) :], unpack_yield(packed)
