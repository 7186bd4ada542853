"""The names of hosts: which is resolved next, and which addresses may be requested.

A lookup ends with addresses that are allowed, or with a reason why the host gets no request: its
addresses are private, they are public and the operator gave no contact, or there are none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.resolve import ResolvedHost, address_in
from gossamer.frontier.pending import Pending
from gossamer.records import Reason
from gossamer.schedule.dns_queue import DnsQueue
from gossamer.schedule.host import Host
from gossamer.schedule.typed_names import TypedNames

_PUBLIC_ONLY: Final = AddressGuard()  # forbids every address that is not public


class NoAddress(NamedTuple):
    """Why a host has no address that may be requested. DNS: perhaps later; else never."""

    reason: Reason
    detail: str
    is_definite: bool = False  # a name server said that there is no such name


class HostNames:
    """Resolves the names of hosts, and judges their addresses."""

    def __init__(self, pending: Pending, guard: AddressGuard, *, has_contact: bool) -> None:
        """`has_contact`: the operator can be reached by those whose sites are crawled."""
        self._guard = guard
        self._has_contact = has_contact
        self._queue = DnsQueue()
        self._typed = TypedNames(pending)

    def request(self, host: Host) -> None:
        """The name of a host is needed."""
        host.name_requested()
        self._queue.add(host)

    def take(self) -> list[Host]:
        """Hosts whose names are to be resolved now; `answered` is owed for each."""
        return self._queue.take()

    def answered(self, host: Host, answer: ResolvedHost) -> NoAddress | None:
        """A lookup ended. None if the host has an address that may be requested."""
        self._queue.done(host)
        host.name_answered(must_be_public=self._typed.must_be_public(host, answer.addresses))
        allowed, forbidden = self._judged(host, answer.addresses)
        if allowed and not self._has_contact and self._is_public(allowed):
            return NoAddress(Reason.CONTACT, f"{host.name} is a public site, and no contact is set")
        if allowed:
            host.addresses_found(allowed, answer.expires_s)
            host.opened(is_open=host.is_typed or self._guard.is_allowed(host.address))
            return None
        if forbidden:
            before = "; it was public when it was typed" if host.must_be_public else ""
            return NoAddress(Reason.PRIVATE, f"{host.name} is {forbidden}{before}")
        return NoAddress(Reason.DNS, f"{host.name}: {answer.fault}", answer.is_definite)

    def _judged(self, host: Host, addresses: Iterable[str]) -> tuple[list[str], str]:
        """The addresses that are allowed, and why the first of the others is not."""
        allowed: list[str] = []
        forbidden = ""
        for address in addresses:
            verdict = self._guard.forbids(
                address,
                is_trusted=host.is_typed and not host.must_be_public,
                is_literal=bool(address_in(host.name)),
            )
            if verdict is None:
                allowed.append(address)
            forbidden = forbidden or verdict or ""
        return allowed, forbidden

    def _is_public(self, addresses: Iterable[str]) -> bool:
        """Whether one of them may belong to somebody else."""
        return any(
            not self._guard.is_allowed(a) and _PUBLIC_ONLY.forbids(a, is_trusted=False) is None
            for a in addresses
        )
