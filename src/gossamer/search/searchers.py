"""Search in separate processes, so that clients do not wait for each other.

Python runs one thread at a time, and half of a search is Python code: eight clients of one process
wait for seven others. Each process here opens the collections it needs, and keeps the last few
open. A search goes to an idle process, or waits for one. Of several idle processes the one that
worked last is used, because its data is still in the CPU cache.

A thread may wait for an answer, and so may a task of an event loop, which costs less than a thread.
A task gets the answer as JSON bytes, made in the search process.

A process that dies during a search is replaced, and the new one repeats the search. One that does
not answer within half a minute is replaced, too, but the search is not repeated: it would take as
long. A search that fails does not affect its process.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from gossamer.base.processes import StillRunning, start
from gossamer.errors import GossamerError, StoreError
from gossamer.search.channel import pair
from gossamer.search.copies.results import Copies, CopiesRequest
from gossamer.search.messages import JSON, FailedSearch, SearchedCollection, SearchQuestion
from gossamer.search.results import Request, Results

MOST: Final = 8  # processes, about 70 MB each
_LONGEST_S: Final = 30.0
_END_S: Final = 2.0
_ATTEMPTS: Final = 2


class NoAnswer(StoreError):
    """The question is valid, but no process has answered it."""


@dataclass(slots=True)
class _Idle:
    """Idle searchers, and the callers that wait for one, first come first served."""

    _free: list[_Searcher] = field(default_factory=list)
    _waiting: deque[Future[_Searcher]] = field(default_factory=deque)
    _changing: threading.Lock = field(default_factory=threading.Lock)
    _is_closed: bool = False

    def take(self) -> Future[_Searcher]:
        """A searcher as soon as there is one. A caller that stops waiting calls `leave`."""
        taken: Future[_Searcher] = Future()
        with self._changing:
            if self._free:
                taken.set_result(self._free.pop())
            elif self._is_closed:
                taken.set_exception(_is_ending())
            else:
                self._waiting.append(taken)
        return taken

    def leave(self, taken: Future[_Searcher]) -> None:
        """Stop waiting; a searcher that arrived at this moment goes to the next caller."""
        if not taken.cancel():
            self.put(taken.result())

    def put(self, searcher: _Searcher) -> None:
        with self._changing:
            while self._waiting:
                first = self._waiting.popleft()
                if first.set_running_or_notify_cancel():
                    first.set_result(searcher)
                    return
            if self._is_closed:
                searcher.end()
            else:
                self._free.append(searcher)

    def close(self) -> None:
        """End idle searchers now, and all others when they are put back."""
        with self._changing:
            self._is_closed = True
            free, self._free = self._free, []
        for searcher in free:
            searcher.end()
            if searcher.successor is not None:  # made for a task that was cancelled meanwhile
                searcher.successor.end()


class Searchers:
    """Some search processes. Any number of threads and tasks may use them.

    Invariant: a caller that takes a searcher from `_idle` puts one back, alive or not; a dead one
    is replaced by the caller that notices it.
    """

    def __init__(self, count: int) -> None:
        """Starts them, and does not wait until they are ready."""
        self._idle = _Idle()
        self._all: list[_Searcher] = []
        self._changing = threading.Lock()
        self._is_closed = False
        for _ in range(min(count, MOST)):
            self._all.append(_Searcher())
            self._idle.put(self._all[-1])

    def search(self, where: SearchedCollection, request: Request) -> Results:
        """The result of `Engine.search`. Raises its errors, and NoAnswer if no process answers."""
        found = self._asked(where, request)
        assert isinstance(found, Results), "it answers what it is asked"
        return found

    def copies(self, where: SearchedCollection, request: CopiesRequest) -> Copies:
        """The result of `Engine.copies`. Raises the same."""
        found = self._asked(where, request)
        assert isinstance(found, Copies), "it answers what it is asked"
        return found

    def _asked(
        self, where: SearchedCollection, request: Request | CopiesRequest
    ) -> Results | Copies:
        taken = self._idle.take()
        try:
            searcher = taken.result(_LONGEST_S)
        except TimeoutError:
            self._idle.leave(taken)
            raise _too_many() from None
        try:
            for _ in range(_ATTEMPTS):
                try:
                    return searcher.ask(where, request)
                except _Died:
                    searcher = self._replaced(searcher)
                except _Late:
                    searcher = self._replaced(searcher)
                    break
        finally:
            self._idle.put(searcher)
        raise _no_end()

    async def search_as_json(self, where: SearchedCollection, request: Request) -> bytes:
        """The same in JSON (`results.as_json`), for tasks of an event loop with readers."""
        searcher = await self._taken()
        try:
            for _ in range(_ATTEMPTS):
                try:
                    return await searcher.ask_for_json(where, request)
                except _Died:
                    searcher = await asyncio.to_thread(self._replaced, searcher)
                except _Late:
                    searcher = await asyncio.to_thread(self._replaced, searcher)
                    break
        finally:
            self._idle.put(searcher)
        raise _no_end()

    async def _taken(self) -> _Searcher:
        """An idle searcher, in turn. Raises NoAnswer."""
        taken = self._idle.take()
        if taken.done():
            return taken.result()
        try:
            async with asyncio.timeout(_LONGEST_S):
                return await asyncio.wrap_future(taken)
        except TimeoutError:
            self._idle.leave(taken)
            raise _too_many() from None
        except asyncio.CancelledError:
            self._idle.leave(taken)
            raise

    def close(self) -> None:
        """End all of them. Searches in flight fail because the server is shutting down."""
        with self._changing:
            self._is_closed = True
            for searcher in self._all:
                searcher.kill()
        self._idle.close()

    def _replaced(self, searcher: _Searcher) -> _Searcher:
        """A new searcher in place of an unusable one. Raises NoAnswer.

        A task may be cancelled while a thread does this for it, and then puts back the old one: the
        next caller that takes it gets the replacement.
        """
        with self._changing:
            if searcher.successor is not None:
                return searcher.successor
            searcher.end()
            if self._is_closed:
                raise _is_ending()
            try:
                new = _Searcher()
            except OSError as fault:  # no more memory, handles or processes
                raise NoAnswer(f"cannot start a search process: {fault.strerror}") from fault
            self._all[self._all.index(searcher)] = searcher.successor = new
        return new


def _too_many() -> NoAnswer:
    return NoAnswer("too many searches are waiting; try again later")


def _is_ending() -> NoAnswer:
    return NoAnswer("the server is shutting down")


def _no_end() -> NoAnswer:
    return NoAnswer("the search timed out; simplify the query, or run `gossamer doctor`")


class _Died(Exception):
    """The process is gone."""


class _Late(Exception):
    """The process runs, but takes too long."""


class _Searcher:
    """One process and our end of its channel."""

    def __init__(self) -> None:
        self.successor: _Searcher | None = None
        self._is_spent = False
        self._channel, its_end = pair()
        with its_end:  # closed here, so that we notice when the process dies
            try:
                self._process = start(
                    "gossamer.search.search_process", str(its_end.fileno()), inherit=[its_end]
                )
            except BaseException:
                self._channel.close()
                raise

    def ask(self, where: SearchedCollection, request: Request | CopiesRequest) -> Results | Copies:
        """Its answer. Raises its error, _Died and _Late."""
        question = self._question(where, request, as_json=False)
        try:
            _, answer = self._channel.exchange(question, _LONGEST_S)
        except TimeoutError:
            self._is_spent = True
            raise _Late from None
        except (OSError, EOFError) as gone:
            self._is_spent = True
            raise _Died from gone
        return _checked(pickle.loads(answer))  # noqa: S301  # from our own process

    async def ask_for_json(self, where: SearchedCollection, request: Request) -> bytes:
        """The same; after a cancelled wait the process is unusable."""
        question = self._question(where, request, as_json=True)
        try:
            kind, answer = await self._channel.exchange_async(question, _LONGEST_S)
        except TimeoutError:
            self._is_spent = True
            raise _Late from None
        except (OSError, EOFError) as gone:
            self._is_spent = True
            raise _Died from gone
        except asyncio.CancelledError:
            self._is_spent = True  # else the next caller would get this answer
            raise
        if kind == JSON:
            return answer
        _checked(pickle.loads(answer))  # noqa: S301  # from our own process
        raise RuntimeError("a search has answered what was not asked")

    def _question(
        self, where: SearchedCollection, request: Request | CopiesRequest, *, as_json: bool
    ) -> bytes:
        if self._is_spent:
            raise _Died
        return pickle.dumps(SearchQuestion(where, request, as_json))

    def kill(self) -> None:
        """Kill the process. Any thread may call this: the process holds nothing that could be lost.
        A caller that waits for its answer gets _Died.
        """
        self._process.kill()
        with contextlib.suppress(StillRunning):  # a hanging disk can delay its end
            self._process.wait(_END_S)

    def end(self) -> None:
        """Only for the caller that has taken it: a handle that another reads from might be reused
        for a new file.
        """
        self._is_spent = True
        self.kill()
        self._channel.close()


def _checked(answer: Results | Copies | GossamerError | FailedSearch) -> Results | Copies:
    """The answer. Raises the error of the search."""
    if isinstance(answer, GossamerError):
        raise answer
    if isinstance(answer, FailedSearch):
        raise RuntimeError(f"a search failed in its process:\n{answer.trace}")
    return answer
