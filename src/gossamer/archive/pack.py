"""The bytes of one record, and the digests of its content.

A record is its header lines, its block and two empty lines, all in one gzip member. Its last
headers are made here, because they describe the block: digests and length. Digests are SHA-1 in
base 32, as is usual in web archives: they name bodies, and are no protection against forgery.
"""

from __future__ import annotations

import hashlib
from typing import Final

from isal import igzip_lib

_BASE32: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS: Final = [a + b for a in _BASE32 for b in _BASE32]
_SHIFTS: Final = range(150, -1, -10)
_END: Final = b"\r\n\r\n"


def digest_of(data: bytes) -> str:
    """`sha1:BASE32` of some bytes."""
    return "sha1:" + _base32(hashlib.sha1(data, usedforsecurity=False).digest())


def member_of(start: str, block: bytes, level: int) -> bytes:
    """A record as a gzip member, from its first header lines, in ASCII, and its block."""
    digest = digest_of(block)
    end = f"WARC-Block-Digest: {digest}\r\nContent-Length: {len(block)}\r\n\r\n"
    return _compressed(((start + end).encode("ascii"), block, _END), level)


def response_of(start: str, head: bytes, body: bytes, level: int) -> tuple[bytes, str]:
    """The same for a response, whose block is `head` and `body`; also returns the digest of the
    body.

    Readers that verify skip records without a block digest, so it has both.
    """
    digest = digest_of(body)
    sha1 = hashlib.sha1(head, usedforsecurity=False)
    sha1.update(body)
    end = (
        f"WARC-Payload-Digest: {digest}\r\nWARC-Block-Digest: sha1:{_base32(sha1.digest())}\r\n"
        f"Content-Length: {len(head) + len(body)}\r\n\r\n"
    )
    return _compressed(((start + end).encode("ascii"), head, body, _END), level), digest


def _base32(digest: bytes) -> str:
    """20 bytes in base 32, ten bits at a time: six times as fast as the standard library."""
    number = int.from_bytes(digest, "big")
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


def _compressed(parts: tuple[bytes, ...], level: int) -> bytes:
    return igzip_lib.compress(b"".join(parts), level, igzip_lib.COMP_GZIP)
