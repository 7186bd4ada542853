"""Guess the language of a text by its script.

Most scripts have one language, or one that matters here: Thai, Georgian, Tamil, Hangul. There the
script gives the language, whatever Latin names and English words the text contains. The Arabic,
Cyrillic, Devanagari and a few other scripts are shared. There the letters that a language has or
lacks narrow the choice, and `language.py` uses words and the detector for the rest.

Characters are counted once, and each distinct one is looked up once: 30 microseconds for 1,000
characters of prose.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from gossamer.parse.language.alphabets import ALPHABETS, ALSO, MARKS, SHARED

# First and last code point of a range, and the script or its one language.
_SPANS: Final = (
    (0x0370, 0x03FF, "el"), (0x0400, 0x052F, "Cyrillic"), (0x0531, 0x058F, "hy"),
    (0x0591, 0x05F4, "Hebrew"), (0x0600, 0x06FF, "Arabic"), (0x0700, 0x074F, "syr"),
    (0x0750, 0x077F, "Arabic"), (0x0780, 0x07BF, "dv"), (0x07C0, 0x07FF, "nqo"),
    (0x08A0, 0x08FF, "Arabic"), (0x0900, 0x097F, "Devanagari"), (0x0980, 0x09FF, "Bengali"),
    (0x0A00, 0x0A7F, "pa"), (0x0A80, 0x0AFF, "gu"), (0x0B00, 0x0B7F, "or"), (0x0B80, 0x0BFF, "ta"),
    (0x0C00, 0x0C7F, "te"), (0x0C80, 0x0CFF, "kn"), (0x0D00, 0x0D7F, "ml"), (0x0D80, 0x0DFF, "si"),
    (0x0E00, 0x0E7F, "th"), (0x0E80, 0x0EFF, "lo"), (0x0F00, 0x0FFF, "bo"), (0x1000, 0x109F, "my"),
    (0x10A0, 0x10FF, "ka"), (0x1100, 0x11FF, "Hangul"), (0x1200, 0x139F, "Ethiopic"),
    (0x13A0, 0x13FF, "chr"), (0x1400, 0x167F, "iu"), (0x1780, 0x17FF, "km"), (0x1800, 0x18AF, "mn"),
    (0x1B00, 0x1B7F, "ban"), (0x1B80, 0x1BBF, "su"), (0x1C50, 0x1C7F, "sat"),
    (0x1C80, 0x1C8F, "Cyrillic"), (0x1C90, 0x1CBF, "ka"), (0x1F00, 0x1FFF, "el"),
    (0x2C80, 0x2CFF, "cop"), (0x2D00, 0x2D2F, "ka"), (0x2D30, 0x2D7F, "zgh"),
    (0x2D80, 0x2DDF, "Ethiopic"), (0x2DE0, 0x2DFF, "Cyrillic"), (0x3040, 0x30FF, "Kana"),
    (0x3105, 0x312F, "Han"), (0x3130, 0x318F, "Hangul"), (0x31A0, 0x31BF, "Han"),
    (0x31F0, 0x31FF, "Kana"), (0x3400, 0x9FFF, "Han"), (0xA000, 0xA4CF, "ii"),
    (0xA640, 0xA69F, "Cyrillic"), (0xA8E0, 0xA8FF, "Devanagari"), (0xA980, 0xA9DF, "jv"),
    (0xA9E0, 0xA9FF, "my"), (0xAA60, 0xAA7F, "my"), (0xAB00, 0xAB2F, "Ethiopic"),
    (0xAB70, 0xABBF, "chr"), (0xABC0, 0xABFF, "mni"), (0xAC00, 0xD7FF, "Hangul"),
    (0xF900, 0xFAFF, "Han"), (0xFB13, 0xFB17, "hy"), (0xFB1D, 0xFB4F, "Hebrew"),
    (0xFB50, 0xFDFF, "Arabic"), (0xFE70, 0xFEFF, "Arabic"), (0xFF66, 0xFF9F, "Kana"),
    (0x20000, 0x323AF, "Han"),
)  # fmt: skip
_STARTS: Final = tuple(chr(first) for first, _, _ in _SPANS)
_ENDS: Final = tuple(chr(last) for _, last, _ in _SPANS)
_CJK: Final = ("Han", "Kana", "Hangul")
_CJK_SHARE: Final = 10  # one character in so many: one says as much as several letters
_SHARE: Final = 3  # one letter in so many
# Fewer are a name or a quotation. A shorter text is judged by its script all the same.
_FEWEST: Final = 8
_AROUND_WORDS: Final = ".,;:!?()[]\"'«»“”।॥፡።፣፤،؛؟־–—"
_FOREIGN: Final = 0.01  # of the letters: names spelled with letters of another language


class ScriptGuess(NamedTuple):
    """The result: one language, or the languages that share the script, most likely first."""

    script: str = ""
    language: str = ""
    shared: tuple[str, ...] = ()

    def allows(self, language: str) -> bool:
        """Whether a text in this script may be in a language."""
        if not self.script or language in self.shared:
            return True
        return language == self.language or language in ALSO.get(self.script, ())

    def narrowed(self, *languages: str) -> str:
        """The first of some languages that the script allows, else the most likely one."""
        if not self.script:
            return languages[0]
        allowed = (one for one in languages if one and self.allows(one))
        return next(allowed, self.language or self.shared[0])


NOTHING: Final = ScriptGuess()


def guess_by_script(sample: str) -> ScriptGuess:
    """The language of a sample, or the candidates, by the script of most of it."""
    # Checked first, at a tenth of the cost: enough such letters have more bytes than characters.
    if sample.isascii() or len(sample.encode(errors="replace")) * 10 < len(sample) * 12:
        return NOTHING
    characters = Counter(sample)
    counts: Counter[str] = Counter()
    for character, count in characters.items():
        counts[_script_of(character)] += count
    if language := _of_cjk(counts, len(sample)):
        return ScriptGuess("CJK", language)
    script, count = max(
        ((one, count) for one, count in counts.items() if one not in ("", "Latin", *_CJK)),
        key=lambda pair: pair[1],
        default=("", 0),
    )
    letters = sum(count for one, count in counts.items() if one)
    if count < _FEWEST or count * _SHARE < letters:
        return NOTHING
    if script not in SHARED:
        return ScriptGuess(script, script)
    fitting = _fitting(script, characters, sample)
    return ScriptGuess(script, fitting[0] if len(fitting) == 1 else "", fitting)


@lru_cache(maxsize=8192)
def _script_of(character: str) -> str:
    """The script of a letter; empty for other characters."""
    at = bisect_right(_STARTS, character) - 1
    if at >= 0 and character <= _ENDS[at]:
        return _SPANS[at][2]
    return "Latin" if character.isalpha() else ""


def _of_cjk(counts: Mapping[str, int], length: int) -> str:
    characters = sum(counts[one] for one in _CJK)
    if characters < _FEWEST or characters * _CJK_SHARE < length:
        return ""
    if counts["Kana"] * _CJK_SHARE > characters:
        return "ja"
    return "ko" if counts["Hangul"] * 4 > characters else "zh"


def _fitting(script: str, characters: Mapping[str, int], sample: str) -> tuple[str, ...]:
    """The languages of a shared script that have all letters of a text, most likely first."""
    languages = SHARED[script]
    letters: Counter[str] = Counter()
    for one, count in characters.items():
        if _script_of(one) == script and one.isalpha():
            letters[one.lower()] += count
    outside = {
        one: sum(letters[letter] for letter in letters.keys() - ALPHABETS.get(one, letters.keys()))
        for one in languages
    }
    most = min(outside.values()) + _FOREIGN * sum(characters.values())
    fitting = [one for one in languages if outside[one] <= most]
    # The default language of a script comes first, then those with the fewest letters.
    fitting.sort(key=lambda one: (one != languages[0], len(ALPHABETS.get(one, ()))))
    if len(fitting) == 1 or MARKS.keys().isdisjoint(fitting):
        return tuple(fitting)
    words = Counter(word.strip(_AROUND_WORDS) for word in sample.split())
    marked = {one: sum(words[word] for word in MARKS.get(one, ())) for one in fitting}
    best = max(marked, key=marked.__getitem__)
    return (best,) if marked[best] > 1 else tuple(fitting)
