"""Transfers of libcurl on an event loop, with few steps each.

libcurl says which sockets it wants to hear of and when it wants to be called, and is called when
one is ready or its time has come. The loop is told of one descriptor alone: an epoll set of our
own, which holds the sockets. So a socket that was ready costs one call of libcurl's and nothing
else, and all that are ready at once are served in one step of the loop.

A connection rests between two requests, and most of them are used again at once, so a socket stays
in the set when libcurl lets go of it. If something is heard of it in the meantime (its server hangs
up), it is taken out. That libcurl has closed it and its number is another's by now is no matter:
the system takes closed sockets out of the set, and each time that libcurl asks for one the
system is asked whether it is in there.

Where there is no epoll, pycurl's own `AsyncCurlMulti` does the same, with more steps: `multi_for`
chooses.
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
_TELLING_S: Final = 0.2
_CLOCK: Final = SystemClock()  # uvloop's own time stands still within a step
_EVENTS_AT_ONCE: Final = 64  # what is ready beyond that stays ready
_READABLE: Final[int] = getattr(select, "EPOLLIN", 0)
_WRITABLE: Final[int] = getattr(select, "EPOLLOUT", 0)
_IN: Final[int] = pycurl.CSELECT_IN
_OUT: Final[int] = pycurl.CSELECT_OUT
_EPOLL_OF: Final = {
    pycurl.POLL_IN: _READABLE,
    pycurl.POLL_OUT: _WRITABLE,
    pycurl.POLL_INOUT: _READABLE | _WRITABLE,
}


# What is told of a transfer that has ended: libcurl's number of a fault and its words; 0 for none.
Ended = Callable[[int, str], None]


class Multi(Protocol):
    """Many transfers at once."""

    def setopt(self, option: int, value: int) -> None: ...

    def begin(self, curl: pycurl.Curl, ended: Ended) -> None:
        """Begin a transfer; `ended` is called when it is over, and raises nothing."""

    def give_up(self, curl: pycurl.Curl) -> None:
        """Let go of one: nobody hears of its end."""

    async def aclose(self) -> None:
        """Give all up and close the connections."""


def multi_for(connections: int) -> Multi:
    """What carries transfers on this system, and keeps so many connections open."""
    multi: Multi = EpollMulti() if hasattr(select, "epoll") else PlainMulti()
    multi.setopt(pycurl.M_MAXCONNECTS, connections)
    return multi


class PlainMulti(pycurl.AsyncCurlMulti):  # type: ignore[misc]  # pycurl has no types
    """pycurl's own, where there is no epoll."""

    def begin(self, curl: pycurl.Curl, ended: Ended) -> None:
        self.add_handle(curl).add_done_callback(partial(_tell, ended))

    def give_up(self, curl: pycurl.Curl) -> None:
        self.remove_handle(curl)


def _tell(ended: Ended, future: asyncio.Future[pycurl.Curl]) -> None:
    if not future.cancelled():
        fault = future.exception()
        ended(*(fault.args[:2] if fault else (0, "")))


class EpollMulti:
    """Transfers on the loop on which the first of them begins."""

    def __init__(self) -> None:
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self.setopt = self._multi.setopt
        self._epoll = select.epoll()
        self._wanted: dict[int, int] = {}  # sockets that libcurl waits for; others rest
        self._under_way: dict[pycurl.Curl, Ended] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: deque[tuple[pycurl.Curl, int, str]] = deque()  # and nobody was told yet
        self._is_telling = False  # the others will be told of in the next turn of the loop
        self._is_kicked = False  # libcurl will be called in this turn of the loop or the next
        self._timer: asyncio.TimerHandle | None = None
        self._rings_s = _NEVER_S  # when that timer does
        self._due_s = 0.0  # of the loop's time: when libcurl wants to be called; 0: never

    def fileno(self) -> int:
        """What the loop watches: it is ready when one of the sockets is."""
        return self._epoll.fileno()

    def begin(self, curl: pycurl.Curl, ended: Ended) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self.fileno(), self._on_ready)
        self._under_way[curl] = ended
        try:
            self._multi.add_handle(curl)  # it asks to be called at once, by `_on_timer`
        except pycurl.error:
            del self._under_way[curl]
            raise

    def give_up(self, curl: pycurl.Curl) -> None:
        if self._under_way.pop(curl, None) is not None:
            self._multi.remove_handle(curl)

    async def aclose(self) -> None:
        for curl in list(self._under_way):
            self.give_up(curl)
        if self._timer is not None:
            self._timer.cancel()
        if self._loop is not None:
            self._loop.remove_reader(self.fileno())
        self._multi.close()
        self._epoll.close()

    # -- what libcurl calls

    def _on_socket(self, what: int, socket: int, _multi: object, _given: object) -> None:
        events = _EPOLL_OF.get(what)
        if events is None:  # it is let go, or paused
            self._wanted.pop(socket, None)
            return
        self._wanted[socket] = events
        try:
            self._epoll.modify(socket, events)
        except FileNotFoundError:
            self._epoll.register(socket, events)

    def _on_timer(self, wait_ms: int) -> None:
        """libcurl wants to be called after so long, and not when it wanted before."""
        loop = self._loop
        if loop is None or self._multi.closed:
            return
        if wait_ms == 0:
            self._due_s = 0.0
            if not self._is_kicked:
                self._is_kicked = True
                loop.call_soon(self._kick)
        elif wait_ms < 0:
            self._due_s = 0.0
        else:
            self._due_s = loop.time() + wait_ms / 1000
            if self._due_s < self._rings_s:  # else what is put off costs nothing until it rings
                self._set_timer(loop)

    # -- what the loop calls

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

    def _kick(self) -> None:
        self._is_kicked = False
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
        """Wake up when it is due."""
        if self._timer is not None:
            self._timer.cancel()
        self._rings_s = self._due_s
        self._timer = loop.call_at(self._due_s, self._ring)

    def _ring(self) -> None:
        self._timer, self._rings_s = None, _NEVER_S
        if self._loop is None or not self._due_s:
            return
        if self._loop.time() < self._due_s - 0.001:
            self._set_timer(self._loop)
        else:
            self._due_s = 0.0
            self._kick()

    # -- ends of transfers

    def _settle(self) -> None:
        """Tell those who wait for transfers that have ended; they may begin others, or close."""
        _, whole, failed = self._multi.info_read()
        self._ended.extend((curl, 0, "") for curl in whole)
        self._ended.extend(failed)
        if not self._is_telling:
            self._tell_some()

    def _tell_some(self) -> None:
        """Some tenths of a second may go into what is made of answers; then the loop has its turn,
        or an order to stop would wait for all that has come."""
        self._is_telling = False
        until_s = _CLOCK.now_s() + _TELLING_S
        while self._ended and not self._multi.closed:
            self._end(*self._ended.popleft())
            if self._ended and _CLOCK.now_s() > until_s and self._loop is not None:
                self._is_telling = True
                self._loop.call_soon(self._tell_some)
                return

    def _end(self, curl: pycurl.Curl, code: int, message: str) -> None:
        ended = self._under_way.pop(curl, None)
        if ended is not None:  # else one who was told before has given it up
            self._multi.remove_handle(curl)
            ended(code, message)

    def _fail_all(self, fault: pycurl.error) -> None:
        """libcurl itself is at a loss: nothing under way will end."""
        for curl in list(self._under_way):
            self._end(curl, fault.args[0], str(fault.args[1]))


def _bits_of(events: int) -> int:
    """What libcurl calls it. A fault or an end is found out by reading or writing."""
    return (_IN if events & ~_WRITABLE else 0) | (_OUT if events & _WRITABLE else 0)
