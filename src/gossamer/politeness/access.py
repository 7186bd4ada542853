"""What an origin's answer to /robots.txt means, and for how long.

RFC 9309, 2.3.1: a response gives rules; a refusal (4xx) means that there are none; no response, or
a server error, means that nothing may be requested until it answers. 429 counts as a server error,
because "too many requests" does not mean that everything is allowed.

Pure: the time is passed in. The caller fetches the file and follows up to five redirects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from gossamer.base.packing import pack, unpacker
from gossamer.politeness.robots import Robots, RobotsRule, Ruling
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
            why = f"robots.txt redirects too often (status {status}), which counts as no robots.txt"
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
            detail=f"robots.txt cannot be fetched ({detail}), {asked} attempts",
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
        head = (self.at_us, self.expires_us, self.is_denied_all, self.is_hopeless, self.tries)
        tail = (self.detail, self.crawl_delay_s)
        return pack(
            _Row(_FORMAT, head, tail, (robots.rules, robots.crawl_delay_s, robots.sitemaps))
        )

    @classmethod
    def decode(cls, packed: bytes) -> Access:
        """Raises ValueError for bytes that `encode` did not make."""
        try:
            row = _unpack_row(packed)
        except ValueError as error:
            raise ValueError(f"this is no state of a robots.txt ({error!r})") from None
        if row.version != _FORMAT:
            raise ValueError(f"this state of a robots.txt has format {row.version}, not {_FORMAT}")
        return cls(Robots(*row.robots), *row.head, *row.tail)


class _Row(Struct, array_like=True):
    """The state of a robots.txt as it is stored."""

    version: int
    head: tuple[int, int, bool, bool, int]
    tail: tuple[str, float | None]
    robots: tuple[tuple[RobotsRule, ...], float | None, tuple[str, ...]]


_unpack_row: Final = unpacker(_Row)


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
