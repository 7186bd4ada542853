"""Decode the bytes of a robots.txt to lines of text, and recognise the keys of its lines.

Site owners save the file in UTF-16, with a wrong byte order mark, or as an HTML page, and they
misspell its keys. Such files are read as far as possible, in the direction that forbids: a word
similar to `disallow` forbids, and only `allow` itself allows. docs/conformance.md lists each of
these cases.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import Final

_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARKS: Final = (b"\xef\xbb\xbf", b"\xef\xbb", b"\xef")  # truncated marks occur in practice
_STARTS_AS_HTML: Final = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?<(?:!--|(?:!doctype|html|head|body|pre|p|div|meta|title)\b)",
    re.IGNORECASE,
)
_HAS_RULES: Final = re.compile(rb"(?:agent|allow|alow)[a-z]?\s*:", re.IGNORECASE)
_LINE_ENDS: Final = re.compile(
    rb"<(?:br|/?p|/?div|/?li|/?tr|/?pre|/?h[1-6])\b[^<>]*>", re.IGNORECASE
)
_TAGS: Final = re.compile(rb"<[^<>]*>")

_EXACT: Final = {"allow": "allow", "sitemap": "sitemap"}
# The meaning of a key that is nearly this word, and how many letters may be wrong.
_NEAR: Final = (
    ("disallow", "disallow", 2),
    ("useragent", "agent", 2),
    ("crawldelay", "delay", 2),
    ("sitemap", "sitemap", 1),
)
_MOST_KEY_BYTES: Final = 16
_SEPARATORS: Final = str.maketrans("", "", "-_ \t")


def plain_text(body: bytes, max_bytes: int) -> bytes:
    """The part that is read, as UTF-8, without byte order mark, NULs and tags."""
    text = body[:max_bytes]
    if len(body) > max_bytes:
        # Half of `Allow: /private/open` would open what the owner closed.
        end = max(text.rfind(b"\n"), text.rfind(b"\r"))
        text = text[: end + 1]
    if text.startswith(_UTF16_MARKS):
        # ASCII in UTF-16 has many NULs. Without NULs the mark is wrong and the text has 8 bits.
        is_wide = b"\0" in text
        text = text.decode("utf-16", "replace").encode() if is_wide else text[2:]
    for mark in _UTF8_MARKS:
        if text.startswith(mark):
            text = text[len(mark) :]
            break
    text = text.replace(b"\0", b"")
    return _without_tags(text) if _is_html(text) else text


def _is_html(text: bytes) -> bool:
    return _STARTS_AS_HTML.match(text) is not None and _HAS_RULES.search(text) is not None


def _without_tags(page: bytes) -> bytes:
    text = _TAGS.sub(b"", _LINE_ENDS.sub(b"\n", page))
    return html.unescape(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def key_of(written: bytes) -> str | None:
    """The meaning of the word before the colon: agent, allow, disallow, delay, sitemap, or None."""
    written = written.strip().lower()
    return _key_of(written) if 0 < len(written) <= _MOST_KEY_BYTES else None


@lru_cache(maxsize=1024)
def _key_of(written: bytes) -> str | None:
    word = written.decode("latin-1")
    if word in _EXACT:
        return _EXACT[word]
    word = word.translate(_SEPARATORS)
    if not (word.isascii() and word.isalpha()):  # the rest of a byte order mark, not a typing error
        return None
    return next((key for near, key, most in _NEAR if _distance(word, near) <= most), None)


def _distance(one: str, other: str) -> int:
    """The number of letters to remove, insert, change or swap to turn one word into the other."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, wanted in enumerate(other, 1):
            least = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                least = min(least, before[j - 2] + 1)
            row.append(least)
        before, last = last, row
    return last[-1]
