"""The patterns by which URLs are grouped."""

from __future__ import annotations

from gossamer.policies.traps.patterns import is_covered, line_for, patterns_of
from gossamer.urls.bans import BanList
from support.rows import each_row

HOST = "http://a.example"


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


def test_a_line_for_a_pattern_names_its_urls_and_no_other_folder() -> None:
    line = BanList([line_for("a.example", patterns_of(f"{HOST}/day/2026/x.html?sid=1").narrow)])

    assert line.find(f"{HOST}/day/2027/y.html?sid=2&b=1")
    assert line.find("http://a.example:8080/day/1/y.html?sid=2")
    assert not line.find(f"{HOST}/day/2027/y.html?b=1")
    assert not line.find(f"{HOST}/days/2027/y.html?sid=2")
    assert not line.find("http://xa.example/day/2027/y.html?sid=2")


def test_a_wide_pattern_is_covered_by_a_narrow_one_of_the_same_folder() -> None:
    assert is_covered("/day/**", ["/day/**", "/day/0/a.html"])
    assert not is_covered("/day/**", ["/day/**", "/week/0/a.html"])
    assert not is_covered("/day/**", ["/day/**", "/day/0/a.html?x"])
    assert not is_covered("/day/0/a.html", ["/day/**", "/day/0/a.html"])
