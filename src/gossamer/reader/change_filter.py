"""Read a filter of changes as people write it: times, a site, kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from gossamer.errors import UsageError
from gossamer.reader.changes import END_US, KINDS, ChangesWanted
from gossamer.reader.moments import span_of


class ChangeOptions(TypedDict, total=False):
    """The filters of `study.changes` but for `since`."""

    until: str
    site: str
    kinds: Sequence[str]
    with_noise: bool
    is_newest_first: bool


def changes_wanted(
    since: str = "",
    until: str = "",
    site: str = "",
    kinds: Sequence[str] = (),
    *,
    with_noise: bool = False,
    is_newest_first: bool = True,
) -> ChangesWanted:
    """Return the filter that the reader uses. Raises UsageError."""
    since_us = span_of(since).first_us if since else 0
    until_us = span_of(until).last_us + 1 if until else END_US
    if since_us >= until_us:
        raise UsageError(f"since {since} is later than until {until}")
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"{kind!r} is no kind of change; it is one of {', '.join(KINDS)}")
    return ChangesWanted(
        since_us, until_us, site_named(site), tuple(kinds) or KINDS, with_noise, is_newest_first
    )


def site_named(text: str) -> str:
    """The host in a typed site: a host, or a URL."""
    host = text.strip().lower().partition("://")[2] or text.strip().lower()
    host = host.partition("/")[0].removeprefix("*.")
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
