"""What are the bytes of one record, and the digests of what it holds?

A record is its header lines, its block and two empty lines, all of it one gzip member. The last of
its headers are made here, because they speak of the block: digests and length. Digests are SHA-1 in
base 32, as archives of the web have always had them: names of bodies, no proof against a forger.

`_pack.c` is the same in C, for processors that know SHA-1. There the two digests of a response are
counted side by side, which is quicker by a third, and the headers are laid out around them; small
records have a compressor of their own. What is read from the members is the same to the byte.
`capture_of`, which `capture.py` explains, is there alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

from isal import igzip_lib

from gossamer.base import native

_BASE32: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS: Final = [a + b for a in _BASE32 for b in _BASE32]
_SHIFTS: Final = range(150, -1, -10)
_END: Final = b"\r\n\r\n"


def digest_in_python(data: bytes) -> str:
    """`sha1:BASE32` of some bytes."""
    return "sha1:" + _base32(hashlib.sha1(data, usedforsecurity=False).digest())


def member_in_python(start: str, block: bytes, level: int) -> bytes:
    """A record as a gzip member, from its first header lines, in ASCII, and its block."""
    digest = digest_in_python(block)
    end = f"WARC-Block-Digest: {digest}\r\nContent-Length: {len(block)}\r\n\r\n"
    return _compressed(((start + end).encode("ascii"), block, _END), level)


def response_in_python(start: str, head: bytes, body: bytes, level: int) -> tuple[bytes, str]:
    """The same for a response, whose block is `head` and `body`; and the body's digest.

    Readers that verify pass over records without a block digest, so it has both.
    """
    digest = digest_in_python(body)
    sha1 = hashlib.sha1(head, usedforsecurity=False)
    sha1.update(body)
    end = (
        f"WARC-Payload-Digest: {digest}\r\nWARC-Block-Digest: sha1:{_base32(sha1.digest())}\r\n"
        f"Content-Length: {len(head) + len(body)}\r\n\r\n"
    )
    return _compressed(((start + end).encode("ascii"), head, body, _END), level), digest


def _base32(digest: bytes) -> str:
    """20 bytes in base 32, ten bits at a time: six times as quick as the standard library."""
    number = int.from_bytes(digest, "big")
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


def _compressed(parts: tuple[bytes, ...], level: int) -> bytes:
    return igzip_lib.compress(b"".join(parts), level, igzip_lib.COMP_GZIP)


digest_of = digest_in_python
member_of = member_in_python
response_of = response_in_python
capture_of: Callable[..., tuple[bytes, int, int, str, str] | None] | None = None

_c = native.load("gossamer.archive._pack")
if _c is not None and _c.IS_QUICK:  # elsewhere OpenSSL is quicker than plain C
    digest_of, member_of, response_of = _c.digest_of, _c.member_of, _c.response_of
    capture_of = _c.capture_of
