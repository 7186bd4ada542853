"""Parse dates of sitemaps and feeds: W3C dates and those of mail.

A date without a time is its first moment. Without a zone a W3C date counts as UTC, and a mail date
is ignored, because its writers mean their own zone.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_tz
from typing import Final

_MONTH: Final = re.compile(r"\d{4}(?:-\d{2})?")
_WITH_ZONE: Final = re.compile(r".*\d (?:[+-]\d{4}|[A-Za-z]{1,5})(?: \([^)]*\))?")


def utc_of(written: str) -> str:
    """The time as `2004-10-01T18:23:17Z`; empty if it is invalid."""
    written = written.strip()[:64]
    try:
        moment = _w3c(written) or _mail(written)
        return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if moment else ""
    except (ValueError, OverflowError):
        return ""


def _w3c(written: str) -> datetime | None:
    if _MONTH.fullmatch(written):
        written = f"{written}-01-01"[:10]
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _mail(written: str) -> datetime | None:
    parts = parsedate_tz(written) if _WITH_ZONE.fullmatch(written) else None
    if parts is None:
        return None
    return datetime(*parts[:6], tzinfo=timezone(timedelta(seconds=parts[9] or 0)))
