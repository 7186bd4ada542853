"""Make a lease: what is requested next from a host whose turn it is.

In this order: a robots.txt that somebody waits for, then sitemaps and pages in turn. The rules of
robots.txt, bans, dead ports and the limit of pages per host are applied to each URL here, at the
last moment. What they forbid is skipped on the spot, with its reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.rows import QueueEntry
from gossamer.policies.stop import Stop
from gossamer.politeness.access import Access
from gossamer.politeness.robots import Robots
from gossamer.records import Lease, Purpose, Reason
from gossamer.schedule.auxiliary import AuxiliaryFetches
from gossamer.schedule.host import Host
from gossamer.schedule.host_cache import HostCache
from gossamer.schedule.moves import FULL, Move, Queue
from gossamer.schedule.rules import CrawlRules
from gossamer.schedule.skipped import AT_ONCE, SLICE_DELAY_S, SkippedUrls
from gossamer.settings import Settings
from gossamer.urls.canonical import origin_of, target_of

_PAGE: Final = Purpose.PAGE  # a global is read three times as fast as a member of its class
_NO_RULES: Final = Access(Robots(), 0, 0)  # those of the operator's own hosts


@dataclass(slots=True, kw_only=True)
class LeaseMaker:
    """Makes leases from hosts that may be requested. `now_us` is the wall time of this round."""

    frontier: Frontier
    settings: Settings
    rules: CrawlRules
    hosts: HostCache
    auxiliary: AuxiliaryFetches
    skipped: SkippedUrls
    allowance: Stop
    now_us: int = 0
    number: int = 0  # of the last lease
    _own_hosts: frozenset[str] = field(init=False)
    _pages_per_host: int = field(init=False)
    _suspects: set[bytes] = field(init=False)  # hosts of which a URL may have a level

    def __post_init__(self) -> None:
        self._own_hosts = frozenset(self.settings.politeness.own_hosts)
        self._pages_per_host = self.settings.frontier.pages_per_host
        self._suspects = self.frontier.guard.suspects

    def make(self, host: Host, now_s: float, room: int) -> Lease | Move | None:
        """A lease for a body of at most `room` bytes; else where the host has to go, or None if it
        is for the host to say."""
        if host.robots_fetches:
            return self._robots_lease(host)
        if host.sitemaps and host.is_sitemap_next(
            has_page=self.frontier.peek(host.key) is not None
        ):
            return self._sitemap_lease(host)
        made = self._page_lease(host, now_s, room)
        host.turn_taken(by_page=type(made) is Lease)
        return made

    def _robots_lease(self, host: Host) -> Lease:
        self.number += 1
        return self.auxiliary.robots.lease(host, self.number, self.rules.secret_origins)

    def _sitemap_lease(self, host: Host) -> Lease | None:
        url = host.sitemaps[0].url
        access = self._enter(host, origin_of(url))
        if access is None:
            return None
        host.turn_taken(by_page=False)
        refusal = _refusal_by(access, url)
        if refusal is None:
            self.number += 1
            secret_origins = self.rules.secret_origins
            return self.auxiliary.sitemaps.lease(host, self.number, secret_origins)
        self.skipped.count += 1
        self.auxiliary.sitemaps.drop_first(host, *refusal, self.now_us)
        return None

    def _page_lease(self, host: Host, now_s: float, room: int) -> Lease | Move | None:
        skipped, find_ban = self.skipped, self.rules.find_ban
        while skipped.count < AT_ONCE:
            first = self.frontier.peek(host.key)
            if first is None:
                return None
            entry = first[1]
            if find_ban is not None and (ban := find_ban(entry.url)) is not None:
                skipped.refuse_first(host, entry, Reason.BANNED, f"banned by {ban!r}")
                continue
            if host.key in self._suspects and self._is_held_back(host, entry):
                continue
            if skipped.dead_ports and skipped.skip_dead_port(host, entry):
                continue
            origin = origin_of(entry.url)
            access = self._enter(host, origin)
            if access is None:
                return None
            is_counted = self._pages_per_host and not entry.is_visit
            refusal = self._over_budget(host) if is_counted else None
            if access.robots.rules or access.is_denied_all:
                refusal = refusal or _refusal_by(access, entry.url)
            if refusal is None:
                return self._lease_entry(host, entry, origin, room)
            skipped.refuse_first(host, entry, *refusal)
        return Move(Queue.DELAYED, now_s + SLICE_DELAY_S)

    def _is_held_back(self, host: Host, entry: QueueEntry) -> bool:
        """Whether the first URL of a host is refused as a trap, or has moved to a later place."""
        why = self.frontier.hold_back(entry)
        if why:
            self.skipped.refuse_first(host, entry, Reason.TRAP, why)
        elif why is not None:
            self.skipped.count += 1
        return why is not None

    def _enter(self, host: Host, origin: str) -> Access | None:
        """The rules of an origin. None if the host needs them first, or they deny everything for
        now; then the host says where it goes."""
        if host.name in self._own_hosts:
            host.rules_entered(None)
            return _NO_RULES
        access = self.auxiliary.robots.access(origin)
        if access is None or not access.is_fresh(self.now_us):
            host.robots_needed(origin)
            return None
        delay_s = access.crawl_delay_s or 0.0
        if delay_s or host.crawl_delay_s or host.at_once == 1:  # else nothing has changed
            host.rules_entered(delay_s)
        if access.is_denied_all and not access.is_hopeless:
            self.hosts.note_trouble(host, access.detail)
            host.delayed_until(self.hosts.clock_time_s(access.expires_us))
            return None
        return access

    def _over_budget(self, host: Host) -> tuple[Reason, str] | None:
        if self.frontier.host(host.key).pages >= self._pages_per_host:
            return Reason.BUDGET, "the host has had frontier.pages_per_host pages"
        return None

    def _lease_entry(self, host: Host, entry: QueueEntry, origin: str, room: int) -> Lease | Move:
        if entry.level and host.plain_under_way:
            return FULL  # an answer in flight may bring a better URL
        limit = 0 if entry.is_visit else self._pages_per_host
        if limit and self.frontier.host(host.key).pages + host.pace.under_way >= limit:
            return FULL  # an answer in flight will move it on
        self.frontier.take(host.key)
        self.allowance.promise(room)
        self.number += 1
        key, url, depth, tries, redirects, via, _, is_visit, run, level, *_ = entry
        if not (level or is_visit):
            host.plain_leased()
        is_typed = host.is_typed
        return Lease(
            self.number, url, key, host.name, host.addresses[0], _PAGE, depth, tries, redirects,
            host.source_url(via, self.frontier.url_of) if via else "",
            is_typed, is_typed and origin in self.rules.secret_origins, room, "",
            host.must_be_public, self.frontier.previous(key) if is_visit else None,
            run, level,
        )  # fmt: skip


def _refusal_by(access: Access, url: str) -> tuple[Reason, str] | None:
    ruling = access.judge(target_of(url))
    if ruling.allowed:
        return None
    line = f" (line {ruling.line})" if ruling.line else ""
    return Reason.ROBOTS, f"{ruling.rule}{line}"
