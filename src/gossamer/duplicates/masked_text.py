"""The visible text of a page without what differs from visit to visit.

Masked are dates and times, counters beside a word that says so ("1,204 visitors", "Page views:
33"), durations ("generated in 0.03 s"), relative times ("3 hours ago"), years of copyright, and
tokens (hex numbers of 8 digits or more, UUIDs, long mixed codes). Other numbers stay: pages
of tables or versions differ in nothing else.

Two pages with the same masked title and text are near duplicates. Pages with few words are not
compared in this way, because "Not found" or "Next" says nothing about a page.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

FINGERPRINT_BYTES: Final = 16
_LEAST_WORDS: Final = 20
_MAX_CHARS: Final = 2_000_000  # the rest is not compared

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR: Final = r"(?:19|20)\d\d"
_NUMBER: Final = r"\d[\d,.]{0,20}"
_AFTER_TIME: Final = r"(?:\s?[ap]\.?m\b\.?)?(?:\s?(?:utc|gmt|z\b|[+-][0-9]{4}))?"
_UNIT: Final = (
    r"(?:visits?|visitors?|views?|page ?views|hits?|guests?|users? online|members? online|"
    r"downloads?|comments?|replies|likes?|shares?|votes?|queries|milliseconds?|seconds?|secs?|ms)"
)
_BEFORE: Final = (
    r"(?:visits?|visitors?|views?|page ?views|hits?|counter|visitor number|visitor no\.?|"
    r"downloads?|online|(?:generated|rendered|loaded|served|processed|created) in|took|load time)"
)
# What begins with a digit. Python's search skips to digits only if the pattern starts with a set.
_FROM_DIGIT: Final = re.compile(
    r"[0-9](?<![0-9a-z_.][0-9])(?:"
    + "|".join(
        (
            r"[0-9]{3}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?:t(?=[0-9]))?",
            rf"[0-9]?[-/.][0-9]{{1,2}}[-/.]{_YEAR}\b",
            r"[0-9]?/[0-9]{1,2}/[0-9]{2}\b",
            rf"[0-9]?:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]{{1,9}})?)?{_AFTER_TIME}",
            rf"[0-9]?(?:st|nd|rd|th|\.)?\s(?:of\s)?{_MONTH},?(?:\s{_YEAR})?\b",
            rf"[0-9,.]{{0,20}}\s?{_UNIT}\b",
            r"[0-9]{0,5}\s(?:second|minute|hour|day|week|month|year)s?\sago\b",
        )
    )
    + ")",
    re.ASCII,
)
_FROM_WORD: Final = re.compile(
    "|".join(
        (
            rf"(?:©|\(c\)|copyright)\s?{_YEAR}(?:\s?[-–,]\s?{_YEAR}){{0,9}}",
            rf"{_BEFORE}\s?[:=]?\s?{_NUMBER}(?:\s?{_UNIT}\b|\s?s\b)?",
            rf"\b{_MONTH}\s[0-9]{{1,2}}(?:st|nd|rd|th)?,?(?:\s{_YEAR})?\b",
            rf"\b{_MONTH}\s{_YEAR}\b",
        )
    ),
    re.ASCII,
)
# One of these stands in every line that `_FROM_WORD` changes.
_HINTS: Final = (
    "©", "(c)", "copyright", "visit", "view", "hit", "counter", "download", "online", "ed in",
    "took", "load time",
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_TOKEN: Final = re.compile(
    r"\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|(?=[a-f]{0,9}\d)(?=\d{0,19}[a-f])[0-9a-f]{8,128}"
    r"|(?=[a-z_]{0,40}\d)(?=[\d_]{0,40}[a-z])[a-z0-9_]{24,256})\b",
    re.ASCII,
)
_LONG_WORD: Final = 8
_WEEKDAY: Final = re.compile(
    r"\b(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b[,.]?\s?(?=#)"
)
_DIGIT: Final = re.compile(r"[0-9]")


def masked(text: str) -> str:
    """The text in lower case with `#` where something was masked; white space is folded."""
    lines = text[:_MAX_CHARS].lower().splitlines()
    return " ".join(_masked_line(words) for line in lines if (words := line.split()))


def _masked_line(words: list[str]) -> str:
    line = " ".join(words)
    if _DIGIT.search(line) is None:
        return line
    if any(len(word) >= _LONG_WORD and not word.isalpha() for word in words):
        line = _TOKEN.sub("#", line)
    line = _FROM_DIGIT.sub("#", line)
    if any(hint in line for hint in _HINTS):
        line = _FROM_WORD.sub("#", line)
    return _WEEKDAY.sub("", line) if "#" in line else line


def text_fingerprint(title: str, text: str) -> bytes:
    """16 bytes that are the same for near duplicates; empty for a page of few words."""
    same = masked(text)
    if same.count(" ") < _LEAST_WORDS:
        return b""
    whole = f"{masked(title)}\n{same}".encode(errors="replace")
    return blake2b(whole, digest_size=FINGERPRINT_BYTES).digest()
