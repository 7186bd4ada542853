"""Detect the language of a text: by its content, else by the declaration of the page.

Declarations are often copied with a template, so the text decides if it is long enough. Common
words are counted first (`common_words.py`). Only if they are not clear, the detector is used. It
costs ten times as much, and its result counts only if the text has some common words of that
language: by trigrams a list of C++ functions is French. A script of one language, or of few,
decides first (`scripts.py`), because such pages are full of Latin names that mislead the detector.
That needs no minimum of 80 characters.

A page with a declared language is checked in its middle: its start is the template's, whose menus
often stay in the declared language (of 335 translated pages declared English the start recognised
82, the middle 313). Without a declaration its prose is checked, which is its long lines: a few of
them, from all parts of the text, and if these do not agree, all of them. Then each line votes with
the weight of its length, so a manual that is two thirds translated is in the language of the two
thirds, however much English program output it quotes (99 of 100 of 955 such pages of the Debian
handbook; by their starts 92).

Results are ISO 639-1 if there is a code, else 639-3, else empty.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from turbohtml.detect import detect_language

from gossamer.parse.language.common_words import is_heard, middle, said, spoken
from gossamer.parse.language.scripts import NOTHING, guess_by_script

# A guess, not measured: shorter texts are mostly names and menus.
_FEWEST_CHARS: Final = 80
_SAMPLE_CHARS: Final = 100  # 300 was not better on 500 pages of translated manuals
_WINDOW: Final = 4  # times the allowed characters: where the longest lines are searched
_SURE: Final = 0.6
# With fewer bytes per character there cannot be enough letters of another script (`scripts.py`).
_MAY_BE_OTHER_SCRIPT: Final = (12, 10)
# Share of the common words in a sample: less is enough to confirm a declaration.
_CONFIRMS: Final = 0.75
_TELLS: Final = 0.9
# For a single line of prose, which may be a sentence with a quotation in it.
_VOTES: Final = 0.6
_FEWEST_VOTING: Final = 3
# A line of prose has more characters than this, or a third of it in another script than Latin.
_PROSE_CHARS: Final = 60
_PROSE_WINDOW: Final = 32  # times the allowed characters: where prose is searched
_FEW_LINES: Final = 6
_MANY_LINES: Final = 64
_DENSITY: Final = 3  # Latin letters that carry as much as one Chinese, Japanese or Korean character

_DENSE: Final = ("ja", "ko", "zh")

_DECLARED: Final = re.compile(r"([a-z]{2,3})(?![a-z])")

# Languages that trigrams cannot distinguish: there the declaration holds.
_NEAR: Final = (
    frozenset({"no", "nb", "nn", "da"}),
    frozenset({"sr", "hr", "bs", "sh", "sl"}),
    frozenset({"id", "ms", "jv", "su"}),
    frozenset({"cs", "sk"}),
    frozenset({"gl", "pt"}),
    frozenset({"ca", "oc"}),
    frozenset({"ru", "be", "uk", "bg", "mk"}),
    frozenset({"af", "nl"}),
    frozenset({"fa", "prs", "ps"}),
    frozenset({"hi", "mr", "ne"}),
)

# Letters that a language does not have, and the language that they indicate instead.
_NOT_ITS_OWN: Final = {"bg": (frozenset("ыэё"), "ru"), "mk": (frozenset("ыэё"), "ru")}

# ISO 639-3 and its 639-1, one pair per word.
_CODES: Final = """
afr:af aka:ak amh:am ara:ar arb:ar asm:as aze:az azj:az bam:bm bel:be ben:bn bos:bs bre:br
bul:bg cat:ca ces:cs cmn:zh cos:co cym:cy dan:da deu:de ell:el eng:en epo:eo est:et ekk:et
eus:eu ewe:ee fao:fo fas:fa fin:fi fra:fr fry:fy ful:ff gla:gd gle:ga glg:gl guj:gu hat:ht
hau:ha heb:he hin:hi hrv:hr hun:hu hye:hy ibo:ig ind:id isl:is ita:it jav:jv jpn:ja kan:kn
kat:ka kaz:kk khm:km kin:rw kir:ky kor:ko kur:ku kmr:ku lao:lo lat:la lav:lv lvs:lv lin:ln
lit:lt ltz:lb lug:lg mal:ml mar:mr mkd:mk mlg:mg plt:mg mlt:mt mon:mn khk:mn mri:mi msa:ms
zsm:ms mya:my nep:ne npi:ne nld:nl nno:nn nob:nb nor:no nya:ny oci:oc ori:or ory:or orm:om
pan:pa pes:fa pol:pl por:pt pus:ps pbu:ps que:qu roh:rm ron:ro run:rn rus:ru san:sa sin:si
slk:sk slv:sl smo:sm sna:sn snd:sd som:so sot:st spa:es sqi:sq als:sq srp:sr sun:su swa:sw
swh:sw swe:sv tam:ta tat:tt tel:te tgk:tg tgl:tl tha:th tir:ti tsn:tn tuk:tk tur:tr uig:ug
ukr:uk urd:ur uzb:uz uzn:uz vie:vi wol:wo xho:xh yid:yi ydd:yi yor:yo zho:zh zul:zu
"""
_TWO_LETTERS: Final = dict(pair.split(":") for pair in _CODES.split())


@lru_cache(maxsize=256)
def declared_language(tag: str) -> str:
    """The language of a tag such as `en-US`; empty if it is invalid."""
    found = _DECLARED.match(tag.strip().lower().replace("_", "-"))
    return _TWO_LETTERS.get(found[1], found[1]) if found else ""


def language_of(text: str, declared: str, chars: int) -> str:
    """The language of a text that is declared as `declared`; `chars` limits how much is checked."""
    if chars == 0:
        return declared
    if len(text) < _FEWEST_CHARS:
        guess = guess_by_script(text)
        return guess.narrowed(declared) if guess.language else declared
    return _confirmed(text, declared, chars) if declared else _undeclared(text, chars)


def _confirmed(text: str, declared: str, chars: int) -> str:
    """The declared language, or another one that the middle of the text clearly has."""
    lengths = (chars // 4, chars, _WINDOW * chars)
    is_said = said(text, declared, _CONFIRMS, lengths, _MAY_BE_OTHER_SCRIPT)
    if is_said:
        return declared
    sample, window = middle(text, chars), middle(text, _WINDOW * chars)
    guess = NOTHING
    if is_said is None:
        guess = guess_by_script(sample)
        if guess.language:
            return guess.narrowed(declared)
        heard = (spoken(middle(text, length), _CONFIRMS) for length in lengths)
        if guess.allows(declared) and declared in heard:
            return declared
    first = _detected(max(window.split("\n"), key=len)[:_SAMPLE_CHARS])
    if not first or first == declared or _are_near(first, declared):
        return guess.narrowed(declared, first)
    is_sure = first == _detected(sample) and is_heard(first, window)
    return guess.narrowed(first if is_sure else declared, first)


def _undeclared(text: str, chars: int) -> str:
    """The language of a text without a declaration: that of most of its prose."""
    prose = _prose(text, _PROSE_WINDOW * chars, _PROSE_CHARS, _PROSE_CHARS // 3)
    few = " ".join([line[: chars // _FEW_LINES] for line in _spread(prose, _FEW_LINES)])
    guess = guess_by_script(few)
    if guess.language:
        return guess.language
    if found := spoken(few, _TELLS) or _voted(prose, chars):
        return guess.narrowed(found)
    sample = text[:chars]
    for piece in (sample, middle(text, chars)):
        guess = guess if guess.script else guess_by_script(piece)
        if guess.language:
            return guess.language
    if found := spoken(sample, _TELLS):
        return guess.narrowed(found)
    *_, other, longest = ["", *sorted(text[: _WINDOW * chars].split("\n"), key=len)]
    first = _detected(longest[:_SAMPLE_CHARS])
    if not first or first != _detected(other[:_SAMPLE_CHARS]):
        first = _detected(sample)
    return guess.narrowed(first if is_heard(first, text[: _WINDOW * chars]) else "", first)


def _prose(text: str, most: int, enough: int, enough_of_others: int) -> list[str]:
    """Lines that are long enough to be sentences, from the first `most` characters."""
    return [
        line
        for line in text[:most].split("\n")
        if len(line) > enough or (len(line) > enough_of_others and not line.isascii())
    ]


def _spread(lines: list[str], most: int) -> list[str]:
    """At most `most` of them, from all parts."""
    return lines[:: -(-len(lines) // most) or 1]


def _voted(prose: list[str], chars: int) -> str:
    """The language of more than half of all clear lines, weighted by their length."""
    votes: dict[str, int] = {}
    for line in _spread(prose, _MANY_LINES):
        piece = line[: chars // 5]
        guess = guess_by_script(piece)
        weight = _DENSITY * len(line) if guess.language in _DENSE else len(line)
        if found := guess.language or spoken(piece, _VOTES, _FEWEST_VOTING):
            votes[found] = votes.get(found, 0) + weight
    half = sum(votes.values()) / 2
    return next((found for found, weight in votes.items() if weight > half), "")


def _detected(sample: str) -> str:
    """The detector's result; empty if it is not certain."""
    if len(sample) < _FEWEST_CHARS:
        return ""
    match = detect_language(sample)
    if match.language is None or match.confidence < _SURE:
        return ""
    found = _TWO_LETTERS.get(match.language, match.language)
    letters, instead = _NOT_ITS_OWN.get(found, (frozenset(), found))
    return found if letters.isdisjoint(sample) else instead


def _are_near(found: str, declared: str) -> bool:
    return any(found in group and declared in group for group in _NEAR)
