"""The rows of the table CHANGE: what a visit found new, changed, gone, back or moved.

The key is the wall time of the visit and the key of the URL, so a scan goes through them in the
order of time. A visit of a page is a capture of the same time; the one row without a capture says
that a page which was gone has been found at another URL.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple

from gossamer.base.packing import pack_row, unpacker
from gossamer.frontier.meta_keys import CHANGE_PREFIX
from gossamer.frontier.rows import time_key, time_of
from gossamer.records import ChangeKind


class ChangesBegun(NamedTuple):
    """What META says of the table as a whole."""

    from_us: int = 0  # when a page was first visited twice; pages that are found later are new
    number: int = 0  # of the last change

    def encode(self) -> bytes:
        return time_key(self.from_us) + time_key(self.number)

    @classmethod
    def decode(cls, row: bytes | None) -> ChangesBegun:
        return cls(time_of(row), time_of(row[8:])) if row else cls()


class ChangeRow(Struct, array_like=True, frozen=True):
    """One change of one URL."""

    kind: ChangeKind
    before_us: int = 0  # of the capture that it was compared with; 0: there is none
    status_before: int = 0
    status: int = 0
    words_added: int = 0
    words_removed: int = 0
    links_added: int = 0
    links_removed: int = 0
    title_before: str = ""  # empty where the title is the same
    target: str = ""  # URL of a page that moved
    is_noise: bool = False  # nothing changed but what changes at every visit

    def encode(self) -> bytes:
        return pack_row(astuple(self))

    @classmethod
    def decode(cls, row: bytes) -> ChangeRow:
        """Raises ValueError when these are no bytes of `encode`."""
        return _unpack(row)


_unpack: Final = unpacker(ChangeRow)


def change_key(at_us: int, key: bytes) -> bytes:
    """The key of a change: of which visit, of which URL."""
    return time_key(at_us) + key


def numbered_key(number: int) -> bytes:
    """The key in META of the change with this number. Its row is the key in the table CHANGE."""
    return CHANGE_PREFIX + time_key(number)


def number_of(key: bytes) -> int:
    """The number that a key of META says."""
    return time_of(key[len(CHANGE_PREFIX) :])
