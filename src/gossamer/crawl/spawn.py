"""A worker process, and our end of the socket on which it hears and speaks (`wire.py`)."""

from __future__ import annotations

import socket
import subprocess
import sys

from gossamer.errors import StoreError


def spawn_worker() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """A new worker process, and our end of its socket. Raises StoreError."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs:
        try:
            process = subprocess.Popen(  # noqa: S603  # our own module, by our own interpreter
                [sys.executable, "-m", "gossamer.crawl.worker_main", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        except OSError as error:
            ours.close()
            raise StoreError(
                f"no worker process can be started ({error.strerror}); crawl with --workers 0"
            ) from error
    return process, ours
