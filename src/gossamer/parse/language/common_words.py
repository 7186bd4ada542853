"""Guess the language of a text by its most frequent words.

The most frequent words of 28 languages: one pass over the words of a sample costs a tenth of a
trigram analysis, and is as reliable for prose. A word of several languages (`de`, `que`) votes for
each of them, so that similar languages are distinguished by the few words in which they differ and
get as many votes as others. A word that another language shares with English (`a`, `do`, `no`) is
in both lists, or in none (Romanian `care`), because English pages are full of it.

Scripts without spaces between words (Chinese, Japanese, Thai) cannot be recognised this way, and
languages that are not listed get no votes: a result of "" means unknown.

All votes of a sample are counted in one sum: each word has a number in which every language has a
field of 32 bits, and one field counts words. A sample of 250 characters takes 6 microseconds.
"""

from __future__ import annotations

import struct
from typing import Final

from gossamer.native.extensions import PAGE, load

# Fewer hits are chance: four of these words in a text of another language are a quotation.
FEWEST_HITS: Final = 4

_COMMON: Final = {
    "en": "the of and to that is with for are this be from which it by not can you in as or if "
    "will have has an at your when all but they its was been may must should a do on no so "
    "i one any",
    "de": "der und den das ist nicht mit ein eine für auf werden von zu wird dem sich auch oder "
    "in des im einer einen sie kann es als wenn bei zum zur nach durch sind über diese "
    "einem aus",
    "fr": "les des est dans pour une sur avec par du et qui cette pas ou au sont ce vous peut de "
    "la le en un que il se aux plus ne être cela son sa ces comme nous",
    "es": "los las y con su más muy este esta una por para del como se que puede de la el en un "
    "al es no lo son sus o pero si cuando ser también sobre entre hay",
    "pt": "os não uma com são dos em mais pelo também às por para da um ou que se você pode de do "
    "na no as ao é ser como seu sua está quando pela nos das isso este esta",
    "it": "che di è sono della il gli nel questo alla una con si le del non come può dei la per "
    "in un da al dalla delle più essere anche ma nella questa ai sulla o se quando",
    "nl": "het een van dat niet voor met zijn wordt ook naar worden kan bij dit deze de en te op "
    "als aan er om in of u uit door heeft maar hun nog dan",
    "ru": "и в не на что как для это или его при если чтобы так по с к из от а но вы может быть "
    "также все они будет который до за же то о этот",
    "pl": "nie się jest że oraz lub przez dla jako który ze w z na do jak można są i o po od a to "
    "tym jego aby może być które która również tylko za by",
    "tr": "ve bir bu için ile olarak olan daha gibi değil veya ise da de her en kadar ya sonra "
    "olduğu var ancak çok",
    "sv": "och att är för inte från eller när också på som av det till kan med om en ett den i de "
    "har du detta så vid ska kommer finns dessa",
    "cs": "není jsou nebo který pro jako při aby však ale se že je na v pokud která být a to z do "
    "k s i o ve po tak jak lze může také které by od za",
    "da": "og er ikke af blive eller også efter som det på med kan hvis bliver at en et den der i "
    "de til for fra har du ved skal når dette",
    "nb": "og er ikke av å eller også fra etter som det på med kan hvis blir en et den i de til "
    "for har du ved skal når dette om seg bli ble disse dersom",
    "fi": "ja että ovat voi tai kun joka mutta myös ei se on ole jos sen kuin hän jotka olla tämä",
    "hu": "az és hogy nem egy vagy meg csak ez lehet ha is el mint de kell már még ezt minden",
    "ro": "și în este din pentru sau sunt mai prin cu nu pe de la un o să se că fi dacă ce ca "
    "acest",
    "ca": "els amb és dels als aquest aquesta són més però que una es les del de la el en un per "
    "i al no o si com pot ser quan també seu seva ha",
    "id": "yang dan untuk dengan ini dari pada tidak itu adalah atau akan dapat anda di ke dalam "
    "sebagai juga oleh jika bisa ada sebuah lebih seperti",
    "vi": "và của là các có được cho không trong một những để bạn với khi này thể từ đã hoặc như",
    "el": "και το να είναι του της με για που την από στο η ο θα των στην δεν τα οι ή τη σε",
    "uk": "і в не на що як для це або та які від з до у за про він якщо а є бути також",
    "bg": "и в на не за да се от са или като това който с е по до ще при може",
    "ar": "في من على أن إلى هذا التي مع أو لا هذه ما عن الذي لم هو إذا كان ذلك",
    "fa": "و در به از که این را با است برای می یا آن شما بر شده یک تا هر شود",
    "hr": "su koji ili kao nije biti kako ako što je se na za i u da od s sa ne će koja samo može",
    "sk": "nie je sa pre alebo ktorý ako sú aby však na a v to z do k s i o ve po tak môže ktoré",
    "sl": "ki so ali pa lahko tudi kot ter je se za in na v da ne z bo če pri ni to iz",
}


