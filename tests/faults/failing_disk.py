"""A disk that fails on demand: at the Nth write to a folder, whoever writes, in whatever process.

    fault = Fault(kinds={"write"}, number=7, error=errno.EIO)
    ended, acts = with_faults(fault, folder, "crawl", "-c", folder, site.url())

Every call that writes to a file in the folder, syncs one or makes a name there is counted, over all
processes and threads together, and one of them is answered with an error that never reached the
disk. Nothing of the program is replaced. RocksDB's LOG, in which it talks about itself, and
the lock are left out: nothing depends on what is in them.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from faults import confine
from support.killing import Ended
from support.need import need_linux

WAIT_S: Final = 120.0
_RECEIVE, _ANSWER = 0xC0502100, 0xC0182101  # ioctls of a listener
_REQUEST: Final = struct.Struct("QIIiIQ6Q")
_REPLY: Final = struct.Struct("QqiI")
_GO_ON: Final = 1
_PIDFD_GETFD: Final = 438
_PATH_CHARS: Final = 4096

KINDS: Final = {
    "write": "write", "pwrite64": "write", "writev": "write", "pwritev": "write",
    "pwritev2": "write", "fallocate": "room", "fsync": "sync", "fdatasync": "sync",
    "openat": "name", "mkdir": "name", "mkdirat": "name",
    "rename": "rename", "renameat": "rename", "renameat2": "rename",
    "unlink": "remove", "unlinkat": "remove", "ftruncate": "remove",
}  # fmt: skip
_PATH_AT: Final = {
    "openat": 1, "mkdir": 0, "mkdirat": 1, "rename": 1, "renameat": 3, "renameat2": 3,
    "unlink": 0, "unlinkat": 1,
}  # fmt: skip
_FOLDER_AT: Final = {"openat": 0, "mkdirat": 0, "renameat": 2, "renameat2": 2, "unlinkat": 0}
_TAKES_ROOM: Final = frozenset({"write", "room", "name"})
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_TRUNC  # flags of an open that need a disk to write
_TALK: Final = re.compile(r"/state(\.new)?/LOG|/run/lock")


@dataclass(frozen=True, slots=True)
class Fault:
    """At the `number`th act of these kinds (from 1) there is this error.

    A full disk stays full, and takes half of the write that finds it full; one that is read-only
    stays so, and nothing can be deleted there either. Any other error comes once, and whoever tries
    again succeeds.
    """

    kinds: AbstractSet[str]
    number: int
    error: int

    @property
    def is_full(self) -> bool:
        return self.error == errno.ENOSPC

    @property
    def is_read_only(self) -> bool:
        return self.error == errno.EROFS

    def __str__(self) -> str:
        return f"{errno.errorcode[self.error]} at {'/'.join(sorted(self.kinds))} {self.number}"


@dataclass(frozen=True, slots=True)
class Act:
    """One call that was counted."""

    call: str
    path: str
    is_failed: bool

    @property
    def kind(self) -> str:
        return KINDS[self.call]


@dataclass(frozen=True, slots=True)
class _Request:
    """A call that waits for its answer."""

    id: int
    thread: int
    call: str
    arguments: tuple[int, ...]


@dataclass
class FailingDisk:
    """Answers for a folder until the last confined process has ended."""

    folder: Path
    fault: Fault
    actions: list[Act] = field(default_factory=list)
    _seen: int = 0

    def serve(self, listener: int) -> None:
        names = {number: name for name, number in confine.CALLS[platform.machine()].items()}
        deadline_s = time.monotonic() + WAIT_S
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        while time.monotonic() < deadline_s:
            events = poll.poll(1000)
            if not events:
                continue
            if not events[0][1] & select.POLLIN:
                return  # the last of them has ended
            with suppress(OSError):  # who asked may be dead by now
                content = bytearray(_REQUEST.size)
                fcntl.ioctl(listener, _RECEIVE, content)
                ident, thread, _, number, _, _, *rest = _REQUEST.unpack(content)
                reply = self._judge(_Request(ident, thread, names[number], tuple(rest)))
                fcntl.ioctl(listener, _ANSWER, bytearray(reply))
        raise AssertionError("it never ended")

    def _judge(self, request: _Request) -> bytes:
        path = _path_of(request)
        is_ours = path.startswith(f"{self.folder}/")
        if is_ours and self.fault.is_read_only and self._is_behind and _changes(request, path):
            self.actions.append(Act(request.call, path, is_failed=True))
            return _REPLY.pack(request.id, 0, -errno.EROFS, 0)
        is_counted = is_ours and not _TALK.search(path) and KINDS[request.call] != "remove"
        if not is_counted or (KINDS[request.call] == "name" and Path(path).exists()):
            return _REPLY.pack(request.id, 0, 0, _GO_ON)
        is_hit, is_first = self._count(KINDS[request.call])
        self.actions.append(Act(request.call, path, is_hit))
        if not is_hit:
            return _REPLY.pack(request.id, 0, 0, _GO_ON)
        if is_first and self.fault.is_full and request.call == "write" and request.arguments[2] > 1:
            return _REPLY.pack(request.id, _write_half(request), 0, 0)
        return _REPLY.pack(request.id, 0, -self.fault.error, 0)

    def _count(self, kind: str) -> tuple[bool, bool]:
        """Whether this act fails, and whether it is the first that does."""
        if kind in self.fault.kinds:
            self._seen += 1
            if self._seen == self.fault.number:
                return True, True
        return self._is_behind and self.fault.is_full and kind in _TAKES_ROOM, False

    @property
    def _is_behind(self) -> bool:
        return self._seen >= self.fault.number > 0


def _changes(request: _Request, path: str) -> bool:
    """Whether a call needs a disk that can be written. What is synced by then is on it."""
    kind = KINDS[request.call]
    if request.call == "openat":
        return bool(request.arguments[2] & _WRITES) or not Path(path).exists()
    return kind != "sync"


def _path_of(request: _Request) -> str:
    try:
        if request.call not in _PATH_AT:
            return str(Path(f"/proc/{request.thread}/fd/{request.arguments[0]}").readlink())
        name = _memory(request.thread, request.arguments[_PATH_AT[request.call]], _PATH_CHARS)
        path = os.fsdecode(name.partition(b"\0")[0])
        at = ctypes.c_int(request.arguments[_FOLDER_AT.get(request.call, 0)]).value
        has_folder = request.call in _FOLDER_AT and at >= 0
        folder = Path(f"/proc/{request.thread}", f"fd/{at}" if has_folder else "cwd")
        return path if path.startswith("/") else f"{folder.readlink()}/{path}"
    except OSError:
        return ""  # a socket, or somebody who is gone


def _memory(thread: int, address: int, length: int) -> bytes:
    """Bytes of another process: fewer, where its memory ends before."""
    with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:  # noqa: PTH123
        found = b""
        while len(found) < length:
            memory.seek(address + len(found))
            to_page = 4096 - (address + len(found)) % 4096
            try:
                piece = memory.read(min(to_page, length - len(found)))
            except OSError:
                break
            found += piece
        return found


def _write_half(request: _Request) -> int:
    """Do half of a write in its place; the number of bytes."""
    with open(f"/proc/{request.thread}/status", encoding="ascii") as status:  # noqa: PTH123
        process = next(int(line.split()[1]) for line in status if line.startswith("Tgid:"))
    half = _memory(request.thread, request.arguments[1], request.arguments[2] // 2)
    holder = os.pidfd_open(process)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        copy = libc.syscall(_PIDFD_GETFD, holder, request.arguments[0], 0)
        assert copy >= 0, os.strerror(ctypes.get_errno())
    finally:
        os.close(holder)
    try:
        return os.write(copy, half)
    finally:
        os.close(copy)


@contextmanager
def _confined(
    command: list[str], out: int, err: int
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The process, and the listener by which it asks."""
    ours, theirs = socket.socketpair()
    launch = [sys.executable, "-I", "-S", confine.__file__, str(theirs.fileno()), *command]
    with ours, theirs:
        process = subprocess.Popen(
            launch, stdin=subprocess.DEVNULL, stdout=out, stderr=err, pass_fds=[theirs.fileno()]
        )
        theirs.close()
        listener = -1
        try:
            _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
            if not descriptors:
                pytest.skip("this kernel asks nobody about calls (seccomp user notification)")
            listener = descriptors[0]
            yield process, listener
        finally:
            if listener >= 0:
                os.close(listener)
            process.kill()
            process.wait()


def with_faults(fault: Fault, folder: Path, *args: str | Path) -> tuple[Ended, list[Act]]:
    """`gossamer ARGS...` to its end on a disk that fails so; what it did to the folder's files."""
    need_linux("seccomp")
    if platform.machine() not in confine.CALLS:
        pytest.skip(f"the calls of {platform.machine()} are not known here")
    disk = FailingDisk(folder, fault)
    command = [sys.executable, "-m", "gossamer", *map(str, args)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with _confined(command, out.fileno(), err.fileno()) as (process, listener):
            disk.serve(listener)
            process.wait(WAIT_S)
        out.seek(0)
        err.seek(0)
        said, told = out.read().decode(), err.read().decode()
    return Ended(process.returncode, said, told), disk.actions
