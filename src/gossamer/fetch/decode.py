"""Remove the content codings of a body.

    br(gzip(page)) with "Content-Encoding: gzip, br" -> page

No stage of a chain makes more bytes than the limit, whatever the body claims: a decoder is always
given the remaining room. A decompression bomb is dropped before that. Invalid and truncated bodies
are common on the web: everything that can be decoded is returned, with a sentence about the fault.
Nothing here raises.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Final, Protocol, cast

import brotli
from isal import isal_zlib

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# A normal server uses one, rarely two. urllib3 and curl stop at five, too.
MAX_CODINGS: Final = 5
# Blocked gzip has a member per 64 KiB. Ten million empty members in 200 MB are an attack on CPU
# time.
MAX_MEMBERS: Final = 10_000
# Browsers refuse zstd windows above 8 MiB (RFC 9659), so that a short body cannot take memory.
_ZSTD_WINDOW: Final[dict[int, int]] = {zstd.DecompressionParameter.window_log_max: 23}
# Input of a decoder per step. Most pages are smaller; the decoder copies the unused input.
_STEP_BYTES: Final = 64 * 2**10
# Output of a decoder per step. Without it the last piece and the whole are in memory at once (153
# MB for a limit of 64 MiB, instead of 76).
_ROOM_BYTES: Final = 2**20
# Above this size, a body that grew by more than this factor is a bomb. 181 real pages grow by 5
# (median) to 10; gzip can reach 1,032 and brotli a million. The largest valid body of WPT has 27
# MB. Parsing a bomb would take 28 bytes of memory per byte.
_BOMB_BYTES: Final = 32 * 2**20
_BOMB_FACTOR: Final = 200
# The type stubs of isal declare its error as an instance.
_ERRORS: Final = cast(
    "tuple[type[Exception], ...]", (isal_zlib.error, brotli.error, zstd.ZstdError, EOFError)
)

_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE: Final = tuple(bytes((n, 0x2A, 0x4D, 0x18)) for n in range(0x50, 0x60))
# Bytes that do not occur in text (WHATWG MIME Sniffing, 3), and how many bytes are checked.
_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_SNIFF_BYTES: Final = 1445
_KNOWN_STARTS: Final = (
    b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<", b"%PDF-", b"\x89PNG\r\n", b"GIF8",
    b"\xff\xd8\xff", b"RIFF", b"PK\x03\x04", b"OggS", b"ID3", b"wOFF", b"wOF2",
    b"\x00\x00\x01\x00", _GZIP_MAGIC, _ZSTD_MAGIC,
)  # fmt: skip
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded body. `is_cut`: there was more than the limit. `fault`: a sentence."""

    body: bytes
    is_cut: bool = False
    fault: str = ""


class _Decoder(Protocol):
    """One compressed stream."""

    def feed(self, piece: bytes, room: int) -> bytes:
        """At most about `room` decoded bytes. Call again with b"" until it returns nothing."""
        ...

    def is_done(self) -> bool:
        """Whether the end of the stream was read."""
        ...

    def unused(self) -> int:
        """Bytes at the end of the last piece that are after the end of the stream."""
        ...


class _Inflate:
    def __init__(self, window_bits: int) -> None:
        self._inner = isal_zlib.decompressobj(wbits=window_bits)

    def feed(self, piece: bytes, room: int) -> bytes:
        held: bytes = self._inner.unconsumed_tail
        out: bytes = self._inner.decompress(held + piece if held else piece, room)
        return out

    def is_done(self) -> bool:
        return bool(self._inner.eof)

    def unused(self) -> int:
        return len(self._inner.unused_data)


class _Zstd:
    def __init__(self) -> None:
        self._inner = zstd.ZstdDecompressor(options=_ZSTD_WINDOW)

    def feed(self, piece: bytes, room: int) -> bytes:
        return self._inner.decompress(piece, room)

    def is_done(self) -> bool:
        return self._inner.eof

    def unused(self) -> int:
        return len(self._inner.unused_data)


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    def feed(self, piece: bytes, room: int) -> bytes:
        out: bytes = self._inner.process(piece, output_buffer_limit=room)
        return out

    def is_done(self) -> bool:
        return bool(self._inner.is_finished())

    def unused(self) -> int:
        return 0  # it fails if there are any, and is then fed byte by byte


@dataclass(frozen=True, slots=True)
class _Coding:
    """How one coding is read. `magic` begins every stream of it, and several may follow."""

    name: str
    open: Callable[[], _Decoder]
    magic: tuple[bytes, ...] = ()


_GZIP: Final = _Coding("gzip", lambda: _Inflate(31), (_GZIP_MAGIC,))
_ZLIB: Final = _Coding("deflate", lambda: _Inflate(15))
_RAW: Final = _Coding("deflate", lambda: _Inflate(-15))
_CODINGS: Final[dict[str, _Coding]] = {
    "gzip": _GZIP,
    "x-gzip": _GZIP,
    "deflate": _ZLIB,
    "br": _Coding("br", _Brotli),
    "zstd": _Coding("zstd", _Zstd, (_ZSTD_MAGIC, *_ZSTD_SKIPPABLE)),
}