def _owners() -> dict[str, str]:
    """Word -> the languages that have it, as one text."""
    owners: dict[str, list[str]] = {}
    for language, words in _COMMON.items():
        for word in dict.fromkeys(words.split()):
            owners.setdefault(word, []).append(language)
    return {word: " ".join(languages) for word, languages in owners.items()}


_OWNERS: Final = _owners()

# In the sum of ballots: the number of counted words, then the votes of each language.
_VOTES: Final = struct.Struct(f"<{1 + len(_COMMON)}I")
_NAMES: Final = tuple(_COMMON)


def _ballot(owners: str) -> int:
    """One word, and one vote for each language that has it, in their fields of 32 bits."""
    return 1 + sum(1 << 32 * (1 + _NAMES.index(language)) for language in owners.split())


_BALLOTS: Final = {word: _ballot(owners) for word, owners in _OWNERS.items()}


_c: Final = load(PAGE)
_KNOWN: Final = (
    None
    if _c is None
    else _c.known_of(
        {
            word: sum(1 << _NAMES.index(language) for language in owners.split())
            for word, owners in _OWNERS.items()
        }
    )
)


def spoken(sample: str, least_share: float, fewest_hits: int = FEWEST_HITS) -> str:
    """The language with at least `least_share` of all common words in a sample, and more than any
    other; empty if there is none.
    """
    if _c is None:
        return spoken_in_python(sample, least_share, fewest_hits)
    number: int = _c.spoken(sample, _KNOWN, least_share, fewest_hits)
    return _NAMES[number] if number >= 0 else ""


def spoken_in_python(sample: str, least_share: float, fewest_hits: int) -> str:
    """The same without C. A sample has fewer than 2**32 words."""
    ballots = sum(filter(None, map(_BALLOTS.get, sample.split())))
    hits, *votes = _VOTES.unpack(ballots.to_bytes(_VOTES.size, "little"))
    most = max(votes)
    is_clear = most >= max(fewest_hits, least_share * hits) and votes.count(most) == 1
    return _NAMES[votes.index(most)] if is_clear else ""


def middle(text: str, chars: int) -> str:
    """`chars` characters from the middle of a text."""
    start = max(0, (len(text) - chars) // 2)
    return text[start : start + chars]


def said(
    text: str,
    language: str,
    least_share: float,
    lengths: tuple[int, int, int],
    wide: tuple[int, int],
) -> bool | None:
    """Whether one of the middles of a text, of these lengths, is in a language. None if the second
    of them has `wide[0]` bytes for `wide[1]` characters or more: it may need another check. Most
    texts need only the few words of the first; reading the last costs sixteen times that.
    """
    if _c is None or language not in _COMMON:
        return said_in_python(text, language, least_share, lengths, wide)
    number = _NAMES.index(language)
    is_said: bool | None = _c.said(text, _KNOWN, number, least_share, FEWEST_HITS, lengths, wide)
    return is_said


def said_in_python(
    text: str,
    language: str,
    least_share: float,
    lengths: tuple[int, int, int],
    wide: tuple[int, int],
) -> bool | None:
    """The same without C."""
    sample = middle(text, lengths[1])
    if len(sample.encode(errors="replace")) * wide[1] >= len(sample) * wide[0]:
        return None
    samples = (middle(text, length) for length in lengths)
    return any(spoken_in_python(one, least_share, FEWEST_HITS) == language for one in samples)


def is_heard(language: str, sample: str) -> bool:
    """Whether a sample has any common word of a language; always True for an unlisted language."""
    if language not in _COMMON:
        return True
    owners = filter(None, map(_OWNERS.get, sample.split()))
    return any(language in one.split() for one in owners)
