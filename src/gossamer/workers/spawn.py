"""A worker process, and our end of the socket on which it hears and speaks (`wire.py`).

A worker is a program of its own, started by name: whatever this process has open or under way, a
worker knows nothing of it. To start so takes a quarter of a second of CPU, most of it for loading
what this process has loaded already. So whoever is about to crawl and has opened nothing yet can
fork a few workers ahead of time (`fork_ahead`), and those are taken first.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Final, Protocol

from gossamer.errors import StoreError

_LOOK_EVERY_S: Final = 0.01  # where the system does not tell


class Process(Protocol):
    """What a crew asks of a worker's process."""

    @property
    def pid(self) -> int: ...
    def kill(self) -> None: ...
    def wait(self, timeout: float | None = None) -> int: ...


Worker = tuple[Process, socket.socket]

_ahead: list[Worker] = []


class Forked:
    """A process that was forked here, in the manner of `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._code: int | None = None

    @property
    def pid(self) -> int:
        return self._pid

    def kill(self) -> None:
        if self._code is None:  # one that is reaped may have left its number to another
            os.kill(self._pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        if self._code is None and timeout is not None:
            self._await(timeout)
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._code

    def _await(self, timeout: float) -> None:
        ends_s = time.monotonic() + timeout
        _wait_for_end(self._pid, timeout)
        while True:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
                return
            if time.monotonic() >= ends_s:
                raise subprocess.TimeoutExpired("a worker", timeout)
            time.sleep(_LOOK_EVERY_S)


def _wait_for_end(pid: int, timeout: float) -> None:
    """Return when the process ends or the time is over; at once where the system cannot tell."""
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):  # only Linux has it, and not every one
        return
    try:
        watch = select.poll()
        watch.register(handle, select.POLLIN)
        watch.poll(timeout * 1000)
    finally:
        os.close(handle)


def spawn_worker() -> Worker:
    """A worker process, and our end of its socket. Raises StoreError."""
    if _ahead:
        return _ahead.pop()
    ours, theirs = _sockets()
    with theirs:
        try:
            process = subprocess.Popen(  # noqa: S603  # our own module, by our own interpreter
                # -P: nothing is loaded from the folder that somebody happens to crawl in.
                [sys.executable, "-P", "-m", "gossamer.workers.worker_main", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        except OSError as error:
            ours.close()
            raise StoreError(
                f"no worker process can be started ({error.strerror}); crawl with --workers 0"
            ) from error
    return process, ours


def fork_ahead(count: int, loads: Sequence[str] = ()) -> None:
    """Fork workers for the crawl that is about to begin; `dismiss` is owed for those left over.

    `loads` are modules that all of them will need, loaded once. For a process that has opened
    nothing yet, and has no threads: elsewhere this does nothing.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return
    if count:
        for name in loads:
            importlib.import_module(name)
    gc.freeze()  # what is loaded by now stays shared
    for _ in range(count):
        ours, theirs = _sockets()
        try:
            pid = os.fork()
        except OSError:  # too many processes: `spawn_worker` will say so, if it is still true
            ours.close()
            theirs.close()
            return
        if not pid:
            _be_worker(ours, theirs)
        theirs.close()
        _ahead.append((Forked(pid), ours))


def dismiss() -> None:
    """Let those go that were forked ahead and not taken."""
    while _ahead:
        process, ours = _ahead.pop()
        ours.close()
        process.kill()
        process.wait()


def _sockets() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    return ours, theirs


def _be_worker(ours: socket.socket, theirs: socket.socket) -> None:
    """The rest of a forked worker's life. It never returns: the stack above is the node's."""
    code = 1
    try:
        ours.close()
        for _, other in _ahead:
            other.close()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        import uvloop

        from gossamer.workers.worker_main import main

        main(theirs.detach(), uvloop.new_event_loop)
        code = 0
    finally:
        os._exit(code)
