"""Which bits should the characters of a small record have? Prints the tables of `pack_small.h`.

    python -m bench.small_codes COLLECTION...

Requests and metadata records of real archives are cut into literals and matches much as it cuts
them, and the tally makes one Huffman code for all. Hosts of the archives are given other names in
half of the records: whoever measures on one machine has few. Every character of ASCII, every length
and distance gets a code, however rare.
"""

from __future__ import annotations

import heapq
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from gossamer.archive.reader import read_records

_HOSTS: Final = ("docs.example.org", "www.museum-of-things.com", "en.library.net", "shop.xyz.co.uk")
_KINDS: Final = ("request", "metadata")
_TEXT: Final = "".join(map(chr, range(32, 127))) + "\r\n"  # records with other bytes are isal's
_LEAST: Final = 4  # bytes of a match
_MOST: Final = 258
_END: Final = 256  # the symbol behind the last
_DISTANCES: Final = 26  # symbols, up to 8192 bytes back: no small record is longer
_MOST_BITS: Final = 15
_ORDER: Final = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
_RARE: Final = 0.002  # of all symbols: what one that hardly came is taken to be


def records_of(folder: Path) -> Iterator[bytes]:
    for path in sorted((folder / "archive").glob("*.warc.gz")):
        for number, record in enumerate(read_records(path)):
            if record.type in _KINDS:
                whole = record.preamble + record.content + b"\r\n\r\n"
                host = record.uri.partition("//")[2].partition("/")[0].encode()
                other = _HOSTS[number % len(_HOSTS)].encode()
                yield whole.replace(host, other).replace(host.partition(b":")[0], other)
                yield whole


def length_symbol(length: int) -> int:
    x = length - 3
    if length == 258:
        return 285
    if x < 8:
        return 257 + x
    bits = x.bit_length() - 3
    return 257 + 4 * bits + (x >> bits)


def distance_symbol(distance: int) -> int:
    x = distance - 1
    if x < 4:
        return x
    bits = x.bit_length() - 2
    return 2 * bits + (x >> bits)


def tally(data: bytes, literals: Counter[int], distances: Counter[int]) -> None:
    last: dict[bytes, int] = {}
    at = 0
    while at < len(data):
        before = last.get(data[at : at + _LEAST], -1)
        length = 1 if before < 0 else _same(data, before, at)
        if length == 1:
            literals[data[at]] += 1
        else:
            literals[length_symbol(length)] += 1
            distances[distance_symbol(at - before)] += 1
        for passed in range(at, min(at + length, len(data) - _LEAST)):
            last[data[passed : passed + _LEAST]] = passed
        at += length
    literals[_END] += 1


def _same(data: bytes, before: int, at: int) -> int:
    length = _LEAST
    while at + length < len(data) and length < _MOST and data[before + length] == data[at + length]:
        length += 1
    return length


def lengths_of(counts: list[float]) -> list[int]:
    """Bits of each symbol, by Huffman; rare ones are taken for less rare until none has too many.

    What has no count has no code.
    """
    floor = 0.0
    while True:
        heap: list[tuple[float, int, tuple[int, ...]]]
        heap = [(max(count, floor), n, (n,)) for n, count in enumerate(counts) if count]
        bits = [0] * len(counts)
        heapq.heapify(heap)
        while len(heap) > 1:
            a, b = heapq.heappop(heap), heapq.heappop(heap)
            for number in (*a[2], *b[2]):
                bits[number] += 1
            heapq.heappush(heap, (a[0] + b[0], a[1], a[2] + b[2]))
        if max(bits) <= _MOST_BITS:
            return bits
        floor = max(floor * 1.5, min(c for c in counts if c) / 16)


def runs(lengths: list[int]) -> Iterator[tuple[int, int, int]]:
    """The lengths as the symbols of a block's head: symbol, value and bits of what follows it."""
    for length, group in groupby(lengths):
        count = len(list(group))
        if length:
            yield length, 0, 0
            count -= 1
        while count >= 3:
            if length:
                taken = min(count, 6)
                yield 16, taken - 3, 2
            elif count <= 10:
                taken = count
                yield 17, taken - 3, 3
            else:
                taken = min(count, 138)
                yield 18, taken - 11, 7
            count -= taken
        for _ in range(count):
            yield length, 0, 0


def codes_of(lengths: list[int]) -> list[int]:
    """Canonical codes (RFC 1951, 3.2.2), turned round as they are written."""
    code, codes = 0, [0] * len(lengths)
    for bits in range(1, max(lengths) + 1):
        for symbol, length in enumerate(lengths):
            if length == bits:
                codes[symbol] = int(f"{code:0{bits}b}"[::-1], 2)
                code += 1
        code <<= 1
    return codes


def head_of(literals: list[int], distances: list[int]) -> tuple[bytes, int]:
    """The bits that begin a block with these codes, and their number."""
    said = list(runs([*literals, *distances]))
    counts = Counter(symbol for symbol, _, _ in said)
    used = sorted(counts)
    bits_of_used = lengths_of([float(counts[symbol]) for symbol in used])
    bits = [0] * 19
    for symbol, length in zip(used, bits_of_used, strict=True):
        assert length <= 7, "the codes of lengths have at most 7 bits"
        bits[symbol] = length
    codes = codes_of(bits)
    ordered = [bits[symbol] for symbol in _ORDER]
    while not ordered[-1]:
        ordered.pop()
    number, width = 0, 0

    def put(value: int, count: int) -> None:
        nonlocal number, width
        number |= value << width
        width += count

    put(1, 1)
    put(2, 2)
    put(len(literals) - 257, 5)
    put(len(distances) - 1, 5)
    put(len(ordered) - 4, 4)
    for length in ordered:
        put(length, 3)
    for symbol, value, count in said:
        put(codes[symbol], bits[symbol])
        put(value, count)
    return number.to_bytes((width + 7) // 8, "little"), width


def main() -> None:
    literals: Counter[int] = Counter()
    distances: Counter[int] = Counter()
    for folder in sys.argv[1:]:
        for record in records_of(Path(folder)):
            tally(record, literals, distances)
    least, least_far = _RARE * literals.total(), _RARE * distances.total()
    of_literals = lengths_of(
        [max(literals[n], least) if n >= _END or chr(n) in _TEXT else 0.0 for n in range(286)]
    )
    of_distances = lengths_of([max(distances[n], least_far) for n in range(_DISTANCES)])
    head, bits = head_of(of_literals, of_distances)
    print("LITERAL_BITS ", "".join(f"{n:x}" for n in of_literals))
    print("DISTANCE_BITS", "".join(f"{n:x}" for n in of_distances))
    print("BLOCK_HEAD   ", ", ".join(f"0x{byte:02x}" for byte in head))
    print("HEAD_BITS    ", bits)


if __name__ == "__main__":
    main()
