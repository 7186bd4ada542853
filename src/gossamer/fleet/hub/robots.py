"""Robots.txt files that units have fetched, for the next unit that works on the site. Pure.

Only files of units whose work is trusted are passed on: a hostile one could otherwise lock others
out of a site, or lift its rules. Memory is bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from gossamer.fleet.hub.leases import covers
from gossamer.fleet.protocol import MAX_ROBOTS, MAX_ROBOTS_CHARS, SharedRobots
from gossamer.urls.canonical import host_of

_MOST_CHARS: Final = 32 * 2**20  # of all files


class RobotsCache:
    """Origin -> its robots.txt."""

    def __init__(self, keep_s: float) -> None:
        self._keep_us = round(keep_s * 1e6)
        self._files: OrderedDict[str, SharedRobots] = OrderedDict()
        self._of_host: dict[str, set[str]] = {}
        self._chars = 0

    def note(self, files: Iterable[SharedRobots], hosts: Iterable[str], now_us: int) -> None:
        """Keep files for hosts that the unit works on; others are ignored."""
        allowed = tuple(hosts)
        for file in list(files)[:MAX_ROBOTS]:
            if not file.origin.startswith(("http://", "https://")):
                continue
            host = host_of(f"{file.origin}/")
            if len(file.body) <= MAX_ROBOTS_CHARS and any(covers(one, host) for one in allowed):
                self._drop(file.origin)
                self._files[file.origin] = _dated(file, now_us)
                self._of_host.setdefault(host, set()).add(file.origin)
                self._chars += len(file.body)
        while self._chars > _MOST_CHARS:
            self._drop(next(iter(self._files)))

    def of(self, hosts: Iterable[str], now_us: int) -> tuple[SharedRobots, ...]:
        """The files for the hosts of a job."""
        found: list[SharedRobots] = []
        for pattern in hosts:
            if not pattern.startswith("."):
                names = [pattern] if pattern in self._of_host else []
            else:
                names = [host for host in self._of_host if covers(pattern, host)]
            for host in names:
                found += (self._files[origin] for origin in sorted(self._of_host[host]))
            if len(found) >= MAX_ROBOTS:
                break
        fresh = (file for file in found if file.fetched_us > now_us - self._keep_us)
        return tuple(fresh)[:MAX_ROBOTS]

    def forget_old(self, now_us: int) -> None:
        limit_us = now_us - self._keep_us
        for origin in [name for name, file in self._files.items() if file.fetched_us <= limit_us]:
            self._drop(origin)

    def _drop(self, origin: str) -> None:
        file = self._files.pop(origin, None)
        if file is not None:
            self._chars -= len(file.body)
            host = host_of(f"{origin}/")
            self._of_host[host].discard(origin)
            if not self._of_host[host]:
                del self._of_host[host]

    def __len__(self) -> int:
        return len(self._files)


def _dated(file: SharedRobots, now_us: int) -> SharedRobots:
    """A unit whose clock is ahead cannot make a file last longer."""
    import msgspec

    return msgspec.structs.replace(file, fetched_us=min(file.fetched_us, now_us))
