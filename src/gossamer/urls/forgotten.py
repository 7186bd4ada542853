"""Which URLs were forgotten, and are not to come back?

What a takedown removed may be named nowhere any more, not even in the list of what was removed. So
the list holds digests: 16 bytes of a URL, of a host or of a site. Whether a URL is among them can
be told; what they are of can not, except by whoever guesses it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from gossamer.base.values import dataclass
from gossamer.urls.canonical import host_of
from gossamer.urls.site import site_of

_DIGEST_BYTES: Final = 16
_REMEMBERED_HOSTS: Final = 50_000


class Breadth(StrEnum):
    """How much a name stands for."""

    URL = "url"
    HOST = "host"
    SITE = "site"


@dataclass(frozen=True, slots=True)
class Named:
    """Something to be forgotten, by its name in canonical form."""

    breadth: Breadth
    name: str

    @property
    def digest(self) -> str:
        """What is left of the name: 32 hexadecimal digits."""
        told = f"{self.breadth.value} {self.name}".encode()
        return hashlib.blake2b(told, digest_size=_DIGEST_BYTES, person=b"forgotten").hexdigest()


def host_in(url: str) -> str:
    """The host in a URL of any scheme; archives of others hold `dns:` and `ftp:`, and rubbish."""
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
        """`dates` says of each digest when it was forgotten."""
        self._dates = dict(dates or {})
        self._hosts: dict[str, str] = {}  # of those looked at, when they were forgotten

    @classmethod
    def of(cls, named: list[Named], date: str) -> Forgotten:
        """These names alone."""
        return cls({one.digest: date for one in named})

    def __bool__(self) -> bool:
        return bool(self._dates)

    def covers(self, url: str) -> bool:
        """Whether a canonical URL, its host or its site was forgotten."""
        return bool(self._dates) and bool(self.date_of(url))

    def has(self, named: Named) -> bool:
        """Whether this very name was forgotten."""
        return named.digest in self._dates

    def date_of(self, url: str) -> str:
        """When it was forgotten; empty when it was not."""
        return self._dates.get(Named(Breadth.URL, url).digest) or self.date_of_host(host_of(url))

    def date_of_host(self, host: str) -> str:
        """When all of a host was forgotten; empty when it was not."""
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
