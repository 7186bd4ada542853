"""Searches in processes of their own, so that clients do not wait for each other.

Python runs one thread at a time, and half of a search is Python's: eight clients of one process
wait for seven others. Each process here opens the collections that it is asked about, and keeps
the last few open; a search goes to one that has nothing to do, or waits for it.

A process that dies in the middle of a search is replaced, and the search is done once more by the
new one. One that does not answer within half a minute is replaced, too, but the search is not done
again: it would take as long. A search that fails leaves its process as it is.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import signal
import threading
import traceback
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


class NoAnswer(StoreError):
    """Nothing is wrong with the question, but no process has answered it."""


class Searchers:
    """Some processes that search. Any number of threads may ask.

    Invariant: whoever takes a searcher from `_idle` puts one back, alive or not; one that is dead
    is replaced by whoever finds it so.
    """

    def __init__(self, count: int) -> None:
        """Starts them, and does not wait until they are ready."""
        self._idle: queue.SimpleQueue[_Searcher] = queue.SimpleQueue()
        self._all: list[_Searcher] = []
        self._changing = threading.Lock()
        self._is_closed = False
        for _ in range(min(count, MOST)):
            self._all.append(_Searcher())
            self._idle.put(self._all[-1])

    def search(self, where: Shelved, request: Request) -> Results:
        """What `Engine.search` answers. Raises what it raises, and NoAnswer when none does."""
        try:
            searcher = self._idle.get(timeout=_LONGEST_S)
        except queue.Empty:
            raise NoAnswer("too many searches are waiting; try again in a moment") from None
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
        raise NoAnswer("the search did not come to an end; ask for less, or see `gossamer doctor`")

    def close(self) -> None:
        """End all of them; searches under way are told that the server is ending."""
        with self._changing:
            self._is_closed = True
            for searcher in self._all:
                searcher.end()

    def _replaced(self, searcher: _Searcher) -> _Searcher:
        """A new one in the place of one that is of no use. Raises NoAnswer."""
        searcher.end()
        with self._changing:
            if self._is_closed:
                raise NoAnswer("the server is ending")
            try:
                new = _Searcher()
            except OSError as fault:  # of memory, handles or processes there are no more
                raise NoAnswer(f"no process can be started to search: {fault.strerror}") from fault
            self._all[self._all.index(searcher)] = new
        return new


class _Died(Exception):
    """The process is gone."""


class _Late(Exception):
    """The process is there, but takes longer than anybody waits."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """The search failed as no search should: a bug of ours, which the terminal is told of."""

    trace: str


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
        """Its answer. Raises what it raised, _Died and _Late."""
        try:
            self._pipe.send((where, request))
            if not self._pipe.poll(_LONGEST_S):
                raise _Late
            answer: Results | GossamerError | _Failed = self._pipe.recv()
        except (OSError, EOFError) as gone:
            raise _Died from gone
        if isinstance(answer, GossamerError):
            raise answer
        if isinstance(answer, _Failed):
            raise RuntimeError(f"a search failed in its process:\n{answer.trace}")
        return answer

    def end(self) -> None:
        """Twice is as good as once."""
        self._process.kill()  # it holds nothing that could be lost
        self._process.join(_END_S)
        self._pipe.close()  # not before: whoever waits at it is told that the process is gone


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
) -> Results | GossamerError | _Failed:
    _let_go(engines)
    engine = engines.pop(where, None)
    try:
        engine = engine or Engine(where.path)
        found = engine.search(request)
    except GossamerError as error:
        if engine is not None:
            engines[where] = engine
        return error
    except Exception:  # noqa: BLE001  # told to whoever asked; the process searches on
        return _Failed(traceback.format_exc())
    engines[where] = engine  # behind all that were asked before it
    if len(engines) > _KEPT_OPEN:
        engines.popitem(last=False)
    return found


def _let_go(engines: OrderedDict[Shelved, Engine]) -> None:
    """Close collections that were cleared: what is open takes its room on the disk still."""
    for gone in [one for one in engines if not (one.path / "index").exists()]:
        del engines[gone]
