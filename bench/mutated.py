"""Pages gone wrong: real ones, changed as faulty programs and hostile people change them.

Pure, and the same for the same seed: a case that broke something comes again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

MOST_BYTES: Final = 65_536  # of a mutated page: faults hide at the borders of parts, not in mass

# What a scanner of HTML has to decide about; and numbers, ends and bytes at the edges of types.
PIECES: Final = (
    b"<", b">", b"</", b"/>", b"<!--", b"-->", b"--!>", b"<!", b"<!doctype ", b"<?", b"]]>",
    b"<![CDATA[", b"<a href=", b"<a href='", b'<a href="', b"</a>", b"<base href=//", b"<title>",
    b"</title", b"<script>", b"<script><!--<script>", b"</script", b"<style>", b"<textarea>",
    b"<plaintext>", b"<svg>", b"<math><mi>", b"<template>", b"<noscript>", b"<table><tr><td>",
    b"<meta charset=", b"<meta http-equiv=refresh content='0;url=", b"<img srcset='a 1x, b 2x'",
    b"<iframe srcdoc='", b"<select><option>", b"<p>", b"<br/>", b'"', b"'", b"=", b"`", b" ",
    b"&", b"&#", b"&#x", b"&#0;", b"&#x110000;", b"&#99999999999999999999;", b"&amp", b"&amp;",
    b"&notit;", b"&nbsp", b"&CounterClockwiseContourIntegral;", b"\0", b"\r", b"\n", b"\r\n",
    b"\t", b"\x0c", b"\x1b$B", b"\x7f", b"\x80", b"\xc0\x80", b"\xc2", b"\xe2\x82", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"\xf0\x9f", b"\xf4\x90\x80\x80", b"\xfe\xff", b"\xff\xfe", b"\xff",
)  # fmt: skip

TAGS: Final = (
    b"a", b"b", b"div", b"p", b"table", b"tr", b"ul", b"li", b"select", b"svg", b"math", b"button",
    b"form", b"font", b"template", b"nav", b"main", b"title", b"x" * 300,
)  # fmt: skip

Mutation = Callable[[random.Random, bytes, bytes], bytes]


def mutate(chance: random.Random, pages: Sequence[bytes]) -> bytes:
    """A part of some page, changed one to eight times."""
    body = _window(chance, chance.choice(pages))
    for _ in range(chance.randint(1, 8)):
        body = chance.choice(MUTATIONS)(chance, body, chance.choice(pages))[:MOST_BYTES]
    return body


def _window(chance: random.Random, page: bytes) -> bytes:
    """Mostly the beginning, and short more often than long: a second holds more short ones."""
    length = int(MOST_BYTES ** chance.random()) if chance.random() < 0.9 else len(page)
    start = chance.randrange(len(page)) if page and chance.random() < 0.3 else 0
    return page[start : start + length]


def _span(chance: random.Random, body: bytes) -> tuple[int, int]:
    """Two places, seldom far apart."""
    start = chance.randint(0, len(body))
    return start, min(len(body), start + int((len(body) + 1) ** chance.random()))


def _flipped(chance: random.Random, body: bytes, _other: bytes) -> bytes:
    changed = bytearray(body)
    for _ in range(chance.randint(1, 16) if body else 0):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(chance: random.Random, body: bytes, _other: bytes) -> bytes:
    """The end is gone, as after a broken connection."""
    return body[: chance.randint(0, len(body))]


def _without(chance: random.Random, body: bytes, _other: bytes) -> bytes:
    start, end = _span(chance, body)
    return body[:start] + body[end:]


def _spliced(chance: random.Random, body: bytes, other: bytes) -> bytes:
    at = chance.randint(0, len(body))
    start, end = _span(chance, other)
    return body[:at] + other[start:end] + body[at:]


def _repeated(chance: random.Random, body: bytes, _other: bytes) -> bytes:
    start, end = _span(chance, body)
    times = min(int(3000 ** chance.random()), MOST_BYTES // max(1, end - start))
    return body[:end] + body[start:end] * times + body[end:]


def _with_pieces(chance: random.Random, body: bytes, _other: bytes) -> bytes:
    for _ in range(chance.randint(1, 6)):
        at = chance.randint(0, len(body))
        body = body[:at] + chance.choice(PIECES) + body[at:]
    return body


def _nested(chance: random.Random, body: bytes, _other: bytes) -> bytes:
    """Tags in tags, deeper than anybody writes, closed or not."""
    tag, depth = chance.choice(TAGS), int(9000 ** chance.random())
    at = chance.randint(0, len(body))
    opened, closed = b"<%s>" % tag * depth, b"</%s>" % tag * chance.choice((0, 1, depth))
    return (body[:at] + opened)[:MOST_BYTES] + body[at:] + closed


def _long_attribute(chance: random.Random, body: bytes, _other: bytes) -> bytes:
    at = chance.randint(0, len(body))
    value = chance.choice(PIECES) * int(9000 ** chance.random())
    return body[:at] + b"<a href=" + chance.choice((b"", b"'", b'"')) + value + body[at:]


MUTATIONS: Final[tuple[Mutation, ...]] = (
    _flipped, _cut, _without, _spliced, _repeated, _with_pieces, _nested, _long_attribute,
)  # fmt: skip
