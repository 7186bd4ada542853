"""Everything that is known about one URL, for `why`.

For an unknown URL the story is what the rules decide: scope, bans, traps and, if known, the site's
robots.txt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gossamer.collection.starting_points import StartingPoint
from gossamer.frontier.rows import HostRow, UrlRow
from gossamer.politeness.access import Access
from gossamer.reader.duplicate_facts import NO_DUPLICATES, DuplicateFacts
from gossamer.reader.pages import StoredCapture
from gossamer.records import Outcome, Reason
from gossamer.urls.canonical import origin_of, target_of

SAYS: Final[dict[Reason, str]] = {
    Reason.SCOPE: "it is outside the scope of the crawl",
    Reason.DEPTH: "it is more links away from a seed than the depth limit allows",
    Reason.BANNED: "it matches a line of a ban list",
    Reason.ROBOTS: "robots.txt of the site disallows it",
    Reason.NOFOLLOW: "the page or the link is marked nofollow",
    Reason.LISTED: "only the headers of such files are wanted (--list-only)",
    Reason.EVICTED: "better pages took its place in a collection of limited size (--keep-best)",
    Reason.TYPE: "its Content-Type is not one of the types to fetch",
    Reason.SIZE: "its Content-Length exceeds the limit",
    Reason.TRAP: "it looks like a crawler trap (an endless series of URLs)",
    Reason.UNSAFE: "a request could change something on the server",
    Reason.BUDGET: "the limit of URLs for its host or site is reached",
    Reason.PRIVATE: "its address is private",
    Reason.CONTACT: "no contact is set, and its site is not local",
    Reason.PORT: "its port is not allowed",
    Reason.REDIRECTS: "the chain of redirects to it is too long",
    Reason.MALFORMED: "the text in the page is not a URL",
    Reason.DNS: "the name of its host cannot be resolved",
    Reason.CONNECT: "its host does not accept connections",
    Reason.TLS: "the TLS connection failed",
    Reason.TIMEOUT: "the request timed out",
    Reason.RESET: "the connection closed before the response was complete",
    Reason.PROTOCOL: "the response is not valid HTTP",
    Reason.ENCODING: "its body does not match its Content-Encoding",
    Reason.BUSY: "its host responded that it is overloaded",
    Reason.CRASH: "this program crashed while processing it",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A page on the path from a seed to a URL."""

    url: str
    depth: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class RobotsView:
    """What the robots.txt of an origin says about a URL."""

    origin: str
    at_us: int
    expires_us: int
    is_allowed: bool
    rule: str = ""
    line: int = 0
    detail: str = ""
    crawl_delay_s: float | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What the rules decide for an unknown URL."""

    is_in: bool
    because: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """All that is known about one URL. If it is unknown, `row` is None and `judged` is set.

    `via` is the path from the page that links to it back to the seed, the nearest first.
    """

    url: str
    row: UrlRow | None
    via: tuple[Step, ...] = ()
    captures: tuple[StoredCapture, ...] = ()
    host: HostRow | None = None
    robots: RobotsView | None = None
    judged: Judged | None = None
    is_seed: bool = False
    point: StartingPoint | None = None  # of a seed that a search gave
    duplicates: DuplicateFacts = NO_DUPLICATES
    traps: tuple[
        str, ...
    ] = ()  # sentences about what was learned of its pattern and line of descent
    dropped: int = 0  # links of this collection that were counted, but not stored

    @property
    def tries(self) -> int:
        """Requests so far, or attempts to reach the host if no request could be sent."""
        return _tries(self.row) if self.row is not None else 0

    @property
    def because(self) -> str:
        """The reason as a clause; empty if there is none."""
        if self.row is None or not self.row.reason:
            return ""
        return SAYS.get(Reason(self.row.reason), self.row.reason)


def _tries(row: UrlRow) -> int:
    match row.outcome:
        case Outcome.QUEUED:
            return row.tries
        case Outcome.REFUSED:
            return row.tries + bool(row.status)
        case _:
            return row.tries + 1


def robots_view(url: str, access: Access) -> RobotsView:
    """Apply the rules of an origin to one of its URLs."""
    ruling = access.judge(target_of(url))
    return RobotsView(
        origin=origin_of(url),
        at_us=access.at_us,
        expires_us=access.expires_us,
        is_allowed=ruling.allowed,
        rule=ruling.rule,
        line=ruling.line,
        detail=access.detail,
        crawl_delay_s=access.crawl_delay_s,
    )
