"""Encode the query of links in pages with old charsets.

A browser percent-encodes paths as UTF-8 but the query in the charset of the page: `?q=ü` in a
windows-1252 page becomes `?q=%FC`, and the server accepts nothing else. So such links are encoded
before they are resolved. Python's codecs replace the encoders of the Encoding standard: equal for
all letters in use, not for some rare signs (373 of the 7,326 in Shift_JIS, 1,168 of the 14,659 in
Big5, control characters in windows-125x). A character that the charset lacks becomes a character
reference, as in browsers.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

# Names of the Encoding standard whose encoder is Python's codec of another name.
_CODECS: Final = {
    "big5": "cp950",
    "euc-kr": "cp949",
    "iso-2022-jp": "iso2022_jp_1",
    "iso-8859-8-i": "iso-8859-8",
    "macintosh": "mac_roman",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
}
# Pages in these send UTF-8.
_AS_UTF8: Final = frozenset({"", "utf-8", "utf-16be", "utf-16le", "replacement", "x-user-defined"})
_JAPANESE: Final = str.maketrans("\u2212", "\uff0d")
_YEN: Final = str.maketrans("\u2212\u00a5\u203e", "\uff0d\\~")
_REPLACED: Final = {"shift_jis": _YEN, "euc-jp": _YEN, "iso-2022-jp": _JAPANESE}
_LACKING: Final = {"gb18030": "\ue5e5", "gbk": "\ue5e5"}
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_SHIFTS: Final = re.compile(r"[\x0e\x0f\x1b]")
# Printable ASCII without characters that every query percent-encodes.
_KEPT: Final = re.sub("[\"#<>']", "", "".join(map(chr, range(0x21, 0x7F))))


def spelled_in(charset: str, href: str) -> str:
    """`href` with its query encoded as in a page in `charset`. In UTF-8 pages nothing changes."""
    if charset in _AS_UTF8 or (href.isascii() and charset != "iso-2022-jp"):
        return href
    before, mark, after = href.partition("?")
    if not mark or "#" in before:
        return href
    query, hash_mark, fragment = after.partition("#")
    if charset == "iso-2022-jp":  # they would change its state
        query = _SHIFTS.sub(_reference(0xFFFD), query)
    query = _BEYOND_ASCII.sub(lambda run: _encoded(run[0], charset), query)
    return before + mark + query + hash_mark + fragment


def _encoded(run: str, charset: str) -> str:
    try:
        return quote(_bytes_of(run, charset), safe=_KEPT)
    except LookupError:
        return run
    except UnicodeEncodeError:
        if len(run) == 1:
            return _reference(ord(run))
        return "".join(_encoded(char, charset) for char in run)


def _bytes_of(run: str, charset: str) -> bytes:
    if any(char in run for char in _LACKING.get(charset, "")):
        raise UnicodeEncodeError(charset, run, 0, len(run), "not in this charset")
    replaced = run.translate(_REPLACED.get(charset, {}))
    return replaced.encode(_CODECS.get(charset, charset))


def _reference(code: int) -> str:
    """`&#8224;`, percent-encoded."""
    return f"%26%23{code}%3B"
