"""The patterns of a URL: what it has in common with others that the same program makes.

A URL has two. The narrow one has the first two folders, the form of the last segment and the names
of the parameters; the wide one the first folder, and whether there is a query. Numbers become `0`,
words of the last segment `a`, tokens `*`; further folders become `**`.

    /calendar/2026/11/day-7.html       /calendar/0/**/a-0.html      /calendar/**
    /library/asyncio.html?sid=3f9a     /library/a.html?sid          /library/**?
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final, NamedTuple

from gossamer.urls.canonical import target_of

_DIGITS: Final = re.compile(r"[0-9]+")
_TOKEN: Final = re.compile(r"(?=[^/]*[0-9])(?=[^/]*[a-z])[0-9a-z_-]{10,}", re.IGNORECASE)
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_MANY: Final = re.compile(r"a(?:[-_.]a)+")
_MOST_NAMES: Final = 4  # of parameters that a pattern tells apart
_LONGEST: Final = 60  # characters of a folder


class Patterns(NamedTuple):
    """The two patterns of a URL; they are the same where there is only one folder."""

    narrow: str
    wide: str


@lru_cache(maxsize=256)  # a URL is asked for again as soon as its page is learned
def patterns_of(url: str) -> Patterns:
    """The patterns of a canonical URL, without its origin."""
    path, mark, query = target_of(url).partition("?")
    folders, _, last = path.rpartition("/")
    start, wide = _folders(folders)
    asked = f"?{_names(query)}" if mark else ""
    return Patterns(f"{start}/{_form(last)}{asked}", wide + mark)


@lru_cache(maxsize=1_024)  # the pages of a folder come together
def _folders(path: str) -> tuple[str, str]:
    """What the folders of a URL give to its narrow pattern, and its wide pattern."""
    folders = path.split("/")[1:]
    shaped = [_folder(name) for name in folders[:2]]
    start = "".join(f"/{name}" for name in shaped)
    deep = "/**" if len(folders) > 2 else ""
    return start + deep, f"/{shaped[0]}/**" if shaped else "/*"


def _names(query: str) -> str:
    names = sorted({part.partition("=")[0] for part in query.split("&")})
    return "&".join(names) if len(names) <= _MOST_NAMES else "**"


def _folder(name: str) -> str:
    if _TOKEN.fullmatch(name):
        return "*"
    return _DIGITS.sub("0", name[:_LONGEST])


def _form(name: str) -> str:
    """The form of a last segment: its extension stays."""
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem:
        stem, extension = name, ""
    if stem.isalpha():
        return f"a{dot}{extension[:10]}"
    if _TOKEN.fullmatch(stem):
        return f"*{dot}{extension}"
    parts = _MANY.sub("a-a", _LETTERS.sub("a", _DIGITS.sub("0", stem)))[:_LONGEST]
    return f"{parts}{dot}{extension[:10]}"


def line_for(host: str, pattern: str) -> str:
    """A line by which the operator can name the URLs of a pattern, as in a ban file. It may name
    more: all of a folder."""
    path, mark, query = pattern.partition("?")
    fixed = ""
    for folder in path.split("/")[1:-1]:
        if "0" in folder or "*" in folder:
            break
        fixed += f"{re.escape(folder)}/"
    if query and "&" not in query and query != "**":
        fixed += rf".*[?&]{re.escape(query)}="
    elif mark:
        fixed += r".*\?"
    return f"re://{re.escape(host)}(:[0-9]+)?/{fixed}"


def is_covered(pattern: str, others: Collection[str]) -> bool:
    """Whether a wide pattern says no more than a narrow one among others."""
    start, mark, _ = pattern.partition("?")
    if not _is_wide(start):
        return False
    return any(
        one.startswith(start.rstrip("*")) and ("?" in one) == bool(mark) and not _is_wide(one)
        for one in others
    )


def _is_wide(pattern: str) -> bool:
    start = pattern.removesuffix("?")
    return start == "/*" or start.endswith("/**")
