"""Values as msgpack bytes: rows of the state, messages between processes, stored index entries.

Every module that needs msgpack uses these functions, so that all of them treat two cases alike:
bytes that cannot be read raise ValueError, and half of a surrogate pair, which has no UTF-8 form
and which a script can put in a page, is written as a question mark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from types import UnionType
from typing import Any, Final, TypeVar, overload

import msgspec

T = TypeVar("T")
Packed = bytes | bytearray | memoryview

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder().decode


def pack(value: object) -> bytes:
    """A value of plain types, tuples, enums and Structs as bytes."""
    try:
        return _encode(value)
    except UnicodeEncodeError:  # searching every text first would take longer than packing
        return _encode(_with_valid_texts(msgspec.to_builtins(value, builtin_types=(bytes,))))


def pack_row(values: Sequence[object]) -> bytes:
    """The values of a row without the empty ones at its end; the first one is always there.

    `unpacker` of the row's Struct gives omitted fields their defaults. So a queued URL takes little
    more than its own characters, and a row that was written before a field existed still reads.
    """
    if not values[-1]:
        kept = next(compress(range(len(values), 0, -1), reversed(values)), 1)
        values = values[:kept]
    return pack(values)


def unpack(packed: Packed) -> Any:
    """The value, with lists for arrays. Raises ValueError for bytes that are not msgpack."""
    try:
        return _decode(packed)
    except RecursionError:
        raise ValueError("arrays are nested too deeply") from None


@overload
def unpacker(kind: type[T]) -> Callable[[Packed], T]: ...
@overload
def unpacker(kind: UnionType) -> Callable[[Packed], Any]: ...
def unpacker(kind: Any) -> Callable[[Packed], Any]:
    """A function that reads values of this type; it raises ValueError for any other bytes."""
    decode = msgspec.msgpack.Decoder(kind).decode

    def unpack_one(packed: Packed) -> Any:
        try:
            return decode(packed)
        except RecursionError:
            raise ValueError("arrays are nested too deeply") from None

    return unpack_one


def _with_valid_texts(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case list() | tuple():
            return [_with_valid_texts(item) for item in value]
        case dict():
            return {_with_valid_texts(key): _with_valid_texts(item) for key, item in value.items()}
    return value
