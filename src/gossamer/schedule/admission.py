"""May this URL be requested? All rules that look at a URL alone, in one place.

The cheapest rules come first. Each refusal names its rule, so that `why` and the export can show it
to the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gossamer.base.plurals import counted
from gossamer.fetch.guard import forbidden_port
from gossamer.frontier.traps import trap_in
from gossamer.records import NAMED, Found, Reason
from gossamer.settings import Settings
from gossamer.urls.bans import BanList
from gossamer.urls.canonical import host_of, origin_of, port_of
from gossamer.urls.forgotten import NOTHING, Forgotten
from gossamer.urls.host_limit import HostLimit
from gossamer.urls.scope import Scope, domains_from

# Origins whose judgement is kept, 200 bytes each. A crawl of more origins judges each URL anew, in
# 5 microseconds.
_REMEMBERED_ORIGINS: Final = 50_000


class Admission:
    """Judges every URL that the frontier sees for the first time."""

    def __init__(
        self,
        settings: Settings,
        seeds: Sequence[str],
        bans: BanList,
        live_bans: BanList | None = None,
        forgotten: Forgotten = NOTHING,
    ) -> None:
        """`bans` come from files; `live_bans` were added while a crawl ran, and `ban` replaces
        them."""
        self._settings = settings
        self._seeds = list(seeds)
        self._scope = build_scope(settings, self._seeds)
        self._bans = bans
        self._live_bans = live_bans or BanList()
        self._forgotten = forgotten
        self._depth = settings.scope.depth
        self._host_limit = HostLimit(settings.scope.hosts)
        self._judge_anew()

    @property
    def seeds(self) -> tuple[str, ...]:
        return tuple(self._seeds)

    def adopt(self, url: str) -> bool:
        """A seed redirects to `url`, which counts as a seed from now on; whether it is new."""
        if url in self._seeds:
            return False
        self._seeds.append(url)
        self._scope = build_scope(self._settings, self._seeds)
        self._judge_anew()
        return True

    def ban(self, bans: BanList) -> None:
        """Replace the bans that were added while a crawl ran."""
        self._live_bans = bans
        self._judge_anew()

    def _judge_anew(self) -> None:
        """The rules have changed: drop the judgements that are kept."""
        self._has_bans = bool(self._bans or self._live_bans)
        self._is_by_origin = self._scope.is_by_host and not self._has_bans
        self._origins: dict[str, tuple[Reason, str] | None] = {}

    def find_ban(self, url: str) -> str | None:
        """The line that bans a URL."""
        if not self._has_bans:  # called for every URL when it is found, and when it is leased
            return None
        return self._bans.find(url) or self._live_bans.find(url)

    def is_in_scope(self, url: str) -> bool:
        return self._scope.judge(url).is_in

    def may_request_sitemap(self, url: str) -> bool:
        """Whether a sitemap may be requested. It may be out of scope; its pages may not."""
        is_banned = self.find_ban(url) is not None or self._forgotten.covers(url)
        is_port_open = forbidden_port(port_of(url), self._settings.fetch.ports) is None
        is_short = len(url) <= self._settings.frontier.max_url_chars
        is_host_open = self._host_limit.allows(host_of(url))
        return is_short and is_port_open and is_host_open and not is_banned

    def __call__(self, found: Found) -> tuple[Reason, str] | None:
        """The rule that forbids a URL, with a sentence; None if it may be requested."""
        url, _, depth, via, redirects, is_nofollow = found
        verdict = self._judge_alone(url) if via == NAMED else self._judge_place(url)
        if verdict is not None:
            return verdict
        if is_nofollow:
            return Reason.NOFOLLOW, "the page or the link is marked nofollow"
        if 0 <= self._depth < depth:
            return Reason.DEPTH, f"{counted(depth, 'link')} from a seed, more than {self._depth}"
        if redirects > self._settings.fetch.max_redirects:
            return Reason.REDIRECTS, f"{counted(redirects, 'redirect')} in a row"
        return trap_in(url, self._settings.frontier)

    def _judge_place(self, url: str) -> tuple[Reason, str] | None:
        """Scope, bans and port. If only the host matters, each origin is judged once: nearly all
        new URLs of a page are of known origins."""
        if not self._is_by_origin:
            return self._judge_url(url)
        origin = origin_of(url)
        if origin not in self._origins:
            if len(self._origins) >= _REMEMBERED_ORIGINS:
                self._origins.clear()
            self._origins[origin] = self._judge_url(url)
        return self._origins[origin]

    def _judge_url(self, url: str) -> tuple[Reason, str] | None:
        verdict = self._scope.judge(url)
        return self._judge_alone(url) if verdict.is_in else (Reason.SCOPE, verdict.because)

    def _judge_alone(self, url: str) -> tuple[Reason, str] | None:
        """Hosts, bans and port."""
        if not self._host_limit.allows(host_of(url)):
            return Reason.SCOPE, "its host is not among scope.hosts"
        banned = self.find_ban(url)
        if banned is not None:
            return Reason.BANNED, f"banned by {banned!r}"
        port = forbidden_port(port_of(url), self._settings.fetch.ports)
        return None if port is None else (Reason.PORT, port)


def build_scope(settings: Settings, seeds: Sequence[str]) -> Scope:
    """The scope of a crawl. Raises UsageError for a pattern or a list that cannot be used."""
    rules = settings.scope
    domains = [*rules.domains]
    if rules.domains_file:
        domains.extend(domains_from(Path(rules.domains_file)))
    return Scope.build(rules.kind, seeds, rules.include, rules.exclude, domains)
