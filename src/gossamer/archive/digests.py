"""Check digests in the headers of records."""

from __future__ import annotations

import base64
import hashlib
from typing import Final

_ALGORITHMS: Final = frozenset({"md5", "sha1", "sha256", "sha512"})


def is_known_digest(digest: str) -> bool:
    """Whether `fits_digest` supports this digest."""
    return _algorithm_of(digest) in _ALGORITHMS


def fits_digest(digest: str, data: bytes) -> bool:
    """Whether `algorithm:value`, in base 16, 32 or 64, is of `data`; True for other algorithms."""
    algorithm, value = _algorithm_of(digest), digest.partition(":")[2]
    if algorithm not in _ALGORITHMS:
        return True
    found = hashlib.new(algorithm, data, usedforsecurity=False).digest()
    bare = value.rstrip("=")
    if bare.lower() in (found.hex(), _bare(base64.b32encode(found)).lower()):
        return True
    return bare in (_bare(base64.b64encode(found)), _bare(base64.urlsafe_b64encode(found)))


def _algorithm_of(digest: str) -> str:
    return digest.partition(":")[0].lower().replace("-", "")


def _bare(encoded: bytes) -> str:
    return encoded.decode("ascii").rstrip("=")
