"""Languages that share a script, the letters of each, and words that distinguish similar ones.

The first language of a script is the default. A language without an alphabet here may have all
letters of its script. Loan letters count: Kazakh has all letters of Russian.
"""

from __future__ import annotations

from typing import Final

SHARED: Final = {
    "Cyrillic": (
        "ru", "uk", "bg", "be", "sr", "mk", "kk", "ky", "tg", "mn", "tt", "ba", "uz", "cv", "os",
    ),
    "Arabic": ("ar", "fa", "ur", "ps", "ckb", "ug", "sd"),
    "Devanagari": ("hi", "mr", "ne"),
    "Bengali": ("bn", "as"),
    "Hebrew": ("he", "yi"),
    "Ethiopic": ("am", "ti"),
}  # fmt: skip

_RUSSIAN: Final = frozenset("абвгдеёжзийклмнопрстуфхцчшщъыьэюя")
_ARABIC: Final = frozenset("ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيـ")
_PERSIAN: Final = _ARABIC | frozenset("پچژگکیۀٔە")
_BENGALI: Final = frozenset(map(chr, range(0x0980, 0x0A00)))

ALPHABETS: Final = {
    "ru": _RUSSIAN,
    "uk": frozenset("абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"),
    "bg": frozenset("абвгдежзийклмнопрстуфхцчшщъьюяѝ"),
    "be": frozenset("абвгґдеёжзійклмнопрстуўфхцчшыьэюя"),
    "sr": frozenset("абвгдђежзијклљмнњопрстћуфхцчџш"),
    "mk": frozenset("абвгдѓежзѕијклљмнњопрстќуфхцчџшѐѝ"),
    "kk": _RUSSIAN | frozenset("әғқңөұүһіə"),
    "ky": _RUSSIAN | frozenset("ңөү"),
    "tg": (_RUSSIAN | frozenset("ғӣқӯҳҷ")) - frozenset("щыць"),
    "mn": _RUSSIAN | frozenset("өү"),
    "tt": _RUSSIAN | frozenset("әөүҗңһ"),
    "ba": _RUSSIAN | frozenset("әөүғҡңҙҫһ"),
    "uz": (_RUSSIAN | frozenset("ўқғҳ")) - frozenset("щы"),
    "cv": _RUSSIAN | frozenset("ӑӗҫӳ"),
    "os": _RUSSIAN | frozenset("ӕ"),
    "ar": _ARABIC,
    "fa": _PERSIAN,
    "ur": _PERSIAN | frozenset("ٹڈڑںےۓہۂۃھ"),
    "ps": _PERSIAN | frozenset("ټځڅډړږښګڼېۍ"),
    "ckb": _PERSIAN | frozenset("ڕڵۆێەڤھ"),
    "ug": _PERSIAN | frozenset("ڭۇۆۈۋېەھ"),
    "sd": _PERSIAN | frozenset("ٻٺڀٿڃڄڇڊڌڍڏڙڦڪڳڱڻھہ۽۾ٽ"),
    "bn": _BENGALI - frozenset("ৰৱ"),
    "as": _BENGALI - frozenset("র"),
}  # fmt: skip

# Words that a similar language hardly has.
MARKS: Final = {
    "mr": ("आहे", "आणि", "आहेत", "होते", "मध्ये", "असे", "केले", "त्या", "करण्यात", "झाले"),
    "ne": ("छ", "छन्", "छन", "र", "पनि", "लागि", "गर्न", "गरेको", "भएको", "यो", "गर्ने"),
    "hi": ("है", "हैं", "और", "का", "की", "के", "में", "से", "था", "यह", "नहीं", "एक", "पर"),
    "ti": ("እዩ", "ኣብ", "ናይ", "ካብ", "ከም", "እዚ", "ድማ", "ነቲ", "ኣብቲ", "እቲ", "ምስ"),
    "am": ("ነው", "ውስጥ", "ላይ", "እና", "ነበር", "ወደ", "ግን", "አንድ", "ናቸው", "ጋር"),
    "yi": ("און", "איז", "די", "פון", "פֿון", "אַ", "אין", "צו", "דער", "מיט", "נישט", "ניט"),
    "he": ("של", "את", "על", "הוא", "היא", "לא", "זה", "עם", "כי", "גם", "או", "אל", "אשר"),
}  # fmt: skip

# Languages that are sometimes declared and are written in the script, or in that of the language.
ALSO: Final = {
    "Cyrillic": frozenset({
        "ab", "ady", "av", "az", "bs", "ce", "chm", "cu", "inh", "kbd", "krc", "kum", "kv", "lez",
        "mhr", "myv", "nog", "rue", "sah", "sh", "tyv", "udm",
    }),
    "Arabic": frozenset({
        "ary", "arz", "az", "azb", "bal", "bqi", "glk", "ks", "ku", "lrc", "ms", "mzn", "pnb",
        "prs", "skr", "tk",
    }),
    "Devanagari": frozenset(["awa", "bho", "brx", "doi", "kok", "mai", "new", "sa", "sd"]),
    "Bengali": frozenset({"bpy", "mni"}),
    "Hebrew": frozenset({"arc", "lad"}),
    "Ethiopic": frozenset({"gez", "tig"}),
    "bo": frozenset({"dz"}),
    "el": frozenset({"grc", "pnt"}),
    "hy": frozenset({"hyw"}),
    "iu": frozenset({"cr", "oj"}),
    "ka": frozenset({"lzz", "sva", "xmf"}),
    "mn": frozenset({"mnc"}),
    "my": frozenset({"kar", "ksw", "mnw", "pi", "shn"}),
    "th": frozenset({"nod", "tts"}),
}  # fmt: skip
