"""Everything that is known of one URL: what `why` tells.

For a URL that the collection does not know, the story is what its rules would say: scope, bans,
traps and, where the site's robots.txt is known, that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gossamer.frontier.rows import HostRow, UrlRow
from gossamer.politeness.access import Access
from gossamer.reader.pages import Capture
from gossamer.records import Outcome, Reason
from gossamer.urls.canonical import origin_of, target_of

SAYS: Final[dict[Reason, str]] = {
    Reason.SCOPE: "it lies outside the crawl",
    Reason.DEPTH: "it is too many links away from a seed",
    Reason.BANNED: "a line of a ban file matches it",
    Reason.ROBOTS: "the site's robots.txt forbids it",
    Reason.NOFOLLOW: "the page or the link asks crawlers not to follow it",
    Reason.TYPE: "its headers name a type that the crawl does not want",
    Reason.SIZE: "its headers name a length beyond the limit",
    Reason.TRAP: "it looks like one of endlessly many",
    Reason.UNSAFE: "asking could change something",
    Reason.BUDGET: "its host has had its share",
    Reason.PRIVATE: "it leads to a private address",
    Reason.CONTACT: "its site is somebody's, and no contact is set",
    Reason.PORT: "its port is not one that is asked",
    Reason.REDIRECTS: "too many redirects in a row lead to it",
    Reason.MALFORMED: "what stands in the page is no URL",
    Reason.DNS: "its host's name could not be resolved",
    Reason.CONNECT: "its host does not accept a connection",
    Reason.TLS: "no secure connection could be made",
    Reason.TIMEOUT: "no answer came in time",
    Reason.RESET: "the connection ended before the answer did",
    Reason.PROTOCOL: "what came is not HTTP",
    Reason.ENCODING: "its body is not in the compression that its headers name",
    Reason.BUSY: "its host said that it is busy",
    Reason.CRASH: "this program failed on it",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A page on the way from a seed to a URL."""

    url: str
    depth: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class RobotsView:
    """What the robots.txt of a URL's origin says of it."""

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
    """What the rules would say to a URL that is not known."""

    is_in: bool
    because: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """All that is known of one URL. `row` is None, and `judged` is set, when it is not known.

    `via` leads from the page that named it back to the seed, the nearest first.
    """

    url: str
    row: UrlRow | None
    via: tuple[Step, ...] = ()
    captures: tuple[Capture, ...] = ()
    host: HostRow | None = None
    robots: RobotsView | None = None
    judged: Judged | None = None
    is_seed: bool = False
    dropped: int = 0  # links of this collection that were counted and not recorded

    @property
    def tries(self) -> int:
        """Requests so far, or attempts to reach the host where none could be sent."""
        return _tries(self.row) if self.row is not None else 0

    @property
    def because(self) -> str:
        """The reason as half a sentence; empty when there is none."""
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
    """What an origin's rules say to one of its URLs."""
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
