"""How many of the connections may one site use, or one range of addresses?

Half of them while others wait. Seven eighths while none waits, so that the next one need not wait
for an answer that never ends. All of them if every request so far went to one site, or one range.
A range is a /24, or a /64 of IPv6: its addresses mostly belong to one owner.

A host that would take more is held until a request of its site, or range, has ended.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from ipaddress import ip_address, ip_network

from gossamer.schedule.host import Host


class ConnectionShares:
    """Requests in flight by site and by range of addresses."""

    def __init__(self, connections: int) -> None:
        self._in_flight: dict[str, int] = {}  # sites and ranges, never 0
        self._met: tuple[set[str], set[str]] = (set(), set())  # sites and ranges, two at the most
        self._held: dict[str, deque[Host]] = {}
        self.resize(connections)

    def resize(self, connections: int) -> None:
        """So many requests may be in flight, all together."""
        self.half = max(1, connections // 2)
        self._most = max(1, connections - max(1, connections // 8))

    def begin(self, site: str, address: str) -> None:
        """A request goes out."""
        in_flight, range_ = self._in_flight, range_of(address)
        in_flight[site] = in_flight.get(site, 0) + 1
        in_flight[range_] = in_flight.get(range_, 0) + 1
        sites, ranges = self._met
        if len(sites) < 2:
            sites.add(site)
        if len(ranges) < 2:
            ranges.add(range_)

    def end(self, site: str, address: str) -> list[Host] | tuple[()]:
        """It ended. The hosts that were held because of it; the caller moves them."""
        in_flight, range_ = self._in_flight, range_of(address)
        for key in (site, range_):
            left = in_flight.get(key, 1) - 1
            if left:
                in_flight[key] = left
            else:
                in_flight.pop(key, None)
        return self._freed(site, range_) if self._held else ()

    def _freed(self, site: str, range_: str) -> list[Host]:
        freed: list[Host] = []
        for key in (site, range_):
            held = self._held.get(key)
            if held is not None:
                freed.append(held.popleft())
                if not held:
                    del self._held[key]
        return freed

    def over(self, site: str, address: str, *, has_others: bool) -> str | None:
        """The site or range that uses its share; None if one more request may go out."""
        most = self.half if has_others else self._most
        for key, met in zip((site, range_of(address)), self._met, strict=True):
            if len(met) > 1 and self._in_flight.get(key, 0) >= most:
                return key
        return None

    def hold(self, key: str, host: Host) -> None:
        """The host waits for the end of a request of that site or range."""
        self._held.setdefault(key, deque()).append(host)


@lru_cache(maxsize=10_000)
def range_of(address: str) -> str:
    """The /24 of an IPv4 address, the /64 of an IPv6 one."""
    plain = address.partition("%")[0]
    bits = 64 if ip_address(plain).version == 6 else 24
    return str(ip_network(f"{plain}/{bits}", strict=False))
