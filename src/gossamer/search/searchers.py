"""Searches in processes of their own, so that clients do not wait for each other.

Python runs one thread at a time, and half of a search is Python's: eight clients of one process
wait for seven others. Each process here opens the collections that it is asked about, and keeps
the last few open; a search goes to one that has nothing to do, or waits for it.

A process that dies in the middle of a search is replaced, and the search is done once more by the
new one; one that does not answer within half a minute is ended.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import signal
from collections import OrderedDict
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from gossamer.errors import GossamerError, StoreError
from gossamer.search.engine import Engine
from gossamer.search.results import Request, Results

MOST: Final = 8  # processes, at about 70 MB each
_LONGEST_S: Final = 30.0
_END_S: Final = 2.0
_KEPT_OPEN: Final = 4  # collections by each process
_ATTEMPTS: Final = 2


@dataclass(frozen=True, slots=True)
class Shelved:
    """A collection; `stamp` tells it from another that was made in its place."""

    path: Path
    stamp: tuple[int, ...] = ()


class Searchers:
    """Some processes that search. Any number of threads may ask."""

    def __init__(self, count: int) -> None:
        """Starts them, and does not wait until they are ready."""
        self._idle: queue.SimpleQueue[_Searcher] = queue.SimpleQueue()
        self._all: list[_Searcher] = []
        self._is_closed = False
        for _ in range(min(count, MOST)):
            self._idle.put(self._hire())

    def search(self, where: Shelved, request: Request) -> Results:
        """What `Engine.search` answers. Raises what it raises, and StoreError when none does."""
        searcher = self._idle.get()
        try:
            for _ in range(_ATTEMPTS):
                try:
                    return searcher.ask(where, request)
                except _Died:
                    searcher.end()
                    self._all.remove(searcher)
                    searcher = self._hire()
        finally:
            self._idle.put(searcher)
        raise StoreError(
            "the search did not come to an end; ask for less, or see `gossamer doctor`"
        )

    def close(self) -> None:
        """End all of them."""
        self._is_closed = True
        for searcher in self._all:
            searcher.end()

    def _hire(self) -> _Searcher:
        if self._is_closed:
            raise StoreError("the server is ending")
        searcher = _Searcher()
        self._all.append(searcher)
        return searcher


class _Died(Exception):
    """The process is gone, or does not answer."""


class _Searcher:
    """One process and our end of its pipe."""

    def __init__(self) -> None:
        # Started by name, not forked: a fork of a process with threads may hang.
        context = multiprocessing.get_context("spawn")
        self._pipe, its_pipe = context.Pipe()
        self._process: BaseProcess = context.Process(target=work, args=(its_pipe,), daemon=True)
        self._process.start()
        its_pipe.close()  # so that its end is told when it dies

    def ask(self, where: Shelved, request: Request) -> Results:
        try:
            self._pipe.send((where, request))
            if not self._pipe.poll(_LONGEST_S):
                raise _Died
            answer: Results | GossamerError = self._pipe.recv()
        except (OSError, EOFError) as gone:
            raise _Died from gone
        if isinstance(answer, GossamerError):
            raise answer
        return answer

    def end(self) -> None:
        self._pipe.close()
        self._process.kill()  # it holds nothing that could be lost
        self._process.join(_END_S)


def work(pipe: Connection) -> None:
    """What a process does until the other end of its pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the server, which ends us
    engines: OrderedDict[Shelved, Engine] = OrderedDict()
    with contextlib.suppress(OSError, EOFError):
        while True:
            where, request = pipe.recv()
            pipe.send(_answered(engines, where, request))


def _answered(
    engines: OrderedDict[Shelved, Engine], where: Shelved, request: Request
) -> Results | GossamerError:
    try:
        engine = engines.pop(where, None) or Engine(where.path)
        engines[where] = engine  # behind all that were asked before it
        if len(engines) > _KEPT_OPEN:
            engines.popitem(last=False)
        return engine.search(request)
    except GossamerError as error:
        return error
