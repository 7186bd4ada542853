"""Read a BVGraph (Boldi and Vigna, 2004) from its first page to its last: `.graph` and
`.properties` are enough, without the offsets that random access needs.

The links of a page are written as: how many there are; a page shortly before whose links are
copied in blocks; intervals of consecutive pages; and the rest as differences. About a microsecond
a link; the package `webgraph` is faster and needs an index beside the graph (`.ef`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from gossamer.lab.inputs.link_files import BadGraphFile

_CHUNK: Final = 1 << 18  # bytes that are turned into digits at once, of 8 bytes each
_CODES: Final = ("OUTDEGREES", "REFERENCES", "BLOCKS", "BLOCK_COUNT", "RESIDUALS")
_MOST_ZEROS: Final = 64  # a number has no more bits


class BitReader:
    """The bits of a file as codes of numbers. Raises EOFError at its end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._bits = ""
        self._at = 0

    def bits(self, many: int) -> int:
        """A number of so many bits."""
        if not many:
            return 0
        while self._at + many > len(self._bits):
            self._read()
        self._at += many
        return int(self._bits[self._at - many : self._at], 2)

    def unary(self) -> int:
        """How many zeros come before the next one."""
        while (end := self._bits.find("1", self._at)) < 0:
            if len(self._bits) - self._at > _MOST_ZEROS:
                raise ValueError("a number is too long")
            self._read()
        zeros, self._at = end - self._at, end + 1
        return zeros

    def gamma(self) -> int:
        length = self.unary()
        return (1 << length | self.bits(length)) - 1

    def delta(self) -> int:
        length = self.gamma()
        if length > _MOST_ZEROS:
            raise ValueError("a number is too long")
        return (1 << length | self.bits(length)) - 1

    def zeta(self, k: int) -> int:
        left = self.unary() * k
        number = self.bits(left + k - 1)
        if number < 1 << left:
            return number + (1 << left) - 1
        return (number << 1 | self.bits(1)) - 1

    def _read(self) -> None:
        more = self._file.read(_CHUNK)
        if not more:
            raise EOFError("the file ends within the links of a page")
        digits = bin(int.from_bytes(b"\1" + more, "big"))[3:]
        self._bits, self._at = self._bits[self._at :] + digits, 0


class BvReader:
    """The links of all pages, one page after the other."""

    def __init__(self, path: Path) -> None:
        """Raises BadGraphFile for properties that are missing or not known."""
        self._path = path.with_suffix(".graph")
        self._properties = _properties(path.with_suffix(".properties"))
        self.pages = self._number("nodes")
        self._window = self._number("windowsize", 7)
        self._least = self._number("minintervallength", 4)
        self._k = self._number("zetak", 3)
        flags = re.split(r"[\s|]+", self._properties.get("compressionflags", "").upper())
        known = {
            f"{name}_{code}" for name in _CODES for code in ("GAMMA", "DELTA", "ZETA", "UNARY")
        }
        unknown = [flag for flag in flags if flag and flag not in known]
        if unknown or self._properties.get("endianness", "big").lower() != "big":
            told = unknown[0] if unknown else "little-endian bits"
            raise BadGraphFile(self._path, f"its properties name {told}, which is not supported")
        self._flags = dict(flag.rsplit("_", 1) for flag in flags if flag)

    def rows(self) -> Iterator[list[int]]:
        """The sorted targets of each page. Raises OSError, EOFError, ValueError."""
        with self._path.open("rb") as file:
            bits = BitReader(file)
            before: list[list[int]] = [[] for _ in range(self._window + 1)]
            for page in range(self.pages):
                row = self._row(bits, page, before)
                before[page % len(before)] = row
                yield row

    def _row(self, bits: BitReader, page: int, before: list[list[int]]) -> list[int]:
        left = self._coded(bits, "OUTDEGREES", bits.gamma)()
        if left > self.pages:
            raise ValueError(f"page {page} has more links than there are pages")
        if not left:
            return []
        row: list[int] = []
        reference = self._coded(bits, "REFERENCES", bits.unary)() if self._window else 0
        if reference > min(self._window, page):
            raise ValueError(f"page {page} copies links of a page that is not there")
        if reference:
            row = self._copied(bits, before[(page - reference) % len(before)])
        if self._least and len(row) < left:
            row += _intervals(bits, page, self._least)
        row += self._rest(bits, page, left - len(row))
        if len(row) != left or min(row) < 0 or max(row) >= self.pages:
            raise ValueError(f"the links of page {page} are damaged")
        return sorted(row)

    def _copied(self, bits: BitReader, other: list[int]) -> list[int]:
        """Every second block of the links of another page."""
        count = self._coded(bits, "BLOCK_COUNT", bits.gamma)()
        if count > len(other) + 1:
            raise ValueError("there are more blocks than links")
        read = self._coded(bits, "BLOCKS", bits.gamma)
        row, start = list[int](), 0
        for number in range(count):
            length = read() + bool(number)
            row += other[start : start + length] if number % 2 == 0 else []
            start += length
        return row + (other[start:] if count % 2 == 0 else [])

    def _rest(self, bits: BitReader, page: int, many: int) -> list[int]:
        if many <= 0:
            return []
        read = self._coded(bits, "RESIDUALS", lambda: bits.zeta(self._k))
        row = [page + _signed(read())]
        for _ in range(many - 1):
            row.append(row[-1] + read() + 1)
        return row

    def _coded(self, bits: BitReader, what: str, default: Callable[[], int]) -> Callable[[], int]:
        match self._flags.get(what):
            case None:
                return default
            case "GAMMA":
                return bits.gamma
            case "DELTA":
                return bits.delta
            case "UNARY":
                return bits.unary
            case _:
                return lambda: bits.zeta(self._k)

    def _number(self, name: str, default: int | None = None) -> int:
        text = self._properties.get(name, "" if default is None else str(default))
        if not (text.isascii() and text.isdigit()) or len(text) > 18:
            raise BadGraphFile(self._path, f"{name} in its properties is {text[:40]!r}")
        return int(text)


def _intervals(bits: BitReader, page: int, least: int) -> list[int]:
    """Runs of consecutive pages."""
    row, start = list[int](), 0
    for number in range(bits.gamma()):
        start = start + 1 + bits.gamma() if number else page + _signed(bits.gamma())
        end = start + bits.gamma() + least
        if end - start > _MOST_RUN:
            raise ValueError("a run of links is too long")
        row += range(start, end)
        start = end
    return row


_MOST_RUN: Final = 10_000_000  # no page of any known web has so many links


def _signed(number: int) -> int:
    """Differences with a sign: 0, -1, 1, -2, 2 are written as 0, 1, 2, 3, 4."""
    return -(number + 1 >> 1) if number & 1 else number >> 1


def _properties(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="latin-1").splitlines()
    except OSError as error:
        raise BadGraphFile(path, str(error)) from None
    pairs = (line.partition("=") for line in lines if not line.startswith(("#", "!")))
    return {name.strip(): value.strip() for name, mark, value in pairs if mark}
