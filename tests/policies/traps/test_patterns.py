"""The patterns by which URLs are grouped."""

from __future__ import annotations

from gossamer.policies.traps.patterns import patterns_of
from support.rows import each_row


@each_row(
    ("path", "narrow", "wide"),
    [
        ("/calendar/2026/11/day-7.html", "/calendar/0/**/a-0.html", "/calendar/**"),
        ("/library/asyncio.html?sid=3f9a", "/library/a.html?sid", "/library/**?"),
        ("/library/asyncio-task.html", "/library/a-a.html", "/library/**"),
        ("/library/asyncio-task-queue.html", "/library/a-a.html", "/library/**"),
        ("/list?b=1&a=2", "/a?a&b", "/*?"),
        ("/list?a=2&b=1", "/a?a&b", "/*?"),
        ("/list?a=1&b=1&c=1&d=1&e=1", "/a?**", "/*?"),
        ("/s/4a7d1ed414474e40/x.html", "/s/*/a.html", "/s/**"),
        ("/", "/", "/*"),
    ],
)
def test_a_url_has_a_narrow_and_a_wide_pattern(path: str, narrow: str, wide: str) -> None:
    assert patterns_of(f"http://a.example{path}") == (narrow, wide)


def test_urls_that_one_program_makes_have_the_same_pattern() -> None:
    days = {
        patterns_of(f"http://a.example/calendar/{year}/{month}/")
        for year in range(2000, 2040)
        for month in range(1, 13)
    }
    assert len(days) == 1


def test_endless_depth_has_few_patterns() -> None:
    path, patterns = "/maze", set()
    for step in range(40):
        path += "/left" if step % 3 else "/right"
        patterns.add(patterns_of(f"http://a.example{path}/"))
    assert len(patterns) <= 3
