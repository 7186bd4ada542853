"""A process that searches for the server (`searchers.py`).

Started as `python -m gossamer.search.search_process DESCRIPTOR`. It answers one question after the
other on its socket, keeps the last few collections open, and ends when the server closes its end.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
import socket
import sys
import traceback
from collections import OrderedDict
from typing import Final

from gossamer.errors import GossamerError
from gossamer.search.channel import receive, send
from gossamer.search.copies.results import Copies, CopiesRequest
from gossamer.search.engine import Engine
from gossamer.search.messages import JSON, PICKLE, FailedSearch, SearchedCollection, SearchQuestion
from gossamer.search.results import Request, Results, as_json

_KEPT_OPEN: Final = 4  # collections


def work(server: socket.socket) -> None:
    """The main loop of the process, until the other end of its channel is closed."""
    # a Ctrl-C is for the server, which ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    engines: OrderedDict[SearchedCollection, Engine] = OrderedDict()
    with contextlib.suppress(OSError, EOFError):
        while True:
            question: SearchQuestion = pickle.loads(receive(server)[1])  # noqa: S301  # from the server
            answer = _answered(engines, question)
            request = question.request
            if question.as_json and isinstance(answer, Results) and isinstance(request, Request):
                send(server, JSON, as_json(answer, request))
            else:
                send(server, PICKLE, pickle.dumps(answer))


def _answered(
    engines: OrderedDict[SearchedCollection, Engine], question: SearchQuestion
) -> Results | Copies | GossamerError | FailedSearch:
    _let_go(engines)
    where, request = question.where, question.request
    engine = engines.pop(where, None)
    try:
        engine = engine or Engine(where.path)
        found = _found(engine, request)
    except GossamerError as error:
        if engine is not None:
            engines[where] = engine
        return error
    except Exception:  # noqa: BLE001  # sent to the caller; the process continues
        return FailedSearch(traceback.format_exc())
    engines[where] = engine  # the most recently used is last
    if len(engines) > _KEPT_OPEN:
        engines.popitem(last=False)
    return found


def _found(engine: Engine, request: Request | CopiesRequest) -> Results | Copies:
    if isinstance(request, CopiesRequest):
        return engine.copies(request)
    return engine.search(request)


def _let_go(engines: OrderedDict[SearchedCollection, Engine]) -> None:
    """Close collections that were deleted: open files still take disk space."""
    for gone in [one for one in engines if not (one.path / "index").exists()]:
        del engines[gone]


def main(descriptor: int) -> None:
    """The entry point of the process."""
    with socket.socket(fileno=descriptor) as server:
        server.setblocking(True)
        work(server)


if __name__ == "__main__":
    main(int(sys.argv[1]))
