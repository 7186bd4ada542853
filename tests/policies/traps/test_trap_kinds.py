"""The names of kinds of traps."""

from __future__ import annotations

from gossamer.policies.traps.grades import News
from gossamer.policies.traps.kinds import (
    CALENDAR,
    DEPTH,
    FACETS,
    MIRROR,
    SESSION,
    SOFT_404,
    WORDS,
    kind_of,
)
from gossamer.policies.traps.patterns import patterns_of
from support.rows import each_row

STALE, REPEATED, ODD = {News.STALE: 10}, {News.REPEATED: 10}, {News.ODD: 10}


@each_row(
    ("target", "grades", "kind"),
    [
        ("/calendar/2026/11/", STALE, CALENDAR),
        ("/calendar/1893", REPEATED, CALENDAR),
        ("/library/asyncio.html?sid=3f9a", REPEATED, SESSION),
        ("/x?PHPSESSID=1", STALE, SESSION),
        ("/lamps?sort=1&view=3", STALE, FACETS),
        ("/lamps?page=1", STALE, FACETS),
        ("/maze/left/right/back", STALE, DEPTH),
        ("/copy/library/os.html", REPEATED, MIRROR),
        ("/find/horse", STALE, SOFT_404),
        ("/story/blue/horse.html", ODD, WORDS),
    ],
)
def test_a_trap_is_named_by_its_urls_and_what_they_bring(
    target: str, grades: dict[int, int], kind: str
) -> None:
    assert kind_of(patterns_of(f"http://a.example{target}").narrow, 10, grades) == kind
