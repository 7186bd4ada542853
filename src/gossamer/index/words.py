"""Split texts into words, in the same way for pages and for queries.

A text becomes normalised words, with spaces between them:

- Unicode normal form NFKC and no case: `ﬁve`, `Five` and `ＦＩＶＥ` are one word.
- A word is a run of letters, numbers and marks; everything else separates words. So `can't` and
  `my_name` are two words each, and a query that contains them searches for a phrase.
- Scripts written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) and Korean, which
  joins particles to its words, are split into single characters; a query for several is a phrase.
- Accents of Latin and Greek letters are folded (`café` is `cafe`, `Łódź` is `lodz`), because people
  type what their keyboard has. That also merges letters which some languages distinguish (`schon`
  and `schön`). Cyrillic keeps й and loses ё, Arabic and Hebrew lose their vowel points; in all
  other scripts a mark makes another letter, and stays.
- Invisible characters (soft hyphen, direction marks) are dropped, not replaced by spaces.

Only non-ASCII characters cost more than a byte table: they reach Python through the error handler
of the ASCII codec, a run at a time, and are cached. A page of 10 KB takes 33 microseconds this way;
normalising and folding all of it takes 165.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Iterable
from typing import Final, Literal

# Between two headings, or two anchors, so that no phrase matches across them. No word has this
# form.
GAP: Final = "|"

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
# Latin letters with a stroke, and ligatures, which Unicode does not decompose.
_PLAIN: Final = {
    "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ŧ": "t",
    "ı": "i", "ĸ": "k", "ŋ": "n", "ё": "е",
}  # fmt: skip
# Marks that are dropped: accents; vowel points of Hebrew and Arabic, and tatweel.
_DROPPED_MARKS: Final = ((0x0300, 0x036F), (0x0591, 0x05C7), (0x0610, 0x061A), (0x064B, 0x065F),
                        (0x0670, 0x0670), (0x06D6, 0x06DC), (0x0640, 0x0640))  # fmt: skip
_ZERO_WIDTH_SPACE: Final = "\u200b"
_HALF_WIDTH: Final = frozenset("\uff9e\uff9f")  # voicing marks of half-width kana
# Marks that Unicode gives no combining class although they decompose into such marks.
_HIDDEN_MARKS: Final = "\u0f73\u0f75\u0f81\uff9e\uff9f"
_MOST_MARKS: Final = 64  # in sequence; no language has more than a handful
_REMEMBERED_CHARS: Final = 24
_REMEMBERED_RUNS: Final = 50_000  # about 150 bytes each

_HANDLER: Final = "gossamer.words"
_SEPARATOR: Final = 0x1F  # the unit separator of ASCII
_TABLE: Final = bytes(
    byte if byte >= 0x80 else ord(chr(byte).lower()) if chr(byte).isalnum() else 0x20
    for byte in range(256)
)
_TABLE_WITH_GAPS: Final = _TABLE[:_SEPARATOR] + GAP.encode() + _TABLE[_SEPARATOR + 1 :]


def normal(text: str) -> str:
    """The normalised words of a text, in order, separated by spaces."""
    return _spelled(text, _TABLE)


def normal_all(texts: Iterable[str]) -> str:
    """Several normalised texts, with a `GAP` between two."""
    return _spelled(f" {chr(_SEPARATOR)} ".join(texts), _TABLE_WITH_GAPS)


def words_of(text: str) -> list[str]:
    """The normalised words of a text, in order."""
    return normal(text).split()


def is_unspaced(word: str) -> bool:
    """Whether a normalised word is a character of a script that is split into characters."""
    return len(word) == 1 and _is_within(word, _UNSPACED)


def distinct(words: str) -> bytes:
    """Each word of a normalised text once, sorted, as one text in UTF-8; no `GAP`."""
    return " ".join(sorted(set(words.split(" ")) - {GAP, ""})).encode()  # no other white space


class _Letters(dict[int, str]):
    """The normalised form of each character, computed on first use."""

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
    """A letter without its accents, if it is Latin or Greek."""
    base = unicodedata.normalize("NFD", char)[0]
    if base.isascii() or "\u0370" <= base <= "\u03ff":
        return base
    return _PLAIN.get(char) or _PLAIN.get(base, char)


def _is_within(char: str, blocks: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(char) <= last for first, last in blocks)


class _Runs(dict[str, bytes]):
    """The normalised form of runs of non-ASCII characters, in UTF-8. Short runs are cached: the
    same quotation marks and accented letters repeat, Chinese prose does not.
    """

    def __init__(self) -> None:
        super().__init__()
        self._letters = _Letters()

    def __missing__(self, run: str) -> bytes:
        # The rest is done character by character, except for separate marks.
        form: Literal["NFC", "NFKC"] = "NFKC" if _HALF_WIDTH.intersection(run) else "NFC"
        composed = _composed(form, run)
        became = composed.translate(self._letters).encode(errors="replace")
        if len(run) <= _REMEMBERED_CHARS:
            if len(self) >= _REMEMBERED_RUNS:
                self.clear()
            self[run] = became
        return became


def _composed(form: Literal["NFC", "NFKC"], run: str) -> str:
    """The run in a normal form. For it marks in sequence are sorted, in a time that grows with the
    square of their number: 10 MB of them would take hours. So long sequences are cut.
    """
    most = _MOST_MARKS
    if len(run) <= most:
        return unicodedata.normalize(form, run)
    cuts = [at for at in range(most, len(run), most) if all(map(_is_mark, run[at - most : at + 1]))]
    pieces = (run[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True))
    return "".join(unicodedata.normalize(form, piece) for piece in pieces)


def _is_mark(char: str) -> bool:
    return unicodedata.combining(char) > 0 or char in _HIDDEN_MARKS


_RUNS: Final = _Runs()


def _replaced(fault: UnicodeEncodeError) -> tuple[bytes, int]:
    """The error handler: the replacement of a run of non-ASCII characters. Called 40 times per
    page, so it does nothing else.
    """
    return _RUNS[fault.object[fault.start : fault.end]], fault.end


codecs.register_error(_HANDLER, _replaced)  # type: ignore[arg-type]  # it is for encoding only


def _spelled(text: str, table: bytes) -> str:
    """A text with ASCII mapped by the table, and the rest replaced by the normalised runs."""
    return text.encode("ascii", _HANDLER).translate(table).decode()
