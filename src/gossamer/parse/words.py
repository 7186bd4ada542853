"""Which language do the commonest words of a text speak?

A dozen or two of the commonest words of 28 languages, less those that two of them share: one pass
over the words of a sample then costs a tenth of a look at its trigrams, and says as much where
there is prose. Words that English has too (Romanian `care`, Hungarian `a`) are left out of the
others' rows, because pages in English are full of them.

Scripts without spaces between words (Chinese, Japanese, Thai) cannot be told like this, and
languages that are not here get no votes: an answer of "" says nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

# Fewer hits are chance: four of these words in a text of another language are a quotation.
_FEWEST_HITS: Final = 4

_COMMON: Final = {
    "en": "the of and to that is with for are this be from which it by not can",
    "de": "der und den das ist nicht mit ein eine für auf werden von zu wird dem sich auch oder",
    "fr": "les des est dans pour une sur avec par du et qui cette pas ou au sont ce vous peut",
    "es": "los las y con su más muy este esta una por para del como se que puede",
    "pt": "os não uma com são dos em mais pelo também às por para da um ou que se você pode",
    "it": "che di è sono della il gli nel questo alla una con si le del non come può dei",
    "nl": "het een van dat niet voor met zijn wordt ook naar worden kan bij dit deze",
    "ru": "и в не на что как для это или его при если чтобы так по с к из от",
    "pl": "nie się jest że oraz lub przez dla jako który ze w z na do jak można są",
    "tr": "ve bir bu için ile olarak olan daha gibi değil veya ise",
    "sv": "och att är för inte från eller när också på som av det till kan med om",
    "cs": "není jsou nebo který pro jako při aby však ale se že je na v pokud která být",
    "da": "og er ikke af blive eller også efter som det på med kan hvis bliver",
    "nb": "og er ikke av å eller også fra etter som det på med kan hvis blir",
    "fi": "ja että ovat voi tai kun joka mutta myös ei se",
    "hu": "az és hogy nem egy vagy meg csak ez lehet ha",
    "ro": "și în este din pentru sau sunt mai prin cu nu pe",
    "ca": "els amb és dels als aquest aquesta són més però que una es les del",
    "id": "yang dan untuk dengan ini dari pada tidak itu adalah atau akan dapat anda",
    "vi": "và của là các có được cho không trong một những để bạn với khi",
    "el": "και το να είναι του της με για που την από στο",
    "uk": "і в не на що як для це або та які від",
    "bg": "и в на не за да се от са или като това който",
    "ar": "في من على أن إلى هذا التي مع أو لا هذه",
    "fa": "و در به از که این را با است برای می یا",
    "hr": "su koji ili kao nije biti kako ako što je se na za",
    "sk": "nie je sa pre alebo ktorý ako sú aby však na",
    "sl": "ki so ali pa lahko tudi kot ter je se za",
}
_USES: Final = Counter(word for words in _COMMON.values() for word in words.split())
_OWNER: Final = {
    word: language
    for language, words in _COMMON.items()
    for word in words.split()
    if _USES[word] == 1
}


def spoken(sample: str, least_share: float) -> str:
    """The language that has `least_share` of all common words in a sample; empty where none has."""
    hits = list(filter(None, map(_OWNER.get, sample.split())))
    if len(hits) < _FEWEST_HITS:
        return ""
    language = max(set(hits), key=hits.count)
    own = hits.count(language)
    return language if own >= _FEWEST_HITS and own >= least_share * len(hits) else ""
