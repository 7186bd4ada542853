"""Parse the names given to `forget`, and match URLs against them.

    https://example.org/page   that URL, all its versions
    example.org                the host: everything of it, on any port
    --site example.org         the site: the registrable domain with all its hosts

Two tests give the same answer for a URL: by its text, for archive, log and links, and by its key,
for the state. Settings, seeds and ban lines that name only deleted URLs are removed too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gossamer.errors import UsageError
from gossamer.frontier.rows import HostRow
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.settings import Settings
from gossamer.urls.canonical import NormalForm, host_of, origin_of, target_of
from gossamer.urls.forgotten import Breadth, Forgotten, Named, host_in
from gossamer.urls.keys import HALF_BYTES, Keys
from gossamer.urls.site import site_of

_HAS_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_HAS_PORT: Final = re.compile(r"[^\[\]]*:\d*|\[.*\]:\d*")
_HOST: Final = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:.]+\]")
_DOMAINS: Final = "scope.domains"


def form_of(settings: Settings) -> NormalForm:
    """Return the normal form of URLs of a collection."""
    return NormalForm(settings.urls.query, settings.urls.session_parameters)


def read_names(texts: Sequence[str], form: NormalForm, *, is_site: bool = False) -> list[Named]:
    """Parse names. Raises UsageError for a text that is neither a URL nor a host."""
    found = [named for text in texts for named in _read_name(text.strip(), form, is_site=is_site)]
    return list(dict.fromkeys(found))


def _read_name(text: str, form: NormalForm, *, is_site: bool) -> list[Named]:
    is_url = bool(_HAS_SCHEME.match(text)) or "/" in text
    if _HAS_SCHEME.match(text):
        spellings = [form.find(text)]
    else:
        spellings = [form.find(f"{scheme}://{text}") for scheme in ("https", "http")]
    urls = [url for url in spellings if url is not None]
    if not text or not urls or "@" in text.partition("/")[0]:  # a mail address has a host too
        raise UsageError(f"{text!r} is neither a URL nor a host name")
    if is_site:
        return [Named(Breadth.SITE, site_of(host_of(urls[0])))]
    if not is_url:
        if _HAS_PORT.fullmatch(text):
            raise UsageError(
                f"{text!r} has a port, but `forget` deletes a host on all ports; name "
                f"{host_of(urls[0])!r}, or one URL"
            )
        return [Named(Breadth.HOST, host_of(urls[0]))]
    if target_of(urls[0]) == "/robots.txt":
        raise UsageError("robots.txt cannot be deleted alone; name the host")
    return [Named(Breadth.URL, url) for url in urls]


def other_source(sitemap: str) -> str:
    """Return the other place that may name a sitemap: without one it is the operator's."""
    return f"{origin_of(sitemap)}/robots.txt"


@dataclass(frozen=True, slots=True)
class Cover:
    """Everything in one collection that matches some names."""

    named: tuple[Named, ...]
    forgotten: Forgotten
    form: NormalForm
    keys: frozenset[bytes]
    host_keys: frozenset[bytes]
    keeps_scope: bool = True  # more than the seeds themselves is in scope

    @classmethod
    def of(cls, named: Sequence[Named], settings: Settings, keys: Keys, store: Store) -> Cover:
        """`store` lists the hosts of a site."""
        form = form_of(settings)
        forgotten = Forgotten.of(list(named), "now")
        hosts = {one.name for one in named if one.breadth is Breadth.HOST}
        if any(one.breadth is Breadth.SITE for one in named):
            rows = (HostRow.decode(packed) for _, packed in walk(store, StateTable.HOST))
            hosts |= {row.name for row in rows if row.name and forgotten.date_of_host(row.name)}
        urls = (one.name for one in named if one.breadth is Breadth.URL)
        return cls(
            tuple(named),
            forgotten,
            form,
            frozenset(map(keys.of, urls)),
            frozenset(map(keys.host, hosts)),
            settings.scope.kind != "page",
        )

    def covers(self, url: str) -> bool:
        """Whether a canonical URL is to be deleted."""
        return self.forgotten.covers(url)

    def covers_any(self, url: str) -> bool:
        """The same for a URL of any scheme: imported archives hold `dns:` and `ftp:` too."""
        if url.startswith(("http://", "https://")):
            return self.covers_link(url, "")
        host = host_in(url)
        return bool(host) and self.has_host(host)

    def covers_link(self, href: str, base: str) -> bool:
        """The same for a URL as written in a page."""
        url = self.form.find(href, base)
        return url is not None and self.covers(url)

    def has_key(self, key: bytes) -> bool:
        return key in self.keys or key[:HALF_BYTES] in self.host_keys

    def has_host_key(self, key: bytes) -> bool:
        return key in self.host_keys

    def has_host(self, host: str) -> bool:
        """Whether a whole host is to be deleted; a dot before a domain is ignored."""
        return bool(self.forgotten.date_of_host(host.lstrip(".")))

    # -- what the operator typed

    def names(self, text: str) -> bool:
        """Whether a text names only something that is to be deleted."""
        if _HAS_SCHEME.match(text):
            return self.covers_link(text, "")
        host = text.partition("=")[0]  # proxies are HOST=URL
        return bool(_HOST.fullmatch(host)) and self.has_host(host)

    def texts(self, texts: Iterable[str]) -> list[str]:
        return [text for text in texts if not self.names(text)]

    def seeds(self, seeds: Iterable[str]) -> list[str]:
        """Return the remaining seeds. A seed whose URL alone is deleted becomes its directory, so
        that the scope stays the same."""
        left = []
        for seed in seeds:
            if not self.covers(seed):
                left.append(seed)
            elif self.keeps_scope and not self.has_host(host_of(seed)):
                left.append(seed[: seed.partition("?")[0].rfind("/") + 1])
        return list(dict.fromkeys(left))

    def values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return settings by key, with deleted names removed from lists. A list of domains that
        would become empty stays: the scope needs one."""
        left = {}
        for key, value in values.items():
            texts = self.without(value) if isinstance(value, list | tuple) else value
            left[key] = value if key == _DOMAINS and not texts else texts
        return left

    def without(self, value: Any) -> Any:
        """Return a JSON value without texts that name deleted URLs."""
        if isinstance(value, dict):
            return {key: self.without(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [
                self.without(one) for one in value if not (isinstance(one, str) and self.names(one))
            ]
        return "" if isinstance(value, str) and self.names(value) else value
