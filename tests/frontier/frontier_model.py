"""A frontier without queues, buffers or commits: dictionaries, searched whole every time.

The model and the frontier are told the same; whatever they differ in is a bug of one of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from gossamer.policies.order import Candidate, Order, priority_key, with_score
from gossamer.records import Found, Lease, Outcome, Reason, Report, Stored
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import Keys

KEYS = Keys(b"salt" * 4)
MAX_DEPTH = 3


def found(url: str, depth: int = 0, *, redirects: int = 0, is_nofollow: bool = False) -> Found:
    return Found(url, KEYS.of(url), depth, redirects=redirects, is_nofollow=is_nofollow)


def judge(one: Found) -> tuple[Reason, str] | None:
    """A small admission: a scope, nofollow and a depth limit."""
    if "/out" in one.url:
        return Reason.SCOPE, "out of scope"
    if one.is_nofollow:
        return Reason.NOFOLLOW, "nofollow"
    return (Reason.DEPTH, "too deep") if one.depth > MAX_DEPTH else None


@dataclass(slots=True)
class Known:
    """What the model knows of one URL."""

    url: str
    depth: int
    outcome: Outcome
    reason: str = ""
    place: bytes = b""
    due_us: int = 0
    tries: int = 0
    redirects: int = 0
    is_redirect: bool = False
    is_leased: bool = False
    status: int = 0  # of the stored version
    at_us: int = 0  # of the last answer that counts
    missed: int = 0

    @property
    def waits_for_visit(self) -> bool:
        return self.outcome is Outcome.FETCHED and bool(self.place or self.due_us)

    @property
    def is_liftable(self) -> bool:
        return self.outcome is Outcome.REFUSED and self.reason in ("nofollow", "depth")


@dataclass(slots=True)
class ShiftingOrder:
    """An order whose scores change. While the shift of a host is 0 it is `base`; any other shift
    scores by the last number in the URL."""

    base: Order
    shifts: dict[str, int] = field(default_factory=dict)
    uses_link_counts: bool = False

    @property
    def is_newest_first(self) -> bool:
        return self.base.is_newest_first

    @property
    def revision(self) -> int:
        return sum(self.shifts.values())

    def score(self, candidate: Candidate) -> int:
        shift = self.shifts.get(host_of(candidate.url), 0)
        if not shift:
            return self.base.score(candidate)
        return (int(candidate.url.rsplit("/", 1)[1]) + shift) % 50

    def copy(self) -> ShiftingOrder:
        return replace(self, shifts=dict(self.shifts))


@dataclass(slots=True)
class Model:
    """All URLs by key, and how far places are given out."""

    order: ShiftingOrder
    urls: dict[bytes, Known] = field(default_factory=dict)
    number: int = 0
    shallower: list[bytes] = field(default_factory=list)
    owed: dict[str, float] = field(default_factory=dict)  # to new URLs, by host

    def copy(self) -> Model:
        """What a restart would find: nothing is leased."""
        urls = {key: replace(known, is_leased=False) for key, known in self.urls.items()}
        return Model(self.order.copy(), urls, self.number)

    def next_place(self, url: str, depth: int) -> bytes:
        self.number += 1
        return priority_key(self.order, Candidate(url, depth), self.number)

    def rescored(self, known: Known) -> bytes:
        """The place of a queued URL by its score of today."""
        return with_score(known.place, self.order.score(Candidate(known.url, known.depth)))

    def admit(self, one: Found) -> None:
        known = self.urls.get(one.key)
        verdict = judge(one)
        if known is None or known.is_liftable:
            if verdict is None:
                self.urls[one.key] = Known(
                    one.url,
                    one.depth,
                    Outcome.QUEUED,
                    place=self.next_place(one.url, one.depth),
                    redirects=one.redirects,
                )
            elif known is None:
                self.urls[one.key] = Known(one.url, one.depth, Outcome.REFUSED, verdict[0])
        elif one.depth < known.depth and verdict is None:
            self._come_nearer(one, known)

    def _come_nearer(self, one: Found, known: Known) -> None:
        known.depth = one.depth
        if known.outcome is Outcome.FETCHED:
            self.shallower.append(one.key)
        elif known.outcome is Outcome.QUEUED and not known.is_leased:
            known.redirects = one.redirects
            if known.place:
                known.place = self.next_place(one.url, one.depth)

    def free(self, host: str, *, visits: bool = False) -> list[tuple[bytes, bytes]]:
        """Places and keys of new URLs, or of visits, that may be handed out, in order."""
        return sorted(
            (known.place, key)
            for key, known in self.urls.items()
            if known.place
            and not known.is_leased
            and host_of(known.url) == host
            and known.waits_for_visit == visits
        )

    def is_visit_next(self, host: str) -> bool:
        """New URLs and visits take turns while both wait; a new URL comes first."""
        new, visits = self.free(host), self.free(host, visits=True)
        return bool(visits) and (not new or self.owed.get(host, 0.5) < 0.5)

    def take(self, host: str) -> None:
        """The next URL of a host is leased."""
        both = bool(self.free(host)) and bool(self.free(host, visits=True))
        is_visit = self.is_visit_next(host)
        if both:
            self.owed[host] = self.owed.get(host, 0.5) + (0.5 if is_visit else -0.5)
        elif not self.free(host, visits=True):
            self.owed.pop(host, None)
        self.urls[self.free(host, visits=is_visit)[0][1]].is_leased = True

    def settle(self, key: bytes, outcome: Outcome, reason: str = "") -> None:
        known = self.urls[key]
        known.outcome, known.reason, known.place, known.due_us = outcome, reason, b"", 0
        known.is_leased = False

    def visit_again(self, key: bytes) -> bool:
        known = self.urls.get(key)
        if known is None or known.outcome is not Outcome.FETCHED or known.place or known.due_us:
            return False
        known.place, known.tries = self.next_place(known.url, known.depth), 0
        return True

    def leave_queue(self, key: bytes) -> None:
        """A visit ended, and the page stays as it is."""
        known = self.urls[key]
        known.place, known.due_us, known.is_leased = b"", 0, False

    def wait(self, key: bytes, due_us: int) -> None:
        known = self.urls[key]
        known.place, known.due_us, known.is_leased = b"", due_us, False
        known.tries += 1

    def wake(self, key: bytes) -> None:
        known = self.urls[key]
        known.due_us, known.place = 0, self.next_place(known.url, known.depth)

    def sums(self) -> dict[str, int]:
        sums = Counter({"known": len(self.urls)})
        for known in self.urls.values():
            name = known.outcome.value
            sums["redirects" if known.is_redirect else name] += 1
            sums["revisits"] += known.waits_for_visit
        return dict(sums)


def lease_of(url: str, *, depth: int = 0, tries: int = 0, redirects: int = 0) -> Lease:
    return Lease(
        number=1,
        url=url,
        key=KEYS.of(url),
        host=host_of(url),
        address="192.0.2.1",
        depth=depth,
        tries=tries,
        redirects=redirects,
    )


def report_of(
    lease: Lease,
    outcome: Outcome,
    at_us: int,
    *,
    reason: Reason | None = None,
    redirect: str = "",
    status: int = 200,
    is_unchanged: bool = False,
) -> Report:
    is_fetched = outcome is Outcome.FETCHED
    return Report(
        lease=lease,
        outcome=outcome,
        at_us=at_us,
        took_s=0.5,
        stored=Stored("a.warc.gz", at_us, at_us, at_us + 10),
        reason=reason,
        status=301 if redirect else status if is_fetched else 0,
        is_unchanged=is_unchanged,
        size_bytes=7 if is_fetched else 0,
        redirect=redirect,
    )
