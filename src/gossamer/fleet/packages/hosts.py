"""Which hosts belong to a job. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gossamer.urls.canonical import host_of


class JobHosts:
    """The hosts of a job: names, and with a leading dot a name with all its subdomains."""

    def __init__(self, hosts: Iterable[str]) -> None:
        given = [host.lower() for host in hosts]
        self._names = frozenset(host for host in given if not host.startswith("."))
        self._ends = frozenset(host for host in given if host.startswith("."))

    def has(self, host: str) -> bool:
        """Whether a host is one of them."""
        if host in self._names or f".{host}" in self._ends:
            return True
        at = host.find(".")
        while at >= 0:
            if host[at:] in self._ends:
                return True
            at = host.find(".", at + 1)
        return False

    def has_url(self, url: str) -> bool:
        """Whether a canonical URL is of one of them."""
        return self.has(host_of(url))
