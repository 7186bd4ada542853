"""Mask the words of a text that say nothing of its content: they differ at each visit by nature.

    the time of the visit      a date within 36 hours of the capture, a time of day that fits it, a
                               Unix time, the year after a copyright sign
    times relative to it       "3 hours ago", "vor 5 Minuten", "il y a 2 jours"
    the server's own work      "generated in 0.03 s", "12 queries in 4 ms"
    numbers that only count    "1,204 views", "Besucher: 17", "3 users online"
    tokens                     UUIDs, long hexadecimal numbers and base64

A date that is not that of the visit stays: it is the date of a concert, and a change of it counts.
So do other numbers, such as prices. What these masks miss is learned (`policies/noise.py`).

A masked word becomes `MASK`; the text keeps its number of words. Pure, and the work grows with the
length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Final

MASK: Final = "\x00"

_NEAR: Final = timedelta(hours=36)  # of the capture: every time zone, and a page made a little ago
_NEAR_MIN: Final = 2
_ZONE_MIN: Final = 30  # time zones differ by multiples of it
_WORD: Final = re.compile(r"\S+")

_AGO: Final = re.compile(
    r"\b(?:"
    r"(?:(?:\d{1,4}|an?|one|two|a few|few|several)\s(?:second|sec|minute|min|hour|hr|day|week|month"
    r"|year)s?|\d{1,4}\s?(?:s|m|h|d|w|y))\sago"
    r"|just now|moments? ago"
    r"|vor\s(?:\d{1,4}|einer|einem|wenigen)\s(?:sekunde|minute|stunde|tag|woche|monat|jahr)(?:e?n|en)?"
    r"|il y a\s(?:\d{1,4}|une?)\s(?:seconde|minute|heure|jour|semaine|mois|an)s?"
    r"|hace\s(?:\d{1,4}|una?)\s(?:segundo|minuto|hora|día|semana|mes|año)(?:e?s)?"
    r"|há\s(?:\d{1,4}|uma?)\s(?:segundo|minuto|hora|dia|semana|mês|ano)(?:e?s)?"
    r"|\d{1,4}\s(?:second[oi]|minut[oi]|or[ae]|giorn[oi]|settiman[ae]|mes[ei]|ann[oi])\sfa"
    r"|\d{1,4}\s(?:seconden|minuten|minuut|uur|dag|dagen|weken|week|maanden|jaar)\sgeleden"
    r")\b",
    re.IGNORECASE,
)
_WORK: Final = re.compile(
    r"\b(?:generated|rendered|created|loaded|processed|served|executed|took|queries|render|erzeugt"
    r"|generiert|geladen|générée?|generada?)\b",
    re.IGNORECASE,
)
_SPAN: Final = re.compile(
    r"\d{1,9}(?:[.,]\d{1,9})?\s?(?:seconds?|sec|secs|s|ms|milliseconds?|µs|sekunden?|secondes?"
    r"|segundos?|queries|kb|mb)\b",
    re.IGNORECASE,
)
_COUNTED: Final = (
    r"(?:page\s?views?|views?|visits?|visitors?|hits|downloads|likes|shares|comments?|replies|reads"
    r"|followers|subscribers|guests|online|besucher|besuche|aufrufe|zugriffe"
    r"|klicks|visites?|visiteurs?|vues|visitas|visitantes|vistas|lecturas)"
)
_NUMBER: Final = r"\d{1,3}(?:[.,\u00a0\u202f' ]\d{3}){1,5}|\d{1,12}"
_COUNTER: Final = re.compile(
    rf"\b(?:({_NUMBER})\s(?:\w{{1,20}}\s)?{_COUNTED}\b|{_COUNTED}\s?(?:number|no\.?|nr\.?|#)?\s?:?\s?"
    rf"({_NUMBER})\b|(?:viewed|read|visited|gelesen|aufgerufen)\s({_NUMBER})\b)",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(
    r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|(?<![\w+/=-])[\w+/-]{16,400}={0,2}(?![\w+/=-])",
    re.IGNORECASE,
)
_LINK_TOKEN: Final = re.compile(r"(?<![\w-])[\w-]{16,400}(?![\w-])")
_UNIX: Final = re.compile(r"(?<!\d)\d{10}(?:\d{3})?(?!\d)")
_TIME: Final = re.compile(
    r"(?<![\d:])(\d{1,2}):(\d\d)(?::(\d\d))?(?:[.,]\d{1,9})?(?:\s?[ap]\.?m\b\.?)?"
    r"(?:\s?(?:Z|UTC|GMT|CES?T|BST|[ECMP][SD]T|Uhr)\b|[+-]\d\d:?\d\d)?(?![\d:])",
    re.IGNORECASE,
)
_OWNER: Final = re.compile(
    r"(?:©|\(c\)|&copy;|copyright)\D{0,40}?((?:19|20)\d\d(?:\s?[-–]\s?\d{4})?)"
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")

_MONTHS: Final = {
    name: month
    for month, names in enumerate(
        (
            "january jan januar jänner janvier enero gennaio januari janeiro",
            "february feb februar février febrero febbraio februari fevereiro",
            "march mar märz mär mars marzo maart março",
            "april apr avril abril aprile",
            "may mai mayo maggio mei maio",
            "june jun juni juin junio giugno junho",
            "july jul juli juillet julio luglio julho",
            "august aug août agosto augustus",
            "september sep sept septembre septiembre settembre setembro",
            "october oct oktober okt octobre octubre ottobre outubro",
            "november nov novembre noviembre novembro",
            "december dec dezember dez décembre diciembre dicembre dezembro",
        ),
        1,
    )
    for name in names.split()
}
_DAY_NAME: Final = (
    r"(?:\b(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven"
    r"|sam|dim)\w{0,9}[.,]{0,2}\s)?"
)
_DATES: Final = tuple(
    re.compile(_DAY_NAME + form, re.IGNORECASE)
    for form in (
        r"(?<!\d)(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\d)",
        r"(?<!\d)(?P<d>\d{1,2})([-/.])(?P<m>\d{1,2})\2(?P<y>\d{4})(?!\d)",
        (
            r"(?<!\d)(?P<d>\d{1,2})(?:st|nd|rd|th|\.|er)?\s(?:de\s)?(?P<n>[^\W\d_]{3,10})\.?,?\s"
            r"(?:de\s)?(?P<y>\d{4})(?!\d)"
        ),
        r"\b(?P<n>[^\W\d_]{3,10})\.?\s(?P<d>\d{1,2})(?:st|nd|rd|th)?,?\s(?P<y>\d{4})(?!\d)",
    )
)

_QUERY_VALUE: Final = re.compile(r"([?&;][^=&;#]{0,100}=)([^&;#]{0,2000})")
_PASSING: Final = re.compile(
    r"[?&;](?:_|cb|csrf\w*|\w{0,20}token|nonce|phpsessid|jsessionid|rand\w*|rnd|sid|sess\w*|t|time"
    r"|timestamp|ts|v|ver)=",
    re.IGNORECASE,
)


def mask(text: str, at_us: int) -> str:
    """A line of a page that was captured at a time, with `MASK` for each word of noise."""
    if not any(char.isdigit() for char in text):
        return _AGO.sub(_masked, text) if _may_be_ago(text) else text
    text = _AGO.sub(_masked, text)
    text = _TOKEN.sub(_masked_token, text)
    moment = datetime.fromtimestamp(at_us / 1e6, UTC)
    for form in _DATES:
        text = form.sub(lambda found: _masked_date(found, moment), text)
    text = _TIME.sub(lambda found: _masked_time(found, moment), text)
    text = _UNIX.sub(lambda found: _masked_unix(found, at_us), text)
    text = _OWNER.sub(lambda found: _masked_year(found, moment), text)
    if _WORK.search(text):
        text = _SPAN.sub(_masked, text)
    return _COUNTER.sub(_masked_number, text)


def mask_link(href: str) -> str:
    """A link with `MASK` for each part that is a token."""
    if "=" in href:
        href = _QUERY_VALUE.sub(_masked_value, href)
    return _LINK_TOKEN.sub(_masked_token, href)


def is_masked(word: str) -> bool:
    """Whether nothing of a word is left but signs."""
    return MASK in word and not any(char.isalnum() for char in word)


def _may_be_ago(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in ("ago", "now", "vor ", "il y a", "hace ", "há "))


def _masked(found: re.Match[str]) -> str:
    return _WORD.sub(MASK, found[0])


def _masked_token(found: re.Match[str]) -> str:
    token = found[0]
    digits = sum(map(str.isdigit, token))
    if digits < 3:
        return token
    if all(char in "0123456789abcdefABCDEF-" for char in token):
        return MASK if digits < len(token) else token  # a long number may be a price or an ISBN
    upper, lower = sum(map(str.isupper, token)), sum(map(str.islower, token))
    is_random = len(token) >= 20 and upper >= 3 and lower >= 3
    return MASK if is_random else token


def _masked_date(found: re.Match[str], moment: datetime) -> str:
    return _masked(found) if any(_is_near(day, moment) for day in _days(found)) else found[0]


def _days(found: re.Match[str]) -> Iterator[date]:
    """The days that a date may mean: 4/5/2026 is in April or in May."""
    parts = found.groupdict()
    year, day = int(parts["y"]), int(parts["d"])
    months = [(_MONTHS.get(parts["n"].lower(), 0), day)] if "n" in parts else []
    if "m" in parts:
        months = [(int(parts["m"]), day), (day, int(parts["m"]))]
    for month, of_month in months:
        try:
            yield date(year, month, of_month)
        except ValueError:
            continue


def _is_near(day: date, moment: datetime) -> bool:
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    return abs(noon - moment) <= _NEAR


def _masked_time(found: re.Match[str], moment: datetime) -> str:
    minute = int(found[1]) * 60 + int(found[2])
    apart = (minute - (moment.hour * 60 + moment.minute)) % _ZONE_MIN
    is_near = min(apart, _ZONE_MIN - apart) <= _NEAR_MIN
    return _masked(found) if is_near else found[0]


def _masked_unix(found: re.Match[str], at_us: int) -> str:
    seconds = int(found[0][:10])
    return MASK if abs(seconds - at_us / 1e6) <= _NEAR.total_seconds() else found[0]


def _masked_year(found: re.Match[str], moment: datetime) -> str:
    years = _YEAR.findall(found[1])
    if not years or abs(int(years[-1]) - moment.year) > 1:
        return found[0]
    return found[0][: -len(found[1])] + _WORD.sub(MASK, found[1])


def _masked_number(found: re.Match[str]) -> str:
    number = found[1] or found[2] or found[3]
    return found[0].replace(number, _WORD.sub(MASK, number), 1)


def _masked_value(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    is_passing = _PASSING.fullmatch(name) and any(char.isdigit() for char in value)
    return name + MASK if is_passing else found[0]
