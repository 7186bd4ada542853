"""`python confine.py SOCKET PROGRAM ARGS...`: run a program whose writes its parent decides about.

The kernel stops every call named in CALLS, of the program and of all that it starts, and asks
whoever holds the listener, which is sent through SOCKET (seccomp, "user notification"; Linux 5.5 or
newer, no rights needed). `failing_disk.py` is the other side.
"""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import struct
import sys
from typing import Final

CALLS: Final[dict[str, dict[str, int]]] = {
    "x86_64": {
        "write": 1, "pwrite64": 18, "writev": 20, "pwritev": 296, "pwritev2": 328,
        "fallocate": 285, "fsync": 74, "fdatasync": 75, "openat": 257, "mkdir": 83,
        "mkdirat": 258, "rename": 82, "renameat": 264, "renameat2": 316,
        "unlink": 87, "unlinkat": 263, "ftruncate": 77,
    },
    "aarch64": {
        "write": 64, "pwrite64": 68, "writev": 66, "pwritev": 70, "pwritev2": 287,
        "fallocate": 47, "fsync": 82, "fdatasync": 83, "openat": 56, "mkdirat": 34,
        "renameat": 38, "renameat2": 276, "unlinkat": 35, "ftruncate": 46,
    },
}  # fmt: skip
_SECCOMP: Final = {"x86_64": 317, "aarch64": 277}
_ARCHITECTURE: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _EQUALS, _HAS_BITS, _RETURN = 0x20, 0x15, 0x45, 0x06  # instructions of classic BPF
_ASK, _ALLOW = 0x7FC00000, 0x7FFF0000
_NUMBER_AT, _ARCHITECTURE_AT, _FLAGS_AT = 0, 4, 32  # in the kernel's record of a call
_NO_NEW_PRIVILEGES: Final = 38
_SET_FILTER, _NEW_LISTENER = 1, 8


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _instruction(code: int, value: int, *, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_so, if_not, value)


def filter_for(machine: str) -> bytes:
    """Ask about the calls above; of those that open a file only about those that may make one."""
    calls = [number for name, number in CALLS[machine].items() if name != "openat"]
    ask, allow = _instruction(_RETURN, _ASK), _instruction(_RETURN, _ALLOW)
    lines = [
        _instruction(_LOAD, _ARCHITECTURE_AT),
        _instruction(_EQUALS, _ARCHITECTURE[machine], if_so=1),
        allow,
        _instruction(_LOAD, _NUMBER_AT),
    ]
    for number in calls:
        lines += [_instruction(_EQUALS, number, if_not=1), ask]
    lines += [
        _instruction(_EQUALS, CALLS[machine]["openat"], if_so=1),
        allow,
        _instruction(_LOAD, _FLAGS_AT),
        _instruction(_HAS_BITS, os.O_CREAT, if_not=1),
        ask,
        allow,
    ]
    return b"".join(lines)


def main(descriptor: int, command: list[str]) -> None:
    machine = platform.machine()
    libc = ctypes.CDLL(None, use_errno=True)
    text = filter_for(machine)
    program = _Program(len(text) // 8, text)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    listener = libc.syscall(_SECCOMP[machine], _SET_FILTER, _NEW_LISTENER, ctypes.byref(program))
    if listener < 0:
        sys.exit(f"the kernel takes no such filter ({os.strerror(ctypes.get_errno())})")
    with socket.socket(fileno=descriptor) as parent:
        socket.send_fds(parent, [b"."], [listener])
    os.close(listener)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
