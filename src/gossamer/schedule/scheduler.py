"""Which URL may be asked now? Joins the frontier's order with the manners of `politeness/`.

A lease is given only when its host and its address are rested, its robots.txt is known and
allows it, its name is resolved and its address is allowed. What is missing is fetched first
(robots.txt, as a lease of its own) or asked for (`take_unresolved`); what is forbidden is refused
on the spot. Nothing here waits or does I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from gossamer.base.clock import Clock
from gossamer.fetch.guard import Guard
from gossamer.fetch.resolve import Resolved, address_in
from gossamer.frontier.frontier import HOST_BYTES, Frontier
from gossamer.frontier.rows import QueueEntry, UrlRow
from gossamer.policies.stop import Allowance
from gossamer.politeness.access import Access
from gossamer.politeness.pace import busy_rest, host_at_once, rest_after
from gossamer.politeness.retry import wait_before_retry
from gossamer.politeness.robots import Robots
from gossamer.records import Lease, Outcome, Purpose, Reason, Report
from gossamer.schedule.connection_shares import Shares
from gossamer.schedule.dns_queue import NameQueue
from gossamer.schedule.holdups import Holdup
from gossamer.schedule.host_cache import HostCache
from gossamer.schedule.host_queues import Address, Host, HostQueues, Where
from gossamer.schedule.host_troubles import HostTroubles
from gossamer.schedule.last_retries import LastRetries, RetriesLeft
from gossamer.schedule.robots_fetches import RobotsFetches
from gossamer.schedule.sitemap_fetches import SitemapFetches
from gossamer.schedule.skipped import AT_ONCE, SLICE_REST_S, SkippedUrls
from gossamer.schedule.typed_names import TypedNames
from gossamer.settings import Settings
from gossamer.urls.canonical import origin_of, target_of
from gossamer.urls.keys import Keys

_HOST_FAULTS: Final = frozenset({Reason.DNS, Reason.CONNECT})
_PAGE: Final = Purpose.PAGE  # to ask the class for it takes three times as long
_BUSY: Final = Reason.BUSY

_NO_RULES: Final = Access(Robots(), 0, 0)  # those of the operator's own hosts
_EVERYBODY: Final = Guard()  # knows which addresses are public, and allows no others


class Scheduler:
    """Gives out leases and learns from their reports."""

    def __init__(
        self,
        frontier: Frontier,
        settings: Settings,
        keys: Keys,
        guard: Guard,
        clock: Clock,
        typed_hosts: Iterable[str],
        on_decided: Callable[[UrlRow], None],
        *,
        is_unclean: bool = False,
        may_ask_sitemap: Callable[[str], bool] = bool,
        is_in_scope: Callable[[str], bool] = bool,
        find_ban: Callable[[str], str | None] | None = None,
        secret_origins: frozenset[str] = frozenset(),
    ) -> None:
        """`is_unclean`: the last process was killed, and may have asked anybody just now.
        `find_ban` is asked for every URL before it is leased: a ban may be newer than the queue.
        `secret_origins` may hear the operator's secrets."""
        self._frontier = frontier
        self._settings = settings
        self._manners = settings.politeness
        self._pages_per_host = settings.frontier.pages_per_host
        self._keys = keys
        self._guard = guard
        self._clock = clock
        self._secret_origins = secret_origins
        self._own = frozenset(settings.politeness.own_hosts)
        self._find_ban = find_ban
        # Whom the last process asked just before it ended is known by host, not by address.
        rest_s = self._manners.address_delay_s if is_unclean or frontier.counts.known else 0.0
        self._addresses_free_s = clock.now_s() + rest_s
        self._roll = HostCache(frontier, self._manners, clock, typed_hosts, is_unclean=is_unclean)
        self._names = NameQueue()
        self._typed_names = TypedNames(frontier.pending)
        self.shares = Shares(settings.fetch.connections)
        self._number = 0  # of the last lease
        self._now_us = 0  # the wall time at which leases were last asked for
        self.under_way = 0
        self._unasked = SkippedUrls(frontier, self._manners, clock, on_decided)
        self.board = HostQueues()
        self.sitemaps = SitemapFetches(
            frontier, settings, keys, self.host, self._place_now,
            may_ask_sitemap, is_in_scope, on_decided,
        )  # fmt: skip
        self.robots = RobotsFetches(
            frontier, settings, keys, clock, self.host, self._place_now,
            self.sitemaps.named_by_robots,
        )  # fmt: skip
        self._troubles = HostTroubles(
            frontier, settings.politeness, clock, self.board, self.robots, self.sitemaps,
            self._unasked, self._place_now, lambda: self._number,
        )  # fmt: skip
        self._outage = self._troubles.outage
        self._last_retries = LastRetries(
            frontier, self._manners, clock, self.board, self._roll, self._troubles, self.sitemaps,
            self._unasked, self._place_now,
        )  # fmt: skip
        self.allowance = Allowance(settings.limits)

    # -- giving out

    def next_lease(self) -> Lease | None:
        """A URL that may be asked this very moment, or None."""
        leases = self.next_leases(1)
        return leases[0] if leases else None

    def next_leases(self, most: int) -> list[Lease]:
        """URLs that may be asked this very moment, at most so many."""
        leases: list[Lease] = []
        now_s, room = self._clock.now_s(), self._room()
        self._now_us = self._clock.wall_us()
        self._unasked.count = 0
        for key in self._frontier.take_awake():
            host = self.host(key)
            if host.where is Where.ASLEEP:
                self._place(host, now_s)
        is_bound, outage = self.allowance.is_bound, self._outage
        while len(leases) < most and room:
            if outage.is_out and not outage.may_ask(now_s, self.under_way):
                break
            lease = self._first_lease(now_s, room)
            if lease is None:
                break
            leases.append(lease)
            if is_bound:
                room = self._room()
        return leases

    def _first_lease(self, now_s: float, room: int) -> Lease | None:
        for host in self.board.take_rested(now_s):
            self._place(host, now_s)
        while self._unasked.count < AT_ONCE and (ready := self.board.take_ready()) is not None:
            lease = self._lease_from(ready, now_s, room)
            if lease is not None:
                return lease
        return None

    def next_time_s(self) -> float | None:
        """When to ask for a lease again, reports and names apart; None when nothing changes."""
        if not self._room():
            return None
        if self._outage.next_try_s is not None:
            return self._outage.next_try_s
        return self._clock.now_s() if self.board.has_ready else self.board.next_rested_s()

    @property
    def hosts_waiting(self) -> int:
        """Hosts that have work and may not be asked this moment."""
        return self._roll.waiting()

    def holdups(self) -> tuple[Holdup, ...]:
        """The three hosts that hold the crawl up most."""
        return self._roll.holdups()

    def troubles(self, limit: int = 5) -> tuple[str, ...]:
        """Why hosts with work are not asked, a few of them."""
        gone = ["the network seems to be gone; it is tried again now and then"]
        found = gone if self._outage.is_out else []
        return (*found, *self._roll.troubles(limit - len(found)))

    def retries_left(self) -> RetriesLeft | None:
        """What waits to be retried, when nothing else is left to do."""
        return self._last_retries.left()

    def hasten_retries(self) -> None:
        """Call it when no lease could be given: when nothing but retries is left, they come sooner
        and are fewer."""
        if not self.under_way:
            self._last_retries.hasten()

    def take_unresolved(self) -> list[Host]:
        """Hosts whose names must be resolved; `resolved` is owed for each."""
        return self._names.take()

    def host(self, key: bytes) -> Host:
        """The host of a key."""
        return self._roll.host(key)

    def forget_idle(self) -> None:
        """Hosts without work whose rest is over need no memory."""
        self.board.forget_rested_addresses(self._clock.now_s())
        self._roll.forget_idle()

    def _room(self) -> int:
        counts = self._frontier.counts
        return self.allowance.room_for_body(
            fetched=counts.fetched,
            bytes_had=counts.size_bytes,
            max_body_bytes=self._settings.fetch.max_body_bytes,
        )

    def _place(self, host: Host, now_s: float) -> None:
        """Put a host where it belongs now."""
        if host.verdict is not None:
            self._troubles.sweep(host, now_s)
        elif host.is_resolving or (host.waits_for_robots and not host.errands):
            self.board.put(host, Where.WAITING)
        elif host.pace.under_way >= host.at_once:
            self.board.put(host, Where.FULL)
        elif host.pace.free_at_s > now_s and host.away:
            self._troubles.give_up(host, Reason.BUSY, host.away)
        elif host.pace.free_at_s > now_s:
            self.board.rest(host, host.pace.free_at_s)
        elif host.errands:
            self.board.make_ready(host, b"")
        else:
            place = self._frontier.first_place(host.key)
            if place is not None:
                self.board.make_ready(host, place)
            elif host.sitemaps:
                self.board.make_ready(host, b"")
            else:
                self.board.put(host, Where.ASLEEP)

    def _place_now(self, host: Host) -> None:
        self._place(host, self._clock.now_s())

    def _lease_from(self, host: Host, now_s: float, room: int) -> Lease | None:
        """A lease from a ready host for a body of at most `room`, or None after putting it where it
        belongs."""
        if host.verdict is not None:
            self._troubles.sweep(host, now_s)
            return None
        if now_s >= host.resolved_until_s and not host.is_looked_up:
            self._resolve(host)
            return None
        address = self.board.address(host.addresses[0], self._addresses_free_s)
        if not host.is_hurried and not self.board.may_ask(address, host, now_s):
            self.board.wait_for(address, host)
            return None
        if self.under_way >= self.shares.half and self._is_held(host):
            return None
        if host.errands:
            lease: Lease | None = self.robots.lease(host, self._next_number())
        elif host.sitemaps and (host.is_sitemaps_turn or self._frontier.peek(host.key) is None):
            lease = self._sitemap_lease(host, now_s)
        else:
            lease = self._page_lease(host, now_s, room)
            host.is_sitemaps_turn = lease is not None
        if lease is None:
            return None
        self.under_way += 1
        self.shares.begin(host.site, lease.address)
        host.is_looked_up = False
        host.pace.asked()
        address.pace.asked()
        if host.called_by is not None:
            self.board.serve(host)
        self._place(host, now_s)
        if lease.purpose is _PAGE or not host.is_typed:
            return lease
        return replace(lease, gets_secrets=origin_of(lease.url) in self._secret_origins)

    def _is_held(self, host: Host) -> bool:
        """Whether its site or range has its share of the connections; then it waits for an end."""
        is_wanted = self.board.has_ready_besides(host.site)
        over = self.shares.over(host.site, host.addresses[0], has_others=is_wanted)
        if over is None:
            return False
        self.board.put(host, Where.FULL)
        self.shares.hold(over, host)
        return True

    def _address(self, name: str) -> Address:
        return self.board.address(name, self._addresses_free_s)

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _resolve(self, host: Host) -> None:
        host.is_resolving = True
        self.board.put(host, Where.WAITING)
        self._names.add(host)

    def _sitemap_lease(self, host: Host, now_s: float) -> Lease | None:
        url = host.sitemaps[0].url
        access = self._enter(host, origin_of(url), now_s)
        if access is None:
            return None
        host.is_sitemaps_turn = False
        refusal = _refusal_by(access, url)
        if refusal is None:
            return self.sitemaps.lease(host, self._next_number())
        self._unasked.count += 1
        self.sitemaps.drop_first(host, *refusal, self._clock.wall_us())
        self._place(host, now_s)
        return None

    def _page_lease(self, host: Host, now_s: float, room: int) -> Lease | None:
        unasked = self._unasked
        while unasked.count < AT_ONCE:
            first = self._frontier.peek(host.key)
            if first is None:
                self.board.put(host, Where.ASLEEP)
                return None
            entry = first[1]
            if self._find_ban is not None and (ban := self._find_ban(entry.url)) is not None:
                unasked.refuse_first(host, entry, Reason.BANNED, f"banned by {ban!r}")
                continue
            if unasked.dead_ports and unasked.is_put_off(host, entry):
                continue
            origin = origin_of(entry.url)
            access = self._enter(host, origin, now_s)
            if access is None:
                return None
            refusal = self._over_budget(host) if self._pages_per_host else None
            if access.robots.rules or access.is_denied_all:
                refusal = refusal or _refusal_by(access, entry.url)
            if refusal is None:
                return self._lease_entry(host, entry, origin, room)
            unasked.refuse_first(host, entry, *refusal)
        self.board.rest(host, now_s + SLICE_REST_S)
        return None

    def _enter(self, host: Host, origin: str, now_s: float) -> Access | None:
        """The rules of robots.txt; where they are not known, see to it and put the host where it
        waits."""
        if host.name in self._own:
            host.at_once = host_at_once(self._manners, crawl_delay_s=None, is_open=host.is_open)
            return _NO_RULES
        access = self.robots.access(origin)
        if access is None or not access.is_fresh(self._now_us):
            self.robots.want(host, origin)
            self._place(host, now_s)
            return None
        delay_s = access.crawl_delay_s or 0.0
        if delay_s or host.crawl_delay_s or host.at_once == 1:  # else nothing has changed
            host.crawl_delay_s = delay_s
            host.at_once = host_at_once(self._manners, crawl_delay_s=delay_s, is_open=host.is_open)
        if access.is_denied_all and not access.is_hopeless:
            self._frontier.touch(host.key).trouble = access.detail
            host.pace.free_at_s = max(host.pace.free_at_s, self._roll.now_of(access.expires_us))
            self.board.rest(host, host.pace.free_at_s)
            return None
        return access

    def _over_budget(self, host: Host) -> tuple[Reason, str] | None:
        if self._frontier.host(host.key).pages >= self._pages_per_host:
            return Reason.BUDGET, "the host has had frontier.pages_per_host pages"
        return None

    def _lease_entry(self, host: Host, entry: QueueEntry, origin: str, room: int) -> Lease | None:
        limit = self._pages_per_host
        if limit and self._frontier.host(host.key).pages + host.pace.under_way >= limit:
            self.board.put(host, Where.FULL)  # an answer is owed; its report places it again
            return None
        self._frontier.take(host.key)
        self.allowance.promise(room)
        self._number += 1
        key, url, depth, tries, redirects, via = entry
        is_typed = host.is_typed
        return Lease(
            self._number, url, key, host.name, host.addresses[0], _PAGE, depth, tries, redirects,
            self._url_of(host, via) if via else "",
            is_typed, is_typed and origin in self._secret_origins, room, "", host.must_be_public,
        )  # fmt: skip

    def _url_of(self, host: Host, key: bytes) -> str:
        """The URL of a page that names others; they stand behind one another in the queue."""
        if key != host.via[0]:
            host.via = key, self._frontier.url_of(key)
        return host.via[1]

    # -- learning

    def resolved(self, host: Host, answer: Resolved) -> None:
        """A host's name has been looked up."""
        host.is_resolving = False
        self._names.done(host)
        self._typed_names.note(host, answer.addresses)
        allowed: list[str] = []
        forbidden = ""
        for address in answer.addresses:
            verdict = self._guard.forbids(
                address,
                is_trusted=host.is_typed and not host.must_be_public,
                is_literal=bool(address_in(host.name)),
            )
            if verdict is None:
                allowed.append(address)
            forbidden = forbidden or verdict or ""
        if allowed and not self._settings.fetch.contact and self._is_public(allowed):
            self._troubles.give_up(
                host, Reason.CONTACT, f"{host.name} is somebody's site, and no contact is set"
            )
        elif allowed:
            host.addresses = tuple(sorted(allowed, key=host.silent.__contains__))
            host.resolved_until_s = answer.expires_s
            host.is_looked_up = True
            is_open = host.is_typed or self._guard.is_allowed(host.address)
            self._roll.note_open(host, is_open=is_open)
            self._place(host, self._clock.now_s())
        elif forbidden:
            before = "; it was public when it was typed" if host.must_be_public else ""
            self._troubles.give_up(host, Reason.PRIVATE, f"{host.name} is {forbidden}{before}")
        else:
            self._troubles.fault(
                host, Reason.DNS, f"{host.name}: {answer.fault}", is_definite=answer.is_definite
            )

    def _is_public(self, addresses: Iterable[str]) -> bool:
        """Whether anybody but us may be behind one of them."""
        return any(
            not self._guard.is_allowed(a) and _EVERYBODY.forbids(a, is_trusted=False) is None
            for a in addresses
        )

    def ended(self, report: Report) -> int | None:
        """A lease ended. Paces its host; for a failure to be tried again, the wall time of it."""
        lease, now_s = report.lease, self._clock.now_s()
        host = self._roll.host(lease.key[:HOST_BYTES])
        self._free(host, lease)
        if report.status:
            self._outage.answered()
        is_hurried = host.is_hurried
        rest_s = host.crawl_delay_s if is_hurried else self._roll.rest_s(host, took_s=report.took_s)
        if report.reason is _BUSY or report.status in (429, 503):
            self._troubles.was_busy(host, report, now_s, rest_s)
        else:
            host.pace.answered(at_s=now_s, rest_s=rest_s)
        address = self.board.address(lease.address, self._addresses_free_s)
        address_rest_s = 0.0 if is_hurried else self._roll.address_rest_s(host)
        address.pace.answered(at_s=now_s, rest_s=address_rest_s)
        if address.waiters:
            self.board.call_next(address)
        row = self._frontier.touch(host.key)
        self.allowance.wasted_bytes += report.wasted_bytes
        retry_us = None
        if report.reason is None and lease.purpose is _PAGE:  # an answer that we keep
            self.allowance.settle(lease.max_body_bytes)
            if row.faults or row.trouble or host.silent:
                self._troubles.are_over(host)
        else:
            retry_us = self._after(host, report)
        row.free_us = self._clock.wall_us()
        if host.pace.free_at_s > now_s:
            row.free_us += round((host.pace.free_at_s - now_s) * 1e6)
        row.busy = host.pace.busy_in_a_row
        self._place(host, now_s)
        return retry_us

    def came_back(self, lease: Lease) -> None:
        """A lease whose holder died: its host rests as after an answer, and it is queued again."""
        now_s = self._clock.now_s()
        host = self.host(self._keys.host(lease.host))
        self._free(host, lease)
        host.pace.answered(at_s=now_s, rest_s=self._roll.rest_s(host, took_s=0.0))
        address = self._address(lease.address)
        address.pace.answered(at_s=now_s, rest_s=self._roll.address_rest_s(host))
        self.board.call_next(address)
        if lease.purpose is Purpose.ROBOTS:
            self.robots.came_back(host, lease)
        elif lease.purpose is Purpose.SITEMAP:
            self.sitemaps.came_back(host, lease)
        else:
            self.allowance.settle(lease.max_body_bytes)
            via = self._keys.of(lease.via) if lease.via else b""
            self._frontier.give_back(
                QueueEntry(lease.key, lease.url, lease.depth, lease.tries, lease.redirects, via)
            )
        self._place(host, now_s)

    def _free(self, host: Host, lease: Lease) -> None:
        """A request has ended: who was held by its share may be asked."""
        self.under_way -= 1
        for held in self.shares.end(host.site, lease.address):
            if held.where is Where.FULL:
                self._place_now(held)

    def _after(self, host: Host, report: Report) -> int | None:
        if report.lease.purpose is Purpose.ROBOTS:
            if not self.robots.learn(host, report):
                self._troubles.robots_unreachable(host, report)
            return None
        if report.lease.purpose is Purpose.SITEMAP:
            self._after_sitemap(host, report)
            return None
        self.allowance.settle(report.lease.max_body_bytes)
        if report.reason in _HOST_FAULTS:
            return self._troubles.unreachable(host, report)
        self._troubles.are_over(host)
        if self._troubles.is_too_busy(host, report):
            self._troubles.give_up(host, Reason.BUSY, report.detail)
            return None
        self.allowance.is_spent |= self._is_past_limit(report)
        is_mute = report.reason is Reason.TIMEOUT and not report.status
        if is_mute and self._troubles.is_network_gone(host):
            return self._clock.wall_us()  # not its fault: its tries are not spent
        return self._retry_us(report)

    def _after_sitemap(self, host: Host, report: Report) -> None:
        if report.reason in _HOST_FAULTS:
            self.sitemaps.came_back(host, report.lease)
            self._troubles.unreachable(host, report)
            return
        self._troubles.are_over(host)
        self.sitemaps.learn(host, report)
        if self._troubles.is_too_busy(host, report):
            self._troubles.give_up(host, Reason.BUSY, report.detail)

    def replayed(self, report: Report) -> int | None:
        """The same for an exchange of the archive, before anything is leased: its host gets the
        rest that was not committed. Returns the wall time for the next try, None for never.
        """
        lease = report.lease
        row = self._frontier.touch(self._keys.host(lease.host))
        row.name = row.name or lease.host
        is_busy = report.reason is Reason.BUSY
        row.busy = row.busy + 1 if is_busy else 0
        rest_s = rest_after(
            self._manners,
            took_s=report.took_s,
            crawl_delay_s=row.crawl_delay_s,
            is_open=lease.is_trusted,
        )
        if is_busy:
            asked_for_s = report.retry_after_s or busy_rest(self._manners.busy_rest_s, row.busy)
            rest_s = max(rest_s, asked_for_s)
            row.trouble = report.detail
        row.free_us = max(row.free_us, report.at_us + round((report.took_s + rest_s) * 1e6))
        self._roll.forget(self._keys.host(lease.host))
        return self._retry_us(report)

    def _is_past_limit(self, report: Report) -> bool:
        """Whether a page was turned away for what is left of `limits.max_bytes` alone."""
        whole = self._settings.fetch.max_body_bytes
        return report.reason is Reason.SIZE and report.lease.max_body_bytes < whole

    def _retry_us(self, report: Report) -> int | None:
        """When a URL is to be asked again, in wall time; None for never."""
        if self._is_past_limit(report):
            return self._clock.wall_us()
        if report.outcome is not Outcome.FAILED or report.reason is None:
            return None
        wait_s = wait_before_retry(report.reason, report.lease.tries, self._manners)
        if report.retry_after_s > self._manners.retry_after_max_s or wait_s is None:
            return None
        # A server that says when is believed; our own guess is for those that do not.
        return self._clock.wall_us() + round((report.retry_after_s or wait_s) * 1e6)


def _refusal_by(access: Access, url: str) -> tuple[Reason, str] | None:
    ruling = access.judge(target_of(url))
    if ruling.allowed:
        return None
    line = f" (line {ruling.line})" if ruling.line else ""
    return Reason.ROBOTS, f"{ruling.rule}{line}"


assert HOST_BYTES == 8, "hosts are named by the first half of a key"
