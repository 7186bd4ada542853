"""What does the value of a property mean: a host, a type, a language, a day?

The same words are read in a query (`since:2026-01`) and in flags (`--since 2026-01`).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from gossamer.errors import QueryError
from gossamer.search.tree import Has, Property

_DAY: Final = re.compile(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?Z?)?)?)?"
)
_HOST: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/?#]*@)?(\[[0-9a-f:.]+\]|[^:/?#]+)(?::\d+)?(?:[/?#].*)?",
    re.IGNORECASE,
)


def property_of(property: Property, value: str, query: str, at: int) -> Has:
    """Read a value. Raises QueryError, which points at `at` in `query`."""
    match property:
        case Property.SITE:
            return Has(property, _host_of(value, query, at), at=at)
        case Property.SINCE:
            return Has(property, value, _since_us(value, query, at), at)
        case Property.LANG:
            # Pages know their language without its country: zh-TW is zh.
            return Has(property, re.split("[-_]", value.strip().lower())[0], at=at)
        case Property.TYPE:
            return Has(property, value.strip().lower(), at=at)


def _host_of(value: str, query: str, at: int) -> str:
    """The host of what may be typed: a host, one with a port, a whole URL, `*.example.org`."""
    found = _HOST.fullmatch(value.strip())
    host = found[1].lower().removeprefix("*").strip(".") if found else ""
    if not host:
        raise QueryError("site: needs the name of a host, as site:example.org", query, at)
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            raise QueryError(f"{host} is no name that a host may have", query, at) from None
    return host


def _since_us(value: str, query: str, at: int) -> int:
    """The first microsecond of a year, month, day or moment, in UTC."""
    found = _DAY.fullmatch(value.strip())
    if found:
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
        try:
            moment = datetime(year, month or 1, day or 1, hour, minute, second, tzinfo=UTC)
            return round(moment.timestamp()) * 1_000_000
        except ValueError:
            pass
    raise QueryError("since: needs a day, as since:2026-01-31", query, at)
