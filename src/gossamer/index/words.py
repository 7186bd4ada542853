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
  other scripts a mark makes another letter, and stays. `folds=False` keeps accents, for stemmers.
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
# Marks that go when accents are folded: accents; vowel points of Hebrew and Arabic, and tatweel.
_FOLDED_MARKS: Final = ((0x0300, 0x036F), (0x0591, 0x05C7), (0x0610, 0x061A), (0x064B, 0x065F),
                        (0x0670, 0x0670), (0x06D6, 0x06DC), (0x0640, 0x0640))  # fmt: skip
# Where an accent may stand alone behind an ASCII letter, the text is not composed.
_LOOSE_MARKS: Final = (
    "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328"
)
_ZERO_WIDTH_SPACE: Final = "\u200b"
_REMEMBERED_RUN: Final = 24  # characters; longer runs are Chinese prose and do not come again

_FOLDED: Final = "gossamer.folded"
_ACCENTED: Final = "gossamer.accented"
_TABLE: Final = bytes(
    byte if byte >= 0x80 else ord(chr(byte).lower()) if chr(byte).isalnum() else 0x20
    for byte in range(256)
)


def normal(text: str, *, folds: bool = True) -> str:
    """The words of a text in normal form, in their order, separated by spaces."""
    return normal_bytes(text, folds=folds).decode()


def words_of(text: str) -> list[str]:
    """The words of a text in normal form, in their order."""
    return normal_bytes(text).decode().split()


def normal_bytes(text: str, *, folds: bool = True) -> bytes:
    """`normal` in UTF-8, which is what it is made in."""
    if folds:
        return text.encode("ascii", _FOLDED).translate(_TABLE)
    if not text.isascii() and any(mark in text for mark in _LOOSE_MARKS):
        text = unicodedata.normalize("NFC", text)
    return text.encode("ascii", _ACCENTED).translate(_TABLE)


class _Letters(dict[int, str]):
    """What each character becomes, found out when it is first met."""

    def __init__(self, *, folds: bool) -> None:
        super().__init__()
        self._folds = folds

    def __missing__(self, code: int) -> str:
        composed = unicodedata.normalize(
            "NFKC", unicodedata.normalize("NFKC", chr(code)).casefold()
        )
        became = self[code] = "".join(map(self._letter, composed))
        return became

    def _letter(self, char: str) -> str:
        if _is_within(char, _UNSPACED):
            return f" {char} "
        if self._folds and _is_within(char, _FOLDED_MARKS):
            return ""
        match unicodedata.category(char)[0]:
            case "L" | "N":
                return _plain(char) if self._folds else char
            case "M":
                return char
            case "C" if unicodedata.category(char) == "Cf" and char != _ZERO_WIDTH_SPACE:
                return ""
            case _:
                return " "


def _plain(char: str) -> str:
    """A letter without its accents, where it is Latin or Greek."""
    base = unicodedata.normalize("NFD", char)[0]
    if base.isascii() or "\u0370" <= base <= "\u03ff":
        return base
    return _PLAIN.get(char) or _PLAIN.get(base, char)


def _is_within(char: str, blocks: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(char) <= last for first, last in blocks)


def _register(name: str, *, folds: bool) -> None:
    """Make `text.encode("ascii", name)` write what is not ASCII in normal form."""
    letters = _Letters(folds=folds)

    def became(run: str) -> bytes:
        return unicodedata.normalize("NFC", run).translate(letters).encode(errors="replace")

    remembered = lru_cache(maxsize=20_000)(became)

    def replaced(fault: UnicodeError) -> tuple[bytes, int]:
        assert isinstance(fault, UnicodeEncodeError)
        run = fault.object[fault.start : fault.end]
        return (remembered if len(run) <= _REMEMBERED_RUN else became)(run), fault.end

    codecs.register_error(name, replaced)


_register(_FOLDED, folds=True)
_register(_ACCENTED, folds=False)
