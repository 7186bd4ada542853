"""May this URL be asked at all? All rules that look at a URL alone, in one place.

Order: what is cheapest and says most comes first. Each answer names its rule, so that `why` and
the export can say it to the person.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gossamer.fetch.guard import forbidden_port
from gossamer.frontier.traps import trap_in
from gossamer.records import NAMED, Found, Reason
from gossamer.settings import Settings
from gossamer.urls.bans import BanList
from gossamer.urls.canonical import port_of
from gossamer.urls.forgotten import NOTHING, Forgotten
from gossamer.urls.scope import Scope, domains_from


class Admission:
    """The judge that the frontier asks for every URL it sees for the first time."""

    def __init__(
        self,
        settings: Settings,
        seeds: Sequence[str],
        bans: BanList,
        live_bans: BanList | None = None,
        forgotten: Forgotten = NOTHING,
    ) -> None:
        """`bans` are those of files; `live_bans` came later, and `ban` replaces them."""
        self._settings = settings
        self._seeds = list(seeds)
        self._scope = build_scope(settings, self._seeds)
        self._bans = bans
        self._live_bans = live_bans or BanList()
        self._forgotten = forgotten
        self._depth = settings.scope.depth

    @property
    def seeds(self) -> tuple[str, ...]:
        return tuple(self._seeds)

    def adopt(self, url: str) -> bool:
        """A seed redirects to `url`, which counts as a seed from now on; whether it is new."""
        if url in self._seeds:
            return False
        self._seeds.append(url)
        self._scope = build_scope(self._settings, self._seeds)
        return True

    def ban(self, bans: BanList) -> None:
        """Other bans came while the crawl ran, instead of those that came before."""
        self._live_bans = bans

    def find_ban(self, url: str) -> str | None:
        """The line that bans a URL."""
        return self._bans.find(url) or self._live_bans.find(url)

    def is_in_scope(self, url: str) -> bool:
        return self._scope.judge(url).is_in

    def may_ask_sitemap(self, url: str) -> bool:
        """Whether a sitemap may be asked for. It may lie out of scope: its pages may not."""
        is_banned = self.find_ban(url) is not None or self._forgotten.covers(url)
        is_port_open = forbidden_port(port_of(url), self._settings.fetch.ports) is None
        is_short = len(url) <= self._settings.frontier.max_url_chars
        return is_short and is_port_open and not is_banned

    def __call__(self, found: Found) -> tuple[Reason, str] | None:
        """The rule that forbids it with a sentence, or None."""
        if found.via != NAMED:
            verdict = self._scope.judge(found.url)
            if not verdict.is_in:
                return Reason.SCOPE, verdict.because
        banned = self.find_ban(found.url)
        if banned is not None:
            return Reason.BANNED, f"banned by {banned!r}"
        port = forbidden_port(port_of(found.url), self._settings.fetch.ports)
        if port is not None:
            return Reason.PORT, port
        if found.is_nofollow:
            return Reason.NOFOLLOW, "the page, or the link, asks not to follow it"
        if 0 <= self._depth < found.depth:
            return Reason.DEPTH, f"{found.depth} links from a seed, more than {self._depth}"
        if found.redirects > self._settings.fetch.max_redirects:
            return Reason.REDIRECTS, f"{found.redirects} redirects in a row"
        return trap_in(found.url, self._settings.frontier)


def build_scope(settings: Settings, seeds: Sequence[str]) -> Scope:
    """The scope of a crawl. Raises UsageError for a pattern or a list that cannot be used."""
    rules = settings.scope
    domains = [*rules.domains]
    if rules.domains_file:
        domains.extend(domains_from(Path(rules.domains_file)))
    return Scope.build(rules.kind, seeds, rules.include, rules.exclude, domains)
