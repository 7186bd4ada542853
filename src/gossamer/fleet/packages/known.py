"""The names by which a unit asks which bodies the hub has.

A name has the key of a URL and the digest of a body: the hub looks among the captures of that URL
alone. So the answer is quick, needs no index of digests, and tells a unit nothing about pages of
other jobs. Pure.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"([0-9a-f]{32})/(sha1:[A-Z2-7]{32})")


class KnownName(NamedTuple):
    key: bytes
    digest: str


def known_name(key: bytes, digest: str) -> str:
    """The name of a body of a URL: `KEY/sha1:DIGEST`."""
    return f"{key.hex()}/{digest}"


def read_name(name: str) -> KnownName | None:
    """The parts of a name; None for other texts."""
    found = _NAME.fullmatch(name)
    return KnownName(bytes.fromhex(found[1]), found[2]) if found else None
