"""One host: what is known of it, what happens to it, and the queue that it belongs in.

Theory of operation
-------------------
`Host` is the only writer of a host's state. Each method below "Events" notes one thing that
happened, and `move` says which queue the host belongs in now. Whoever tells a host of an event
has it moved afterwards (`placement.py`), or returns it to a caller who does. Nothing here
waits, reads a clock or does I/O: the time is an argument.

`move` looks at the facts in this order, and the first one that holds decides:

    1. GIVEN_UP  the host is given up: its queued URLs are skipped with the reason
    2. NAME      its name is being resolved
    3. ROBOTS    a robots.txt that it needs is being fetched
    4. FULL      as many requests are in flight as it may have
    5. DELAYED   its politeness delay, a Retry-After or the wait after a fault is not over
                 (GIVEN_UP instead, where the host asked for more time than we wait)
    6. READY     it has a robots.txt to fetch, a URL in its queue, or a sitemap to fetch
    7. IDLE      none of that

A ready host that has been taken from the queue can turn out to need something first: its name
(`needs_name`), the rules of an origin (`robots_needed`) or its address, which other hosts share
(`host_queues.py`).

The queue after each event, by the queue before it. The host of this table has one page queued,
except in IDLE; it may have one request in flight; the time of the event is before the end of the
delay, and an answer brings a new delay. `tests/schedule/test_host.py` reads the table and tries
every cell.

    event               IDLE      READY     DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
    restored            DELAYED   DELAYED   DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
    named               IDLE      READY     DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
    name_requested      NAME      NAME      NAME      NAME      NAME      NAME      GIVEN_UP
    name_answered       IDLE      READY     DELAYED   FULL      READY     ROBOTS    GIVEN_UP
    addresses_found     IDLE      READY     DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
    opened              IDLE      READY     DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
    address_failed      IDLE      READY     DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
    reached             IDLE      READY     DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
    turn_taken          IDLE      READY     DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
    leased              FULL      FULL      FULL      FULL      NAME      ROBOTS    GIVEN_UP
    answered            DELAYED   DELAYED   DELAYED   DELAYED   NAME      ROBOTS    GIVEN_UP
    busy                DELAYED   DELAYED   DELAYED   DELAYED   NAME      ROBOTS    GIVEN_UP
    busy (for days)     GIVEN_UP  GIVEN_UP  GIVEN_UP  GIVEN_UP  NAME      ROBOTS    GIVEN_UP
    delayed_until       DELAYED   DELAYED   DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
    hastened            IDLE      READY     READY     FULL      NAME      ROBOTS    GIVEN_UP
    faulted             IDLE      READY     DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
    given_up            GIVEN_UP  GIVEN_UP  GIVEN_UP  GIVEN_UP  GIVEN_UP  GIVEN_UP  GIVEN_UP
    emptied             IDLE      READY     DELAYED   FULL      NAME      ROBOTS    READY
    robots_needed       READY     READY     DELAYED   FULL      NAME      FULL      GIVEN_UP
    robots_fetch_added  READY     READY     DELAYED   FULL      NAME      FULL      GIVEN_UP
    robots_failed       IDLE      READY     DELAYED   FULL      NAME      FULL      GIVEN_UP
    robots_known        IDLE      READY     DELAYED   FULL      NAME      FULL      GIVEN_UP
    robots_known (5 s)  DELAYED   DELAYED   DELAYED   FULL      NAME      FULL      GIVEN_UP
    rules_entered       IDLE      READY     DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
    sitemap_added       READY     READY     DELAYED   FULL      NAME      ROBOTS    GIVEN_UP
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from gossamer.politeness.pace import HostPace, delay_after, host_at_once, needs_no_delay
from gossamer.records import Previous, Reason
from gossamer.schedule.moves import (
    AUXILIARY,
    FULL,
    GIVEN_UP,
    IDLE,
    NAME,
    ROBOTS,
    Move,
    Queue,
    QueuedHost,
)
from gossamer.settings import Politeness

_READY: Final = Queue.READY  # a global is read three times as fast as a member of its class
_DELAYED: Final = Queue.DELAYED


class RobotsFetch(NamedTuple):
    """A robots.txt to fetch: `url` is where the redirects from `origin` have led."""

    origin: str
    url: str
    for_host: bytes  # key of the host that waits for it
    hops: int = 0


class SitemapFetch(NamedTuple):
    """A sitemap to fetch: `via` names it, `level` counts the indexes that led to it."""

    url: str
    via: str
    hops: int = 0
    level: int = 1
    tries: int = 0
    previous: Previous | None = None  # the last version that was stored whole


class Host(QueuedHost):
    """One host that has, or had, work. Read its fields anywhere; change them by its events."""

    __slots__ = (
        "_is_sitemaps_turn", "_last_lease", "_politeness", "_source", "_trouble_lease",
        "addresses", "at_once", "away", "crawl_delay_s", "fault", "is_looked_up", "is_open",
        "is_resolving", "is_typed", "must_be_public", "name", "needs_no_delay", "pace",
        "plain_under_way", "resolved_until_s", "robots_fetches", "silent", "sitemaps", "verdict",
        "waits_for_robots",
    )  # fmt: skip

    def __init__(
        self, key: bytes, name: str, politeness: Politeness, *, is_typed: bool = False,
        site: str = "",
    ) -> None:  # fmt: skip
        """`is_typed`: the operator named it; `site` is whose it is: sites take turns."""
        super().__init__(key, site)
        self.name = name
        self.is_typed = is_typed
        self._politeness = politeness
        self.pace = HostPace()
        # Its name.
        self.addresses: tuple[str, ...] = ()
        self.resolved_until_s = 0.0
        self.is_resolving = False
        self.is_looked_up = False  # resolved and not used yet, however long ago
        self.must_be_public = False  # a typed name that was public when it was first looked up
        self.silent: frozenset[str] = frozenset()  # addresses that took no connection
        # Its politeness.
        self.is_open = False  # typed or allowed by the operator
        self.needs_no_delay = False  # no delay but a Crawl-delay, and none for its address
        self.at_once = 1  # requests that may be in flight
        self.crawl_delay_s = 0.0
        self.plain_under_way = 0  # pages without a level: URLs with one wait for what they bring
        # Its auxiliary fetches: few, and a deque takes 600 bytes.
        self.robots_fetches: list[RobotsFetch] = []
        self.waits_for_robots = False
        self.sitemaps: list[SitemapFetch] = []
        self._is_sitemaps_turn = False  # a page was requested last: they take turns
        # Its troubles.
        self.verdict: tuple[Reason, str] | None = None  # it is given up: said of its URLs
        self.fault = Reason.CONNECT  # why it could not be reached the last time
        self.away = ""  # it asked for more time than we wait, in its words
        self._last_lease = 0
        self._trouble_lease = 0  # leases up to this one were in flight when it was last in trouble
        self._source = (b"", "")  # the last page that named a URL of it: key and URL
        self.opened(is_open=is_typed)

    # -- where it belongs

    def move(self, now_s: float, first_key: Callable[[bytes], bytes | None]) -> Move:
        """The queue for this moment; `first_key` finds the priority key of its first URL."""
        if self.verdict is not None:
            return GIVEN_UP
        if self.is_resolving:
            return NAME
        if self.waits_for_robots and not self.robots_fetches:
            return ROBOTS
        pace = self.pace
        if pace.under_way >= self.at_once:
            return FULL
        if pace.free_at_s > now_s:
            return GIVEN_UP if self.away else Move(_DELAYED, pace.free_at_s)
        if self.robots_fetches:
            return AUXILIARY
        key = first_key(self.key)
        if key is not None:
            return Move(_READY, 0.0, key)
        return AUXILIARY if self.sitemaps else IDLE

    def needs_name(self, now_s: float) -> bool:
        """Whether its name must be resolved before the next request."""
        return now_s >= self.resolved_until_s and not self.is_looked_up

    def is_sitemap_next(self, *, has_page: bool) -> bool:
        """Whether a sitemap is fetched before the next page."""
        return bool(self.sitemaps) and (self._is_sitemaps_turn or not has_page)

    def was_in_flight(self, number: int) -> bool:
        """Whether a lease was in flight already when the host was last in trouble: many leases
        that fail together say no more than one."""
        return number <= self._trouble_lease

    def delay_after(self, took_s: float) -> float:
        """Its politeness delay after an answer that took so long."""
        if self.needs_no_delay:
            return self.crawl_delay_s
        return delay_after(
            self._politeness,
            took_s=took_s,
            crawl_delay_s=self.crawl_delay_s,
            is_open=self.is_open,
        )

    @property
    def address(self) -> str:
        return self.addresses[0]

    @property
    def address_delay_s(self) -> float:
        """How long its address is left alone after an answer."""
        return 0.0 if self.needs_no_delay else self._politeness.address_delay_s

    @property
    def is_too_busy(self) -> bool:
        """Whether it has said "too many" too often, or asked for too much time."""
        return bool(self.away) or self.pace.busy_in_a_row > self._politeness.busy_retries

    @property
    def why_given_up(self) -> tuple[Reason, str]:
        """What is said of its URLs when `move` says GIVEN_UP."""
        return self.verdict or (Reason.BUSY, self.away)

    def source_url(self, key: bytes, find: Callable[[bytes], str]) -> str:
        """The URL of a page that names others, which are next to each other in the queue."""
        if key != self._source[0]:
            self._source = key, find(key)
        return self._source[1]

    # -- how many requests without a level are in flight

    def plain_leased(self) -> None:
        """The request is for a page without a level; `plain_ended` follows."""
        self.plain_under_way += 1

    def plain_ended(self) -> None:
        """It has ended, in whatever way."""
        self.plain_under_way = max(0, self.plain_under_way - 1)

    # -- Events: it begins

    def restored(
        self, *, crawl_delay_s: float, busy_in_a_row: int, free_at_s: float, away: str = ""
    ) -> None:
        """What its row knows from before."""
        self.crawl_delay_s = crawl_delay_s
        self.pace.busy_in_a_row = busy_in_a_row
        self.pace.free_at_s = free_at_s
        self.away = away

    def named(self, name: str, site: str) -> None:
        """An auxiliary fetch leads here, and perhaps no link has done so before."""
        self.name = self.name or name
        self.site = self.site or site

    # -- Events: its name

    def name_requested(self) -> None:
        """Its name is in the queue of names to resolve; `name_answered` follows."""
        self.is_resolving = True

    def name_answered(self, *, must_be_public: bool) -> None:
        """The lookup has ended, well or not."""
        self.is_resolving = False
        self.must_be_public = must_be_public

    def addresses_found(self, allowed: Sequence[str], until_s: float) -> None:
        """Its addresses that may be requested, to be believed until a time. Those that took no
        connection come last."""
        self.addresses = tuple(sorted(allowed, key=self.silent.__contains__))
        self.resolved_until_s = until_s
        self.is_looked_up = True

    def opened(self, *, is_open: bool) -> None:
        """It is known whether the operator typed or allowed it: only then can it be hurried."""
        self.is_open = is_open
        self.needs_no_delay = needs_no_delay(self._politeness, is_open=is_open)
        if not self.needs_no_delay:
            self.at_once = 1

    def address_failed(self, address: str) -> bool:
        """An address took no connection: use another. False when each has been tried."""
        self.silent |= {address}
        left = [each for each in self.addresses if each not in self.silent]
        if not left:
            self.silent = frozenset()
            return False
        self.addresses = (*left, *(each for each in self.addresses if each in self.silent))
        return True

    def reached(self) -> None:
        """It could be connected to."""
        self.silent = frozenset()

    # -- Events: requests

    def turn_taken(self, *, by_page: bool) -> None:
        """It was its turn, and a page was requested or not."""
        self._is_sitemaps_turn = by_page

    def leased(self, number: int) -> None:
        """A request goes out; exactly one of `answered` and `busy` follows."""
        self.is_looked_up = False
        self._last_lease = number
        self.pace.requested()

    def answered(self, now_s: float, took_s: float) -> None:
        """An answer or a failure came: the politeness delay begins."""
        self.pace.answered(at_s=now_s, delay_s=self.delay_after(took_s))

    def busy(
        self, now_s: float, took_s: float, number: int, retry_after_s: float, detail: str
    ) -> None:
        """It said "too many" to the lease of that number: the delay grows each time."""
        if self.was_in_flight(number) and self.pace.busy_in_a_row:
            self.pace.busy_in_a_row -= 1
        self._trouble_lease = self._last_lease
        self.pace.was_busy(
            at_s=now_s,
            delay_s=self.delay_after(took_s),
            busy_rest_s=self._politeness.busy_rest_s,
            retry_after_s=retry_after_s or None,
        )
        if retry_after_s > self._politeness.retry_after_max_s:
            self.away = detail

    # -- Events: delays and troubles

    def delayed_until(self, until_s: float) -> None:
        """Not to be requested before; a delay that has begun is never shortened."""
        self.pace.free_at_s = max(self.pace.free_at_s, until_s)

    def hastened(self, until_s: float) -> bool:
        """Nothing but retries is left to do: request it no later than that. Whether it changed
        anything. The only event that shortens a delay."""
        if self.pace.free_at_s <= until_s:
            return False
        self.pace.free_at_s = until_s
        return True

    def faulted(self, reason: Reason, *, is_new: bool) -> None:
        """It cannot be reached. `is_new`: no lease that failed together with this one said so."""
        self.fault = reason
        if is_new:
            self._trouble_lease = self._last_lease

    def given_up(self, reason: Reason, detail: str) -> None:
        """Nothing of it can be requested."""
        self.verdict = reason, detail

    def emptied(self) -> None:
        """All that was queued got the verdict, which is said of no URL that comes later."""
        self.verdict = None

    # -- Events: robots.txt

    def robots_needed(self, origin: str) -> None:
        """The rules of an origin are not known: they are fetched before anything else."""
        self.robots_fetches.append(RobotsFetch(origin, f"{origin}/robots.txt", self.key))
        self.waits_for_robots = True

    def robots_fetch_added(self, fetch: RobotsFetch) -> None:
        """A robots.txt is to be fetched from it, perhaps for another host."""
        self.robots_fetches.append(fetch)

    def robots_fetch_taken(self) -> RobotsFetch:
        return self.robots_fetches.pop(0)

    def robots_fetches_dropped(self) -> list[RobotsFetch]:
        """None of them can be made."""
        dropped, self.robots_fetches = self.robots_fetches, []
        self.waits_for_robots = False
        return dropped

    def robots_failed(self) -> None:
        """No answer came: whoever leases a page finds out whether it is still needed."""
        self.waits_for_robots = False

    def robots_known(self, crawl_delay_s: float, now_s: float) -> None:
        """Rules that it waited for have come. Their Crawl-delay holds from now on."""
        self.waits_for_robots = False
        self.crawl_delay_s = crawl_delay_s
        self.delayed_until(now_s + crawl_delay_s)

    def rules_entered(self, crawl_delay_s: float | None) -> None:
        """A request to an origin with this Crawl-delay is next; None where no rules hold."""
        if crawl_delay_s is not None:
            self.crawl_delay_s = crawl_delay_s
        self.at_once = host_at_once(
            self._politeness, crawl_delay_s=crawl_delay_s, is_open=self.is_open
        )

    # -- Events: sitemaps

    def sitemap_added(self, fetch: SitemapFetch) -> None:
        self.sitemaps.append(fetch)

    def sitemap_taken(self) -> SitemapFetch:
        return self.sitemaps.pop(0)
