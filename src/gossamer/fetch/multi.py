"""Run libcurl transfers on an event loop, with few steps each.

libcurl says which sockets it waits for and when it wants to be called; it is called when one is
ready or the time has come. The event loop watches one descriptor only: our own epoll set, which
holds the sockets. So a ready socket costs one call of libcurl, and all sockets that are ready at
once are handled in one iteration of the loop.

Between two requests a connection is idle, and most are reused at once, so a socket stays in the set
when libcurl releases it. If an event arrives meanwhile (the server closes the connection), it is
removed. libcurl may have closed the socket, and its number may be reused: that is safe, because the
kernel removes closed sockets from the set, and each time libcurl asks for a socket the kernel is
asked whether it is in the set.

Without epoll, pycurl's own `AsyncCurlMulti` does the same in more steps. `multi_for` chooses.
"""

from __future__ import annotations

import asyncio
import select
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

import pycurl

from gossamer.base.clock import SystemClock

_NEVER_S: Final = float("inf")
_NOTIFY_S: Final = 0.2
_CLOCK: Final = SystemClock()  # the time of uvloop does not change within an iteration
_EVENTS_AT_ONCE: Final = 64  # further ready sockets stay ready
_READABLE: Final[int] = getattr(select, "EPOLLIN", 0)
_WRITABLE: Final[int] = getattr(select, "EPOLLOUT", 0)
_IN: Final[int] = pycurl.CSELECT_IN
_OUT: Final[int] = pycurl.CSELECT_OUT
_EPOLL_OF: Final = {
    pycurl.POLL_IN: _READABLE,
    pycurl.POLL_OUT: _WRITABLE,
    pycurl.POLL_INOUT: _READABLE | _WRITABLE,
}


# The result of an ended transfer: libcurl's error number (0 for none) and message.
TransferEnded = Callable[[int, str], None]


class Multi(Protocol):
    """Many transfers at once."""

    def setopt(self, option: int, value: int) -> None: ...

    def begin(self, curl: pycurl.Curl, ended: TransferEnded) -> None:
        """Begin a transfer. `ended` is called at its end, and must not raise."""

    def cancel(self, curl: pycurl.Curl) -> None:
        """Cancel a transfer without a callback."""

    async def aclose(self) -> None:
        """Cancel all transfers and close the connections."""


def multi_for(connections: int) -> Multi:
    """The implementation for this system, with that many open connections."""
    multi: Multi = EpollMulti() if hasattr(select, "epoll") else PlainMulti()
    multi.setopt(pycurl.M_MAXCONNECTS, connections)
    return multi


class PlainMulti(pycurl.AsyncCurlMulti):  # type: ignore[misc]  # pycurl has no types
    """pycurl's own implementation, for systems without epoll."""

    def begin(self, curl: pycurl.Curl, ended: TransferEnded) -> None:
        self.add_handle(curl).add_done_callback(partial(_notify, ended))

    def cancel(self, curl: pycurl.Curl) -> None:
        self.remove_handle(curl)


def _notify(ended: TransferEnded, future: asyncio.Future[pycurl.Curl]) -> None:
    if not future.cancelled():
        fault = future.exception()
        ended(*(fault.args[:2] if fault else (0, "")))


