"""What an origin's answer to /robots.txt means, and for how long.

RFC 9309, 2.3.1: a response gives rules; a refusal (4xx) means that there are none; no response, or
a server error, means that nothing may be requested until it answers. 429 counts as a server error,
because "too many requests" does not mean that everything is allowed.

Pure: the time is passed in. The caller fetches the file and follows up to five redirects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgpack  # type: ignore[import-untyped, unused-ignore]  # ships no types

from gossamer.politeness.robots import Robots, Rule, Ruling
from gossamer.settings import Politeness

MAX_HOPS: Final = 5  # RFC 9309, 2.3.1.2: follow at least five redirects
_DAY_S: Final = 86_400.0  # RFC 9309, 2.4: the longest use of a cached copy
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Access:
    """The state of one origin's robots.txt.

    `detail` says why everything is allowed or forbidden; it is empty if rules decide. `tries`
    counts consecutive fetches without an answer. If `is_hopeless`, the host is given up.
    """

    robots: Robots
    at_us: int
    expires_us: int
    is_denied_all: bool = False
    is_hopeless: bool = False
    tries: int = 0
    detail: str = ""
    crawl_delay_s: float | None = None

    @classmethod
    def from_answer(
        cls, status: int, body: bytes, now_us: int, settings: Politeness, tries: int = 0
    ) -> Access:
        """Judge a response. `tries`: the failed fetches before this one.

        A redirect here had too many hops, or led nowhere.
        """
        if 200 <= status < 300:
            robots = Robots.parse(body, max_bytes=settings.robots_max_bytes)
            return _believed(robots, now_us, settings, "")
        if 300 <= status < 400:
            why = f"robots.txt redirects on and on (status {status}), which counts as none"
            return _believed(Robots(), now_us, settings, why)
        if 400 <= status < 500 and status != 429:
            why = f"there is no robots.txt (status {status})"
            return _believed(Robots(), now_us, settings, why)
        return cls.from_failure(f"status {status}", now_us, settings, tries)

    @classmethod
    def from_failure(cls, detail: str, now_us: int, settings: Politeness, tries: int = 0) -> Access:
        """Forbid everything until robots.txt can be fetched. `tries`: as in `from_answer`.

        Each try waits twice as long as the one before, up to a day.
        """
        asked = tries + 1
        wait_s = min(settings.robots_error_keep_s * 2.0 ** min(tries, 40), _DAY_S)
        return cls(
            robots=Robots(),
            at_us=now_us,
            expires_us=now_us + round(wait_s * 1e6),
            is_denied_all=True,
            is_hopeless=asked >= settings.robots_tries,
            tries=asked,
            detail=f"robots.txt cannot be had ({detail}), asked {asked} times",
        )

    def is_fresh(self, now_us: int) -> bool:
        """Whether it is still valid. A clock that was set back makes it stale."""
        return self.at_us <= now_us < self.expires_us

    def judge(self, target: str) -> Ruling:
        """Judge the path and query of a URL."""
        if self.is_denied_all and target != "/robots.txt":
            return Ruling(allowed=False, rule=self.detail)
        return self.robots.judge(target)

    def encode(self) -> bytes:
        """Bytes for the state. `decode` returns an equal value."""
        robots = self.robots
        rules = [(rule.is_allow, rule.path, rule.line) for rule in robots.rules]
        head = (self.at_us, self.expires_us, self.is_denied_all, self.is_hopeless, self.tries)
        tail = (self.detail, self.crawl_delay_s)
        packed: bytes = msgpack.packb(
            (_FORMAT, head, tail, (rules, robots.crawl_delay_s, robots.sitemaps))
        )
        return packed

    @classmethod
    def decode(cls, packed: bytes) -> Access:
        """Raises ValueError for bytes that `encode` did not make."""
        try:
            version, head, tail, (rules, delay_s, sitemaps) = msgpack.unpackb(
                packed, use_list=False
            )
            robots = Robots(tuple(Rule(*rule) for rule in rules), delay_s, sitemaps)
            access = cls(robots, *head, *tail)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no state of a robots.txt ({error!r})") from None
        if version != _FORMAT:
            raise ValueError(f"this state of a robots.txt has format {version}, not {_FORMAT}")
        return access


def _believed(robots: Robots, now_us: int, settings: Politeness, detail: str) -> Access:
    keep_s = min(settings.robots_keep_s, _DAY_S)
    delay_s = robots.crawl_delay_s
    return Access(
        robots=robots,
        at_us=now_us,
        expires_us=now_us + round(keep_s * 1e6),
        detail=detail,
        crawl_delay_s=None if delay_s is None else min(delay_s, settings.crawl_delay_max_s),
    )
