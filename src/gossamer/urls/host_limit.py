"""The hosts that a crawl may request, whatever its scope is: for a crawl on behalf of others."""

from __future__ import annotations

from collections.abc import Iterable


class HostLimit:
    """Hosts by name; `.example.org` is the host and all below it. Without any, all are allowed."""

    def __init__(self, hosts: Iterable[str]) -> None:
        names = [host.strip().lower().removesuffix(".") for host in hosts]
        self._is_open = not names
        self._exact = frozenset(name.removeprefix(".") for name in names)
        self._above = frozenset(name[1:] for name in names if name.startswith("."))

    def allows(self, host: str) -> bool:
        """Whether a host may be requested."""
        if self._is_open or host in self._exact:
            return True
        if not self._above:
            return False
        while (dot := host.find(".")) >= 0:
            host = host[dot + 1 :]
            if host in self._above:
                return True
        return False
