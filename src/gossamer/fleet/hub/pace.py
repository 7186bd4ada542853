"""The pace of hosts and addresses over all units. Pure.

A host belongs to one unit at a time (`leases.py`). When it changes hands, the next unit waits until
the delay after the last request is over. Several hosts may share an address: the units that request
it wait as many times their delay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gossamer.fleet.hub.leases import covers
from gossamer.fleet.protocol import SharedPace, UsedHost

MOST_ADDRESSES: Final = 1_000  # of one job
MOST_USED: Final = 1_000  # hosts of one job whose delays are remembered
MOST_DELAY_S: Final = 3_600.0  # that a unit may tell: longer would block a host


class HostPaces:
    """When hosts may be requested again, and with which delay. Times are `now_s`."""

    def __init__(self, least_delay_s: float) -> None:
        self._least_s = least_delay_s
        self._of_job: dict[str, dict[str, tuple[float, float]]] = {}  # host -> last request, delay
        self._free_s: dict[str, float] = {}

    def note(self, job: str, used: Iterable[UsedHost], now_s: float) -> None:
        """What a unit tells about the hosts that it requests."""
        known = self._of_job.setdefault(job, {})
        for host in used:
            if len(known) < MOST_USED or host.host in known:
                delay_s = min(max(host.delay_s, self._least_s), MOST_DELAY_S)
                known[host.host] = (now_s - max(0.0, host.since_s), delay_s)

    def release(
        self, job: str, hosts: Iterable[str], now_s: float, *, is_silent: bool
    ) -> dict[str, float]:
        """The job has ended: its hosts and when each is free again. A silent unit may have sent
        requests that it did not tell of, so its delays begin now."""
        known = self._of_job.pop(job, {})
        ends: dict[str, float] = {}
        for host, (last_s, delay_s) in known.items():
            ends[host] = (now_s if is_silent else last_s) + delay_s
        for pattern in hosts:
            if not pattern.startswith(".") and pattern not in ends:
                ends[pattern] = now_s + self._least_s
        late = {host: end_s for host, end_s in ends.items() if end_s > now_s}
        for host, end_s in late.items():
            self._free_s[host] = max(end_s, self._free_s.get(host, 0.0))
        return late

    def restore(self, host: str, free_s: float) -> None:
        self._free_s[host] = free_s

    def waits(self, hosts: Iterable[str], now_s: float) -> dict[str, float]:
        """Of the hosts of a job: the seconds until each may be requested."""
        patterns = tuple(hosts)
        names = frozenset(patterns)
        wide = tuple(pattern for pattern in patterns if pattern.startswith("."))
        return {
            host: round(free_s - now_s, 3)
            for host, free_s in self._free_s.items()
            if free_s > now_s and (host in names or any(covers(one, host) for one in wide))
        }

    def take_free(self, now_s: float) -> list[str]:
        """The hosts that are free by now; they are forgotten."""
        free = [host for host, free_s in self._free_s.items() if free_s <= now_s]
        for host in free:
            del self._free_s[host]
        return free


class AddressUse:
    """Which jobs request which addresses."""

    def __init__(self) -> None:
        self._of_job: dict[str, frozenset[str]] = {}
        self._jobs: dict[str, set[str]] = {}

    def note(self, job: str, addresses: Iterable[str]) -> None:
        """The addresses that a job requests; an empty list changes nothing."""
        new = frozenset(list(addresses)[:MOST_ADDRESSES])
        old = self._of_job.get(job, frozenset())
        if not new or new == old:
            return
        self._leave(job, old - new)
        for address in new - old:
            self._jobs.setdefault(address, set()).add(job)
        self._of_job[job] = new

    def forget(self, job: str) -> None:
        self._leave(job, self._of_job.pop(job, frozenset()))

    def _leave(self, job: str, addresses: Iterable[str]) -> None:
        for address in addresses:
            jobs = self._jobs[address]
            jobs.discard(job)
            if not jobs:
                del self._jobs[address]

    def factors(self, jobs: Iterable[str]) -> tuple[SharedPace, ...]:
        """The whole list for the unit that has these jobs: addresses that others request, too."""
        found: dict[str, float] = {}
        for job in jobs:
            for address in self._of_job.get(job, ()):
                if (count := len(self._jobs[address])) > 1:
                    found[address] = float(count)
        return tuple(SharedPace(address=name, factor=count) for name, count in found.items())

    def users(self) -> Mapping[str, int]:
        """Addresses that several jobs request, with their number."""
        return {address: len(jobs) for address, jobs in self._jobs.items() if len(jobs) > 1}
