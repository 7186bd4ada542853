"""Parse a Content-Type header by the MIME Sniffing standard.

Parsing needs the essence (`text/html`) and the charset label; the other parameters are kept so that
a type can be written in its normal form. An invalid value has an empty essence; `html.py` then
looks at the bytes. `mime_groups.py` groups related types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_SPACE: Final = " \t\n\r"
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_QUOTABLE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*+)(\\?)"?', re.DOTALL)

# The patterns by which the standard recognises HTML without a usable type, each followed by a space
# or `>`; a comment needs neither.
_HTML_START: Final = re.compile(
    rb"[\t\n\x0c\r ]*(?:<!--|<\?xml|<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|"
    rb"style|title|b|body|br|p)[ >])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mime:
    """A media type: `essence` in lower case, `charset` as written.

    `parameters` has the first value of each name, including the charset.
    """

    essence: str = ""
    charset: str = ""
    parameters: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """The type in the form of the standard; empty if it is invalid."""
        return self.essence + "".join(f";{name}={_quoted(v)}" for name, v in self.parameters)


@lru_cache(maxsize=1024)
def parse_mime(value: str) -> Mime:
    """Parse a Content-Type value; an invalid one gives `Mime()`."""
    full, _, rest = value.strip(_SPACE).partition(";")
    kind, slash, subtype = full.partition("/")
    subtype = subtype.rstrip(_SPACE)
    if not (slash and _TOKEN.fullmatch(kind) and _TOKEN.fullmatch(subtype)):
        return Mime()
    named: dict[str, str] = {}
    for name, parameter in _parameters(rest):
        named.setdefault(name, parameter)
    return Mime(f"{kind}/{subtype}".lower(), named.get("charset", ""), tuple(named.items()))


def looks_like_html(body: bytes) -> bool:
    """Whether a body without a usable type begins like HTML."""
    return _HTML_START.match(body.removeprefix(b"\xef\xbb\xbf")[:1445]) is not None


def _parameters(text: str) -> Iterator[tuple[str, str]]:
    """Name and value of each valid parameter, in order; names in lower case."""
    at = 0
    while at < len(text):
        name, at = _until(text, at, ";=")
        name = name.lstrip(_SPACE).lower()
        if at >= len(text) or text[at] == ";":
            at += 1
            continue
        value, at, is_quoted = _value(text, at + 1)
        is_valid = _TOKEN.fullmatch(name) and _QUOTABLE.fullmatch(value)
        if is_valid and (value or is_quoted):
            yield name, value


def _value(text: str, at: int) -> tuple[str, int, bool]:
    """The value of a parameter, the start of the next one, and whether it was quoted."""
    if text[at : at + 1] != '"':
        value, at = _until(text, at, ";")
        return value.rstrip(_SPACE), at + 1, False
    quoted = _QUOTED.match(text, at)
    assert quoted is not None  # the pattern matches any text with a quotation mark at its start
    value = re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL) + quoted[2]
    return value, _until(text, quoted.end(), ";")[1] + 1, True


def _quoted(value: str) -> str:
    """The value of a parameter, in quotation marks if it is not a token."""
    if _TOKEN.fullmatch(value):
        return value
    return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


def _until(text: str, at: int, stops: str) -> tuple[str, int]:
    """The text up to the first of `stops`, and the position of that stop or of the end."""
    end = min((found for s in stops if (found := text.find(s, at)) >= 0), default=len(text))
    return text[at:end], end
