"""Send a search request to an engine: through the fetcher of the crawl, guarded and polite.

The host that the operator typed may be private, and no other: every address is resolved once,
checked, and pinned. robots.txt is requested first, and holds. Redirects are followed, each of them
checked in the same way. The operator's secrets are not sent. Nothing is archived.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Final

from gossamer.base.clock import Clock
from gossamer.errors import GossamerError
from gossamer.fetch.decode import decode
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.guard import AddressGuard, forbidden_port, guard_of
from gossamer.fetch.head import Head
from gossamer.fetch.judge import ResponseJudge
from gossamer.fetch.resolve import Resolver, address_in
from gossamer.node.seeds import NeedsContact
from gossamer.node.starts.result_urls import EngineAnswer
from gossamer.politeness.access import MAX_HOPS, Access
from gossamer.politeness.pace import delay_after
from gossamer.records import Fetched, Lease, Purpose
from gossamer.settings import Settings
from gossamer.urls.canonical import NormalForm, host_of, origin_of, port_of, target_of

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_TYPES: Final = ("html", "text")  # HTML, feeds and JSON
_MOST_BYTES: Final = 4 * 2**20  # of a page of results
_PUBLIC_ONLY: Final = AddressGuard()  # forbids every address that is not public
_NO_KEY: Final = bytes(16)


class SearchFault(GossamerError):
    """A search gave no starting points. Nothing was crawled."""

    exit_code = 3


class EngineClient:
    """Requests to the engines of one crawl, one after the other."""

    def __init__(self, settings: Settings, clock: Clock, fetcher: Fetcher) -> None:
        self._settings = settings
        self._clock = clock
        self._fetcher = fetcher
        self._guard = guard_of(settings.fetch)
        self._resolver = Resolver(clock, settings.fetch.dns_keep_s)
        self._form = NormalForm()
        self._addresses: dict[str, str] = {}  # of hosts
        self._accesses: dict[str, Access] = {}  # of origins
        self._free_s: dict[str, float] = {}  # when hosts may be requested again

    async def search(self, url: str) -> EngineAnswer:
        """The answer to one search. Raises SearchFault, NeedsContact."""
        typed = host_of(url)
        for _ in range(self._settings.fetch.max_redirects + 1):
            await self._check_robots(url, typed)
            answer = await self._fetch(url, typed, Purpose.PAGE)
            head = Head(answer.head)
            if answer.status in _REDIRECTS and head.first("location"):
                url = self._target(url, head)
                continue
            if not 200 <= answer.status < 300:
                raise SearchFault(f"{_shown(url)} answered with status {answer.status}; try later")
            return EngineAnswer(url, head.content_type(), _decoded(answer, head))
        raise SearchFault(f"{_shown(url)} redirects too often")

    async def leave_alone(self, urls: Iterable[str]) -> None:
        """Wait until the hosts of these URLs, which the crawl requests next, may be requested."""
        ends_s = [self._free_s.get(host, 0.0) for host in {host_of(url) for url in urls}]
        await self._clock.sleep_until(max(ends_s, default=0.0))

    def close(self) -> None:
        self._resolver.close()

    async def _check_robots(self, url: str, typed: str) -> None:
        if host_of(url) in self._settings.politeness.own_hosts:
            return
        origin = origin_of(url)
        if origin not in self._accesses:
            self._accesses[origin] = await self._access(origin, typed)
        ruling = self._accesses[origin].judge(target_of(url))
        if not ruling.allowed:
            raise SearchFault(f"robots.txt does not allow {_shown(url)} ({ruling.rule})")

    async def _access(self, origin: str, typed: str) -> Access:
        url = f"{origin}/robots.txt"
        for _ in range(MAX_HOPS + 1):
            answer = await self._fetch(url, typed, Purpose.ROBOTS)
            head = Head(answer.head)
            if answer.status not in _REDIRECTS or not head.first("location"):
                break
            url = self._target(url, head)
        return Access.from_answer(
            answer.status, _decoded(answer, head), self._clock.wall_us(), self._settings.politeness
        )

    def _target(self, url: str, head: Head) -> str:
        target = self._form.find(head.location(), url)
        if target is None:
            raise SearchFault(f"{_shown(url)} redirects to what is not a URL")
        return target

    async def _fetch(self, url: str, typed: str, purpose: Purpose) -> Fetched:
        """One request, after the delay of its host."""
        host, is_typed = host_of(url), host_of(url) == typed
        refused = forbidden_port(port_of(url), self._settings.fetch.ports)
        if refused is not None:
            raise SearchFault(f"{_shown(url)} cannot be requested: {refused}")
        address = await self._address(host, is_typed=is_typed)
        await self._clock.sleep_until(self._free_s.get(host, 0.0))
        lease = Lease(
            number=0, url=url, key=_NO_KEY, host=host, address=address, purpose=purpose,
            is_trusted=is_typed, max_body_bytes=_MOST_BYTES,
        )  # fmt: skip
        answer = await self._fetcher.fetch(lease)
        access = self._accesses.get(origin_of(url))
        delay_s = delay_after(
            self._settings.politeness,
            took_s=answer.took_s,
            crawl_delay_s=access.crawl_delay_s if access else None,
            is_open=is_typed,
        )
        self._free_s[host] = self._clock.now_s() + delay_s
        if not isinstance(answer, Fetched):
            raise SearchFault(f"{_shown(url)} cannot be fetched: {answer.detail}")
        return answer

    async def _address(self, host: str, *, is_typed: bool) -> str:
        """The first address of a host that may be requested. It stays the same."""
        if host in self._addresses:
            return self._addresses[host]
        answer = await self._resolver.resolve(host)
        why = answer.fault
        for address in answer.addresses:
            is_literal = bool(address_in(host))
            verdict = self._guard.forbids(address, is_trusted=is_typed, is_literal=is_literal)
            if verdict is None:
                self._check_contact(host, address)
                self._addresses[host] = address
                return address
            why = verdict
        raise SearchFault(f"the search engine {host} cannot be requested: {why}")

    def _check_contact(self, host: str, address: str) -> None:
        is_public = _PUBLIC_ONLY.forbids(address, is_trusted=False) is None
        if is_public and not self._guard.is_allowed(address) and not self._settings.fetch.contact:
            raise NeedsContact(host)


@asynccontextmanager
async def engine_client(settings: Settings, clock: Clock) -> AsyncIterator[EngineClient]:
    """A client for the time of a block."""
    fetcher = Fetcher(
        settings.fetch, ResponseJudge(_TYPES, _MOST_BYTES), guard_of(settings.fetch), clock
    )
    client = EngineClient(settings, clock, fetcher)
    try:
        yield client
    finally:
        client.close()
        await fetcher.aclose()


def _decoded(answer: Fetched, head: Head) -> bytes:
    coding = head.first("content-encoding")
    return decode(answer.body, coding, _MOST_BYTES).body if coding else answer.body


def _shown(url: str) -> str:
    """A URL in a message, without the query: it may hold a key of the operator."""
    return url.partition("?")[0]