class EpollMulti:
    """Transfers on the event loop that runs when the first of them begins."""

    def __init__(self) -> None:
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self.setopt = self._multi.setopt
        self._epoll = select.epoll()
        self._wanted: dict[int, int] = {}  # sockets that libcurl waits for; others are idle
        self._under_way: dict[pycurl.Curl, TransferEnded] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: deque[tuple[pycurl.Curl, int, str]] = deque()  # callbacks not called yet
        self._is_notifying = False  # the remaining callbacks run in the next iteration of the loop
        self._is_scheduled = False  # libcurl is called in this iteration of the loop or the next
        self._timer: asyncio.TimerHandle | None = None
        self._alarm_s = _NEVER_S  # when that timer fires
        self._due_s = 0.0  # loop time at which libcurl wants to be called; 0: never

    def fileno(self) -> int:
        """The descriptor that the loop watches. It is ready when one of the sockets is."""
        return self._epoll.fileno()

    def begin(self, curl: pycurl.Curl, ended: TransferEnded) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self.fileno(), self._on_ready)
        self._under_way[curl] = ended
        try:
            self._multi.add_handle(curl)  # it asks to be called at once, through `_on_timer`
        except pycurl.error:
            del self._under_way[curl]
            raise

    def cancel(self, curl: pycurl.Curl) -> None:
        if self._under_way.pop(curl, None) is not None:
            self._multi.remove_handle(curl)

    async def aclose(self) -> None:
        for curl in list(self._under_way):
            self.cancel(curl)
        if self._timer is not None:
            self._timer.cancel()
        if self._loop is not None:
            self._loop.remove_reader(self.fileno())
        self._multi.close()
        self._epoll.close()

    # -- called by libcurl

    def _on_socket(self, what: int, socket: int, _multi: object, _given: object) -> None:
        events = _EPOLL_OF.get(what)
        if events is None:  # released or paused
            self._wanted.pop(socket, None)
            return
        self._wanted[socket] = events
        try:
            self._epoll.modify(socket, events)
        except FileNotFoundError:
            self._epoll.register(socket, events)

    def _on_timer(self, wait_ms: int) -> None:
        """Set the time at which libcurl wants to be called, instead of the time before."""
        loop = self._loop
        if loop is None or self._multi.closed:
            return
        if wait_ms == 0:
            self._due_s = 0.0
            if not self._is_scheduled:
                self._is_scheduled = True
                loop.call_soon(self._call_due)
        elif wait_ms < 0:
            self._due_s = 0.0
        else:
            self._due_s = loop.time() + wait_ms / 1000
            # else the timer stays, and a later time costs nothing until it fires
            if self._due_s < self._alarm_s:
                self._set_timer(loop)

    # -- called by the event loop

    def _on_ready(self) -> None:
        alive, wanted = len(self._under_way), self._wanted
        act = self._multi.socket_action
        try:
            for socket, events in self._epoll.poll(0, _EVENTS_AT_ONCE):
                if socket in wanted:
                    _, alive = act(socket, _IN if events == _READABLE else _bits_of(events))
                else:
                    self._epoll.unregister(socket)
        except pycurl.error as fault:
            self._fail_all(fault)
        if alive < len(self._under_way):
            self._settle()

    def _call_due(self) -> None:
        self._is_scheduled = False
        if self._multi.closed:
            return
        try:
            _, alive = self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        except pycurl.error as fault:
            self._fail_all(fault)
            return
        if alive < len(self._under_way):
            self._settle()

    def _set_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set the timer for the due time."""
        if self._timer is not None:
            self._timer.cancel()
        self._alarm_s = self._due_s
        self._timer = loop.call_at(self._due_s, self._on_alarm)

    def _on_alarm(self) -> None:
        self._timer, self._alarm_s = None, _NEVER_S
        if self._loop is None or not self._due_s:
            return
        if self._loop.time() < self._due_s - 0.001:
            self._set_timer(self._loop)
        else:
            self._due_s = 0.0
            self._call_due()

    # -- ends of transfers

    def _settle(self) -> None:
        """Call the callbacks of ended transfers. They may begin others, or close."""
        _, whole, failed = self._multi.info_read()
        self._ended.extend((curl, 0, "") for curl in whole)
        self._ended.extend(failed)
        if not self._is_notifying:
            self._notify_some()

    def _notify_some(self) -> None:
        """Call callbacks for some tenths of a second, then return to the loop. Otherwise a stop
        command would wait for all responses that have arrived.
        """
        self._is_notifying = False
        until_s = _CLOCK.now_s() + _NOTIFY_S
        while self._ended and not self._multi.closed:
            self._end(*self._ended.popleft())
            if self._ended and _CLOCK.now_s() > until_s and self._loop is not None:
                self._is_notifying = True
                self._loop.call_soon(self._notify_some)
                return

    def _end(self, curl: pycurl.Curl, code: int, message: str) -> None:
        ended = self._under_way.pop(curl, None)
        if ended is not None:  # else an earlier callback has cancelled it
            self._multi.remove_handle(curl)
            ended(code, message)

    def _fail_all(self, fault: pycurl.error) -> None:
        """Fail all transfers: libcurl itself has failed, so none would end."""
        for curl in list(self._under_way):
            self._end(curl, fault.args[0], str(fault.args[1]))


def _bits_of(events: int) -> int:
    """libcurl's name for the events. It finds errors and ends by reading or writing."""
    return (_IN if events & ~_WRITABLE else 0) | (_OUT if events & _WRITABLE else 0)
