"""Overwrite secrets on the command line, which every user of the machine can read.

Other users can still see them for a moment before the program runs; files (`fetch.logins_file`,
`fetch.headers_file`) are safer. Workers that are forked later have the same overwritten command
line. This works on Linux only; elsewhere it does nothing.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from gossamer.fetch.request import is_secret, without_userinfo


def conceal_headers(headers: Iterable[str]) -> None:
    """Overwrite the values of secret headers."""
    _paint(header.partition(":")[2].strip() for header in headers if is_secret(header))


def conceal(words: Iterable[str]) -> None:
    """Overwrite these words."""
    _paint(words)


def conceal_urls(words: Iterable[str]) -> None:
    """Overwrite users and passwords in URLs."""
    _paint(_userinfo_in(word) for word in words)


def _userinfo_in(word: str) -> str:
    if without_userinfo(word) == word:
        return ""
    return word[word.index("//") + 2 : word.rindex("@")]


def _paint(words: Iterable[str]) -> None:
    secrets = [os.fsencode(word) for word in words if word]
    if not secrets or not sys.platform.startswith("linux"):
        return
    try:
        # Fields 48 and 49 of proc_pid_stat(5): where the arguments begin and end in memory. The
        # second field, a name in parentheses, may hold anything, so we count from its end.
        numbers = Path("/proc/self/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
        start, end = int(numbers[45]), int(numbers[46])
    except (OSError, ValueError, IndexError):
        return
    held = ctypes.string_at(start, end - start) if start else b""
    for secret in secrets:
        at = held.find(secret)
        while at >= 0:
            ctypes.memset(start + at, ord("*"), len(secret))
            at = held.find(secret, at + len(secret))
