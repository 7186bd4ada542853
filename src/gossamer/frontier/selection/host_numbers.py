"""Numbers of hosts and sites, and how many requests of each site are in flight."""

from __future__ import annotations

from typing import Final

from gossamer.urls.site import site_of

HOST_BYTES: Final = 8
UNKNOWN: Final = -1


class HostNumbers:
    """Hosts by the order in which they came. A host is known by its key."""

    def __init__(self) -> None:
        self.keys: list[bytes] = []  # by number
        self.sites: list[int] = []  # numbers of their sites
        self.flying = 0  # requests in flight, all together
        self._numbers: dict[bytes, int] = {}
        self._site_numbers: dict[str, int] = {}
        self._in_flight: dict[int, int] = {}  # by site

    def find(self, host_key: bytes) -> int | None:
        """The number of a host; None if it has had no URL."""
        return self._numbers.get(host_key)

    def number(self, key: bytes, name: str) -> int:
        """The number of a URL's host, which has that name."""
        host_key = key[:HOST_BYTES]
        number = self._numbers.get(host_key)
        if number is None:
            number = self._numbers[host_key] = len(self.keys)
            self.keys.append(host_key)
            numbers = self._site_numbers
            self.sites.append(numbers.setdefault(site_of(name), len(numbers)))
        return number

    def site_of(self, host_key: bytes) -> int:
        """The site of a host; UNKNOWN if the host has had no URL."""
        number = self._numbers.get(host_key)
        return UNKNOWN if number is None else self.sites[number]

    def begin_flight(self, site: int) -> None:
        self._in_flight[site] = self._in_flight.get(site, 0) + 1
        self.flying += 1

    def end_flight(self, site: int) -> None:
        self._in_flight[site] -= 1
        self.flying -= 1

    def in_flight(self, site: int) -> int:
        """Requests of a site that are in flight."""
        return self._in_flight.get(site, 0)
