"""Times as people write them: a span of time, or a time relative to now."""

from __future__ import annotations

import pytest

from gossamer.base.clock import exact_iso_of
from gossamer.errors import UsageError
from gossamer.reader.moments import span_of
from support.rows import each_row

NOW = 1_795_000_000_000_000  # 2026-11-18T11:06:40Z


@each_row(
    ("text", "first", "last"),
    [
        ("now", "2026-11-18T11:06:40.000000Z", "2026-11-18T11:06:40.000000Z"),
        ("7d", "2026-11-11T11:06:40.000000Z", "2026-11-11T11:06:40.000000Z"),
        ("90m ago", "2026-11-18T09:36:40.000000Z", "2026-11-18T09:36:40.000000Z"),
        ("1.5h", "2026-11-18T09:36:40.000000Z", "2026-11-18T09:36:40.000000Z"),
        ("today", "2026-11-18T00:00:00.000000Z", "2026-11-18T11:06:40.000000Z"),
        ("Yesterday", "2026-11-17T00:00:00.000000Z", "2026-11-17T23:59:59.999999Z"),
        ("2026-02", "2026-02-01T00:00:00.000000Z", "2026-02-28T23:59:59.999999Z"),
        ("2026-01-31T12:00:01.5Z", "2026-01-31T12:00:01.500000Z", "2026-01-31T12:00:01.599999Z"),
        ("99999999w", "1970-01-01T00:00:00.000000Z", "1970-01-01T00:00:00.000000Z"),
    ],
)
def test_a_time_is_a_span(text: str, first: str, last: str) -> None:
    span = span_of(text, NOW)

    assert (exact_iso_of(span.first_us), exact_iso_of(span.last_us)) == (first, last)


@each_row("text", ["tomorrow", "7", "d", "7 days", "-7d", "ago"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="7d for seven days ago"):
        span_of(text, NOW)
