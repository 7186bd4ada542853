"""Parse the value of a property: a host, a type, a language, a day.

The same values are used in a query (`since:2026-01`, `changed:7d`) and in flags (`--since 7d`).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from gossamer.base.durations import seconds_of
from gossamer.search.tree import Has, Property

_DAY: Final = re.compile(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?Z?)?)?)?"
)
# Dates that the index can compare, 1684 to 2255; every page of the web is between them.
_MOST_US: Final = 9_000_000_000_000_000
_HOST: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/?#]*@)?(\[[0-9a-f:.]+\]|[^:/?#]+)(?::\d+)?(?:[/?#].*)?",
    re.IGNORECASE,
)


class NotAValue(ValueError):
    """Not a valid value of this property. The message lists the valid values."""


def property_of(property: Property, value: str, at: int = 0) -> Has:
    """Parse a value at a position of a query. Raises NotAValue."""
    match property:
        case Property.SITE:
            return Has(property, _host_of(value), at=at)
        case Property.SINCE | Property.CHANGED:
            if ago_us := _ago_us(value):
                return Has(property, value, ago_us=ago_us, at=at)
            return Has(property, value, _since_us(property, value), at=at)
        case Property.LANG:
            # Pages have their language without its country: zh-TW is zh.
            return Has(property, re.split("[-_]", value.strip().lower())[0], at=at)
        case Property.TYPE:
            return Has(property, value.strip().lower(), at=at)


def _host_of(value: str) -> str:
    """The host of a typed value: a host, one with a port, a whole URL, `*.example.org`."""
    found = _HOST.fullmatch(value.strip())
    host = found[1].lower().removeprefix("*").strip(".") if found else ""
    if not host:
        raise NotAValue("site takes the name of a host, such as example.org")
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            raise NotAValue("site takes the name of a host, such as example.org") from None
    return host


def _ago_us(value: str) -> int:
    """The length of `7d`, `12h`; 0 for any other form."""
    try:
        return min(round(seconds_of(value) * 1e6), _MOST_US)
    except ValueError:
        return 0


def _since_us(property: Property, value: str) -> int:
    """The first microsecond of a year, month, day or time, in UTC."""
    found = _DAY.fullmatch(value.strip())
    if found:
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
        try:
            moment = datetime(year, month or 1, day or 1, hour, minute, second, tzinfo=UTC)
            return max(-_MOST_US, min(round(moment.timestamp()) * 1_000_000, _MOST_US))
        except ValueError:
            pass
    raise NotAValue(
        f"{property} takes a day, month or year, such as 2026-01-31, 2026-01 or 2026, or 7d for "
        "the last seven days"
    )
