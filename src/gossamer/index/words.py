"""What is a word? The same answer for pages and for queries.

A text becomes words in normal form, with spaces between them:

- Unicode normal form NFKC and no case: `ﬁve`, `Five` and `ＦＩＶＥ` are one word.
- A word is a run of letters, numbers and marks; everything else stands between words. So `can't`
  and `my_name` are two words each, and a query that writes them so asks for a phrase.
- Scripts written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) and Korean, which
  joins particles to its words, are cut into single characters; a query for several is a phrase.
- Accents of Latin and Greek letters are folded (`café` is `cafe`, `Łódź` is `lodz`), because people
  type what their keyboard has. That also merges letters which some languages tell apart (`schon`
  and `schön`). Cyrillic keeps й and loses ё, Arabic and Hebrew lose their vowel points; in all
  other scripts a mark makes another letter, and stays.
- Invisible characters (soft hyphen, direction marks) are dropped, not taken for spaces.

Only characters outside ASCII cost more than a table of bytes: they reach Python through the error
handler of the ASCII codec, a run at a time, and are remembered. A page of 10 KB takes 25
microseconds so; normalising and folding all of it takes 165.
"""

from __future__ import annotations

import codecs
import unicodedata
from functools import lru_cache
from typing import Final

# Blocks of scripts whose words have no spaces between them, first and last character.
_UNSPACED: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # Han: iteration mark, zero
    (0x3040, 0x312F),  # kana, bopomofo
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7AF),  # Hangul
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
# Latin letters with a stroke or joined, which Unicode does not take apart.
_PLAIN: Final = {
    "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ŧ": "t",
    "ı": "i", "ĸ": "k", "ŋ": "n", "ё": "е",
}  # fmt: skip
# Marks that are dropped: accents; vowel points of Hebrew and Arabic, and tatweel.
_DROPPED_MARKS: Final = ((0x0300, 0x036F), (0x0591, 0x05C7), (0x0610, 0x061A), (0x064B, 0x065F),
                        (0x0670, 0x0670), (0x06D6, 0x06DC), (0x0640, 0x0640))  # fmt: skip
_ZERO_WIDTH_SPACE: Final = "\u200b"
_REMEMBERED_RUN: Final = 24  # characters; longer runs are Chinese prose and do not come again

_HANDLER: Final = "gossamer.words"
_TABLE: Final = bytes(
    byte if byte >= 0x80 else ord(chr(byte).lower()) if chr(byte).isalnum() else 0x20
    for byte in range(256)
)


def normal(text: str) -> str:
    """The words of a text in normal form, in their order, separated by spaces."""
    return text.encode("ascii", _HANDLER).translate(_TABLE).decode()


def words_of(text: str) -> list[str]:
    """The words of a text in normal form, in their order."""
    return normal(text).split()


class _Letters(dict[int, str]):
    """What each character becomes, found out when it is first met."""

    def __missing__(self, code: int) -> str:
        composed = unicodedata.normalize(
            "NFKC", unicodedata.normalize("NFKC", chr(code)).casefold()
        )
        became = self[code] = "".join(map(_letter, composed))
        return became


def _letter(char: str) -> str:
    if _is_within(char, _UNSPACED):
        return f" {char} "
    if _is_within(char, _DROPPED_MARKS):
        return ""
    category = unicodedata.category(char)
    match category[0]:
        case "L" | "N":
            return _plain(char)
        case "M":
            return char
        case _:
            return "" if category == "Cf" and char != _ZERO_WIDTH_SPACE else " "


def _plain(char: str) -> str:
    """A letter without its accents, where it is Latin or Greek."""
    base = unicodedata.normalize("NFD", char)[0]
    if base.isascii() or "\u0370" <= base <= "\u03ff":
        return base
    return _PLAIN.get(char) or _PLAIN.get(base, char)


def _is_within(char: str, blocks: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(char) <= last for first, last in blocks)


_LETTERS: Final = _Letters()


def _became(run: str) -> bytes:
    """A run of characters outside ASCII in normal form."""
    return unicodedata.normalize("NFC", run).translate(_LETTERS).encode(errors="replace")


_became_before = lru_cache(maxsize=20_000)(_became)


def _replaced(fault: UnicodeError) -> tuple[bytes, int]:
    """The error handler: what stands in place of a run that ASCII cannot say."""
    assert isinstance(fault, UnicodeEncodeError)
    run = fault.object[fault.start : fault.end]
    return (_became_before if len(run) <= _REMEMBERED_RUN else _became)(run), fault.end


codecs.register_error(_HANDLER, _replaced)
