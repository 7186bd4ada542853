"""A worker process, and our end of the socket on which it receives and sends (`wire.py`).

A worker is a program of its own, started by name: it shares nothing with this process. That takes a
third of a second of CPU, most of it for loading modules that this process has loaded already. So a
process that is about to crawl and has opened nothing yet can fork its workers ahead (`fork_ahead`),
and those are taken first. `docs/adr/0014-child-processes.md` compares the ways to start a worker.
"""

from __future__ import annotations

import gc
import importlib
import socket
import sys
import threading
from collections.abc import Sequence
from functools import partial

from gossamer.base.processes import Child, end, fork, socket_pair, start
from gossamer.errors import StoreError

Spawned = tuple[Child, socket.socket]

_ahead: list[Spawned] = []


def spawn_worker() -> Spawned:
    """Start a worker process, and return it with our end of its socket. Raises StoreError."""
    if _ahead:
        return _ahead.pop()
    ours, theirs = socket_pair()
    with theirs:
        try:
            process = start("gossamer.workers.worker_main", str(theirs.fileno()), inherit=[theirs])
        except OSError as error:
            ours.close()
            raise StoreError(
                f"cannot start a worker process ({error.strerror}); use --workers 0"
            ) from error
    return process, ours


def fork_ahead(count: int, loads: Sequence[str] = ()) -> None:
    """Fork workers for the crawl that is about to begin. Call `end_unused` for unused ones.

    `loads` are modules that all of them will need, loaded once. Only for a process that has opened
    nothing yet and has no threads: in others this does nothing.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return
    if count:
        for name in loads:
            importlib.import_module(name)
    gc.freeze()  # a collection would write to the shared pages, and so copy them
    for _ in range(count):
        ours, theirs = socket_pair()
        not_theirs = [ours, *(other for _, other in _ahead)]
        try:
            process = fork(partial(_run_worker, theirs), not_theirs)
        except OSError:  # too many processes: `spawn_worker` reports it if that is still true
            ours.close()
            theirs.close()
            return
        theirs.close()
        _ahead.append((process, ours))


def end_unused() -> None:
    """End the forked workers that were not used."""
    while _ahead:
        process, ours = _ahead.pop()
        ours.close()
        end(process)


def _run_worker(theirs: socket.socket) -> None:
    import uvloop

    from gossamer.workers.worker_main import main

    main(theirs.detach(), uvloop.new_event_loop)
