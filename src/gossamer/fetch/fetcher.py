"""Send requests. Every request of this program goes through here, robots.txt included.

A lease contains the address. It is pinned, so that no name is resolved a second time, and checked
again when the connection is made, so that neither a changed DNS record nor a bug can lead
elsewhere. Redirects are responses and are not followed here. Type and size are checked on the
headers; an unwanted body is not downloaded. `faults.py` translates libcurl's errors. Where requests
need a permit (`permit.py`), those that have none wait here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from heapq import nsmallest
from typing import Final

import pycurl

from gossamer.base.clock import Clock
from gossamer.fetch.cookies import Jar
from gossamer.fetch.faults import reason_of
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.head import without_cookies
from gossamer.fetch.held_bytes import HeldBytes
from gossamer.fetch.judge import ResponseJudge
from gossamer.fetch.multi import multi_for
from gossamer.fetch.network import NetworkAccess
from gossamer.fetch.permit import permit_of
from gossamer.fetch.request import Headers, checked_header
from gossamer.fetch.transfer import Transfer
from gossamer.records import Answer, Failed, Fetched, Lease, Reason, Refused
from gossamer.settings import Fetch
from gossamer.urls.canonical import origin_of

__all__ = ["Fetcher", "checked_header"]

_PROTOCOLS: Final = {1: "http/1.0", 2: "http/1.1", 3: "h2", 30: "h3"}  # by libcurl's numbers
# If a request follows the last response this soon, the origin has no delay.
_NO_DELAY_S: Final = 0.05
# If other hosts wait for a connection, a response this slow is ended after this time.
_LOOK_EVERY_S: Final = 0.5
_SLOW_S: Final = 10.0
_SLOW_BYTES: Final = 8_000.0  # per second
_LONG_AGO_S: Final = float("-inf")
_PERMIT_EVERY_S: Final = 0.25  # between two looks whether requests are permitted again
_ORIGINS: Final = 10_000  # cached; an origin that was dropped counts as delayed


class Fetcher:
    """A pool of connections and transfers on the running event loop."""

    def __init__(
        self,
        settings: Fetch,
        judge: ResponseJudge,
        guard: AddressGuard,
        clock: Clock,
        jar: Jar | None = None,
    ) -> None:
        """Without a `jar` a new one starts with the operator's cookies."""
        self._settings = settings
        self._judge = judge
        self._guard = guard
        self._clock = clock
        self._network = NetworkAccess(settings)
        self._headers = Headers(settings, judge.accept, self._network.headers)
        self.jar: Final = jar or Jar(self._network.cookies, is_open=settings.cookies)
        self._ended_s: dict[str, float] = {}  # when the last response of each origin ended
        self._multi = multi_for(settings.connections + 16)
        self._under_way: set[Transfer] = set()
        self._looking: asyncio.TimerHandle | None = None
        # Handles that send our certificate are separate: libcurl cannot remove it from a handle.
        self._idle: dict[bool, list[Transfer]] = {False: [], True: []}
        self._held = HeldBytes(settings.max_held_bytes)
        self._permit = permit_of(settings)
        self._unpermitted: dict[Transfer, Callable[[], None]] = {}  # how each of them begins
        self._asking: asyncio.TimerHandle | None = None

    @property
    def is_full(self) -> bool:
        """Whether so many bytes are held that `start` should not be called. `fetch` waits for
        room.
        """
        held = self._held  # called before every request, so written without a function call
        return held.held >= held.limit

    @property
    def under_way(self) -> int:
        """Number of requests in flight, with those that wait for a permit."""
        return len(self._under_way) + len(self._unpermitted)

    def has_conditions(self, lease: Lease) -> bool:
        """Whether the request of a lease wants the page only if it has changed."""
        return bool(self._headers.conditions(lease.previous))

    async def fetch(self, lease: Lease) -> Answer:
        """Send one request and return its answer. Never raises for errors of the web."""
        if self._held.is_full:
            await self._held.wait_for_room()
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def take(answer: Answer) -> None:
            if not answered.done():  # the waiting task may be cancelled and not know it yet
                answered.set_result(answer)

        def fail(fault: Exception) -> None:
            if not answered.done():
                answered.set_exception(fault)

        transfer = self.start(lease, take, fail)
        try:
            return await answered
        except asyncio.CancelledError:
            if transfer in self._under_way or transfer in self._unpermitted:
                self._give_up(transfer)
            raise

    def start(
        self,
        lease: Lease,
        take: Callable[[Answer], None],
        fail: Callable[[Exception], None],
    ) -> Transfer:
        """Do the same without a task. `take` gets the answer later, or `fail` gets an error of this
        process, such as out of memory. Neither may raise.
        """
        idle = self._idle[lease.gets_secrets and bool(self._network.certificate)]
        transfer = idle.pop() if idle else self._new_transfer(lease)
        self._begin(transfer, idle, lease, take, fail)
        return transfer

    def _begin(
        self,
        transfer: Transfer,
        idle: list[Transfer],
        lease: Lease,
        take: Callable[[Answer], None],
        fail: Callable[[Exception], None],
    ) -> None:
        """Send the request of a lease, or let it wait for a permit. A request that libcurl has
        begun and that is not permitted by the time it would be sent begins again later."""
        again = partial(self._begin, transfer, idle, lease, take, fail)
        if not self._permit.is_valid():
            self._wait_for_permit(transfer, again)
            return
        at_us, began_s = self._clock.wall_us(), self._clock.now_s()
        origin = origin_of(lease.url)
        idle_s = began_s - self._ended_s.get(origin, _LONG_AGO_S)
        cookies = ""
        if self.jar.changed and not (lease.gets_secrets and self._headers.has_cookies):
            cookies = self.jar.header_for(lease.url, at_us / 1e6)
        curl = transfer.begin(lease, cookies, may_repeat=idle_s < _NO_DELAY_S)
        self._under_way.add(transfer)

        def ended(code: int, message: str) -> None:
            ended_s = self._clock.now_s()
            if len(self._ended_s) > _ORIGINS:
                self._ended_s.clear()
            self._ended_s[origin] = ended_s
            self._under_way.discard(transfer)
            if transfer.is_unpermitted:
                transfer.end()
                self._wait_for_permit(transfer, again)
                return
            try:
                answer = self._answer(transfer, code, message, at_us, ended_s - began_s)
            except Exception as fault:  # noqa: BLE001  # the event loop would only log it
                fail(fault)
                return
            finally:
                transfer.end()
            idle.append(transfer)
            take(answer)

        transfer.began_s, transfer.on_end = began_s, ended
        if self._looking is None:
            self._look_later()
        try:
            self._multi.begin(curl, ended)
        except pycurl.error as fault:
            ended(fault.args[0], str(fault.args[1]))

    def _wait_for_permit(self, transfer: Transfer, begin: Callable[[], None]) -> None:
        self._unpermitted[transfer] = begin
        if self._asking is None:
            loop = asyncio.get_running_loop()
            self._asking = loop.call_later(_PERMIT_EVERY_S, self._ask_for_permit)

    def _ask_for_permit(self) -> None:
        """Begin the requests that wait, if they are permitted by now."""
        self._asking = None
        waiting, self._unpermitted = self._unpermitted, {}
        for begin in waiting.values():
            begin()  # it waits again, if there is no permit

    def cancel_all(self) -> None:
        """Cancel all requests in flight without a callback."""
        for transfer in (*self._under_way, *self._unpermitted):
            self._give_up(transfer)

    def end_slow(self, most: int) -> int:
        """End at most `most` of the slowest responses, because others wait for a connection. Return
        how many.
        """
        if self._held.is_full:
            return 0  # this process itself is slow
        now_s = self._clock.now_s()
        speeds = [
            (speed, number, transfer)
            for number, transfer in enumerate(self._under_way)
            if now_s - transfer.began_s >= _SLOW_S
            and (speed := transfer.speed(now_s)) < _SLOW_BYTES
        ]
        slowest = nsmallest(most, speeds)
        for speed, _, transfer in slowest:
            age_s = now_s - transfer.began_s
            detail = f"{speed:.0f} bytes/s for {age_s:.0f} s, and others waited for the connection"
            self._end_early(transfer, Reason.TIMEOUT, detail)
        return len(slowest)

    def _end_early(self, transfer: Transfer, reason: Reason, detail: str) -> None:
        transfer.failure = reason, detail
        self._multi.cancel(transfer.curl)
        assert transfer.on_end is not None, "it was begun"
        transfer.on_end(0, "")

    def _look(self) -> None:
        """End responses that send more bytes than allowed, even if they are not part of a body."""
        self._looking = None
        now_s = self._clock.now_s()
        for transfer in tuple(self._under_way):
            if now_s - transfer.began_s >= _LOOK_EVERY_S and transfer.excess() > 0:
                detail = f"{transfer.received_bytes} bytes received, most of them outside the body"
                self._end_early(transfer, Reason.PROTOCOL, detail)
        self._look_later()

    def _look_later(self) -> None:
        if self._looking is None and self._under_way:
            loop = asyncio.get_running_loop()
            self._looking = loop.call_later(_LOOK_EVERY_S, self._look)

    def _give_up(self, transfer: Transfer) -> None:
        self._under_way.discard(transfer)
        self._unpermitted.pop(transfer, None)
        self._multi.cancel(transfer.curl)
        transfer.curl.close()
        transfer.end()

    def _answer(
        self, transfer: Transfer, code: int, message: str, at_us: int, took_s: float
    ) -> Answer:
        url, intake = transfer.lease.url, transfer.intake
        status, cut = intake.status, "length" if intake.is_cut else ""
        if transfer.set_cookies:
            self.jar.take_headers(url, transfer.set_cookies, at_us / 1e6)
        if transfer.refusal is None:
            transfer.judge_last_type()
        if transfer.refusal is not None:
            reason, detail = transfer.refusal
            mime, named = transfer.listed if reason is Reason.LISTED else ("", 0)
            return Refused(url, reason, detail, at_us, took_s, status, mime, named)
        if transfer.failure is not None:
            reason, detail = transfer.failure
            return Failed(url, reason, detail, at_us, took_s, status, transfer.received_bytes)
        if code and not cut:
            reason, detail = reason_of(code, message, transfer.curl.getinfo(pycurl.OS_ERRNO))
            return Failed(url, reason, detail, at_us, took_s, status)
        if status < 200:
            detail = f"status {status} is not a valid response"
            return Failed(url, Reason.PROTOCOL, detail, at_us, took_s, status)
        number = transfer.curl.getinfo(pycurl.INFO_HTTP_VERSION)
        lease = transfer.lease
        request = self._headers.request_for(
            url,
            with_secrets=lease.gets_secrets,
            hidden_names=transfer.hidden_names,
            conditions=transfer.conditions,
        )
        head = self._head_to_keep(transfer) if transfer.set_cookies else intake.head
        protocol = _PROTOCOLS.get(number, "http/1.1")
        return Fetched(
            url, status, head, intake.taken(), request, lease.address, protocol, at_us, took_s, cut
        )

    def _head_to_keep(self, transfer: Transfer) -> bytes:
        """The head to archive. If the request was authenticated, the values of cookies are removed.

        A session that was opened with a password or a cookie is as secret as these.
        """
        lease, head = transfer.lease, transfer.intake.head
        is_personal = (
            (lease.gets_secrets and self._headers.has_secrets)
            or "Authorization" in transfer.hidden_names
            or self.jar.is_personal(lease.url)
        )
        return without_cookies(head) if is_personal else head

    def _new_transfer(self, lease: Lease) -> Transfer:
        network = self._network
        transfer = Transfer(
            self._settings, self._headers, self._judge, self._guard, self._held, network,
            self._permit,
        )  # fmt: skip
        if lease.gets_secrets and network.certificate:
            transfer.curl.setopt(pycurl.SSLCERT, network.certificate)
        return transfer

    async def aclose(self) -> None:
        self.cancel_all()
        for timer in (self._looking, self._asking):
            if timer is not None:
                timer.cancel()
        self._permit.close()
        await self._multi.aclose()
        for idle in self._idle.values():
            for transfer in idle:
                transfer.curl.close()
            idle.clear()