def decode(body: bytes, content_encoding: str, max_bytes: int) -> Decoded:
    """Undo the codings that the header names, last one first.

    A body that was never encoded, although the header says so, is returned unchanged.
    """
    names = [name for part in content_encoding.lower().split(",") if (name := part.strip())]
    names = [name for name in names if name != "identity"]
    if not body or not names:
        return _whole(body, max_bytes)
    if len(names) > MAX_CODINGS:
        fault = f"the body has {len(names)} content codings, but at most {MAX_CODINGS} are allowed"
        return _whole(body, max_bytes, fault)
    is_cut, faults = False, []
    for name in reversed(names):
        coding = _CODINGS.get(name)
        if coding is None:
            faults.append(f"the coding {name!r} is unknown")
            break
        step = _undo(coding, body, max_bytes)
        body, is_cut = step.body, is_cut or step.is_cut
        if step.fault:
            faults.append(step.fault)
        if not body:
            break
    whole = _whole(body, max_bytes, "; ".join(faults))
    return Decoded(whole.body, is_cut or whole.is_cut, whole.fault)


def _whole(body: bytes, max_bytes: int, fault: str = "") -> Decoded:
    if len(body) > max_bytes:
        return Decoded(body[:max_bytes], is_cut=True, fault=fault)
    return Decoded(body, fault=fault)


def _undo(coding: _Coding, body: bytes, max_bytes: int) -> Decoded:
    """Undo one coding."""
    if coding.magic and not body.startswith(coding.magic):
        return _undeclared(coding, body)
    if coding is _ZLIB and not _is_zlib(body):
        coding = _RAW  # RFC 9110 says zlib, but some servers send the raw stream
    result = _read(coding, body, max_bytes)
    if coding is _ZLIB and result.fault and not result.body:
        result = _read(_RAW, body, max_bytes)
    if (
        result.fault
        and not coding.magic
        and not result.is_cut
        and (not result.body or _looks_plain(body))
    ):
        return _undeclared(coding, body)
    return result


def _undeclared(coding: _Coding, body: bytes) -> Decoded:
    """A body that is not in its declared coding: returned unchanged if it is readable, else
    garbage.
    """
    fault = f"the body is declared as {coding.name}, but it is not"
    return Decoded(body if _is_readable(body) else b"", fault=fault)


def _read(coding: _Coding, body: bytes, max_bytes: int) -> Decoded:
    """Decode up to the limit. If the decoder fails, decode again byte by byte to keep its
    output.
    """
    result, failed_at = _walk(coding, body, max_bytes, slow_from=len(body))
    if failed_at is not None:
        result, _ = _walk(coding, body, max_bytes, slow_from=failed_at)
    return result


def _walk(
    coding: _Coding, body: bytes, max_bytes: int, slow_from: int
) -> tuple[Decoded, int | None]:
    """One pass; from `slow_from` on in pieces of one byte. Also returns which piece failed."""
    out = BytesIO()  # returns its bytes without a copy
    done, at, members, decoder = 0, 0, 1, coding.open()
    while at < len(body):
        piece = body[at : at + (1 if at >= slow_from else _STEP_BYTES)]
        believed = max(_BOMB_BYTES, _BOMB_FACTOR * (at + len(piece)))
        try:
            done += _drain(decoder, piece, min(max_bytes + 1, believed) - done, out)
        except _ERRORS as error:
            fault = f"the {coding.name} body is damaged ({error})"
            return Decoded(out.getvalue(), fault=fault), at
        if done > max_bytes:
            out.truncate(max_bytes)
            return Decoded(out.getvalue(), is_cut=True), None
        if done >= believed:
            sizes = f"{at + len(piece)} bytes make {done} and more"
            fault = f"the {coding.name} body is a decompression bomb: {sizes}"
            return Decoded(b"", is_cut=True, fault=fault), None
        at += len(piece)
        if not decoder.is_done():
            continue
        at -= decoder.unused()
        if not (coding.magic and body.startswith(coding.magic, at)):
            return Decoded(out.getvalue()), None  # the rest is padding or garbage
        members += 1
        if members > MAX_MEMBERS:
            fault = f"the {coding.name} body has more than {MAX_MEMBERS} parts"
            return Decoded(out.getvalue(), fault=fault), None
        decoder = coding.open()
    fault = f"the {coding.name} body is truncated"
    return Decoded(out.getvalue(), fault=fault), None


def _drain(decoder: _Decoder, piece: bytes, room: int, out: BytesIO) -> int:
    """Write the output of a piece until the room is used. Return the number of bytes."""
    made = 0
    while made < room:
        part = decoder.feed(piece, min(room - made, _ROOM_BYTES))
        made += out.write(part)
        if not part or decoder.is_done():
            break
        piece = b""
    return made


def _is_zlib(body: bytes) -> bool:
    """Whether the first two bytes are a zlib header (RFC 1950, 2.2)."""
    return len(body) >= 2 and body[0] & 0x0F == 8 and (body[0] << 8 | body[1]) % 31 == 0


def _is_readable(body: bytes) -> bool:
    """Whether it is text or a file of a known type, and not a damaged compressed stream.

    UTF-16 contains zeros; its mark or its first letters identify it.
    """
    return body.startswith(_KNOWN_STARTS) or not _BINARY.search(body, 0, _SNIFF_BYTES)


def _looks_plain(body: bytes) -> bool:
    """Whether it starts like HTML or XML."""
    return body[:64].lstrip(_BLANK).startswith(b"<")
