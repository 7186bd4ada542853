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
_UNIT: Final = (
    r"(?:visits?|visitors?|views?|page ?views|hits?|guests?|users? online|members? online|"
    r"downloads?|comments?|replies|likes?|shares?|votes?|queries|milliseconds?|seconds?|secs?|ms)"
)
_BEFORE: Final = (
    r"(?:visits?|visitors?|views?|page ?views|hits?|counter|visitor number|visitor no\.?|"
    r"downloads?|online|(?:generated|rendered|loaded|served|processed|created) in|took|load time)"
)
_MASKED: Final = re.compile(
    "|".join(
        (
            rf"(?:©|\(c\)|copyright)\s?{_YEAR}(?:\s?[-–,]\s?{_YEAR}){{0,9}}",
            rf"{_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?:t(?=\d))?",
            rf"\d{{1,2}}[-/.]\d{{1,2}}[-/.]{_YEAR}",
            r"\d{1,2}/\d{1,2}/\d\d\b",
            r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:\s?[ap]\.?m\b\.?)?(?:\s?(?:utc|gmt|z\b|[+-]\d{4}))?",
            rf"\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:of\s)?{_MONTH},?(?:\s{_YEAR})?\b",
            rf"{_BEFORE}\s?[:=]?\s?{_NUMBER}(?:\s?{_UNIT}\b|\s?s\b)?",
            rf"{_NUMBER}\s?{_UNIT}\b",
            r"\d{1,6}\s(?:second|minute|hour|day|week|month|year)s?\sago\b",
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            r"\b(?=[a-f]{0,9}\d)(?=\d{0,19}[a-f])[0-9a-f]{8,128}\b",
            r"\b(?=[a-z_]{0,40}\d)(?=[\d_]{0,40}[a-z])[a-z0-9_]{24,256}\b",
            rf"\b{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?(?:\s{_YEAR})?\b",
            rf"\b{_MONTH}\s{_YEAR}\b",
        )
    ),
    re.ASCII,
)
_WEEKDAY: Final = re.compile(
    r"\b(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b[,.]?\s?(?=#)"
)
_DIGIT: Final = re.compile(r"[0-9]")


def masked(text: str) -> str:
    """The text in lower case with `#` where something was masked; white space is folded."""
    lines = text[:_MAX_CHARS].lower().splitlines()
    return " ".join(_masked_line(" ".join(words)) for line in lines if (words := line.split()))


def _masked_line(line: str) -> str:
    if _DIGIT.search(line) is None:
        return line
    return _WEEKDAY.sub("", _MASKED.sub("#", line))


def text_fingerprint(title: str, text: str) -> bytes:
    """16 bytes that are the same for near duplicates; empty for a page of few words."""
    same = masked(text)
    if same.count(" ") < _LEAST_WORDS:
        return b""
    whole = f"{masked(title)}\n{same}".encode(errors="replace")
    return blake2b(whole, digest_size=FINGERPRINT_BYTES).digest()
