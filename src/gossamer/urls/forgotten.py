"""URLs that were forgotten and must not come back.

A takedown removes all mentions of a URL, also from the list of removed URLs. So the list holds
digests: 16 bytes of a URL, a host or a site. It can tell whether a URL is listed; it does not
reveal the URLs, except to somebody who guesses them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from gossamer.urls.canonical import host_of
from gossamer.urls.site import site_of

_DIGEST_BYTES: Final = 16
_REMEMBERED_HOSTS: Final = 50_000


class Breadth(StrEnum):
    """What a name covers."""

    URL = "url"
    HOST = "host"
    SITE = "site"


@dataclass(frozen=True, slots=True)
class Named:
    """A thing to be forgotten, by its name in canonical form."""

    breadth: Breadth
    name: str

    @property
    def digest(self) -> str:
        """The digest of the name: 32 hexadecimal digits."""
        told = f"{self.breadth.value} {self.name}".encode()
        return hashlib.blake2b(told, digest_size=_DIGEST_BYTES, person=b"forgotten").hexdigest()


def host_in(url: str) -> str:
    """The host in a URL of any scheme. Other archives contain `dns:`, `ftp:` and invalid URLs."""
    scheme, _, rest = url.partition(":")
    if scheme == "dns":
        return rest.lower()
    try:
        return (urlsplit(url).hostname or "") if "//" in url else ""
    except ValueError:
        return ""


class Forgotten:
    """Everything that was forgotten in one collection."""

    def __init__(self, dates: Mapping[str, str] | None = None) -> None:
        """`dates` maps each digest to the date when it was forgotten."""
        self._dates = dict(dates or {})
        self._hosts: dict[str, str] = {}  # cache: host -> date when it was forgotten

    @classmethod
    def of(cls, named: list[Named], date: str) -> Forgotten:
        """Only these names."""
        return cls({one.digest: date for one in named})

    def __bool__(self) -> bool:
        return bool(self._dates)

    def covers(self, url: str) -> bool:
        """Whether a canonical URL, its host or its site was forgotten."""
        return bool(self._dates) and bool(self.date_of(url))

    def has(self, named: Named) -> bool:
        """Whether exactly this name was forgotten."""
        return named.digest in self._dates

    def date_of(self, url: str) -> str:
        """When it was forgotten; empty if it was not."""
        return self._dates.get(Named(Breadth.URL, url).digest) or self.date_of_host(host_of(url))

    def date_of_host(self, host: str) -> str:
        """When the whole host was forgotten; empty if it was not."""
        found = self._hosts.get(host)
        if found is None:
            if len(self._hosts) >= _REMEMBERED_HOSTS:
                self._hosts.clear()
            found = self._dates.get(Named(Breadth.HOST, host).digest) or self._dates.get(
                Named(Breadth.SITE, site_of(host)).digest, ""
            )
            self._hosts[host] = found
        return found


NOTHING: Final = Forgotten()
