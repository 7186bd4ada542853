"""Levels and verdicts that follow from what a host brought."""

from __future__ import annotations

from gossamer.policies.traps.grades import News
from gossamer.policies.traps.yields import REFUSED_LEVEL, HostYield, explain, level_of

BASE = 200
DAY = "http://a.example/calendar/{}/"
PAGE = "http://a.example/manual/{}.html"


def waste(host: HostYield, first: int, count: int, *, had_level: bool = True) -> None:
    """Days of a calendar, each of which names the next."""
    for number in range(first, first + count):
        fresh = [DAY.format(number + 1)]
        host.learn(DAY.format(number), 0, News.REPEATED, fresh, had_level=had_level)


def test_a_pattern_that_leads_only_to_more_of_itself_gets_a_level() -> None:
    host = HostYield()
    waste(host, 0, 20)

    levels, pattern = host.levels_of(DAY.format(99))
    assert levels >= REFUSED_LEVEL
    assert pattern == "/calendar/0/"
    assert host.levels_of(PAGE.format("x"))[0] == 0


def test_pages_that_lead_nowhere_are_not_held_against_their_pattern() -> None:
    host = HostYield()
    for number in range(100):
        host.learn(DAY.format(number), 0, News.REPEATED, [], had_level=False)

    assert host.levels_of(DAY.format(7))[0] == 0


def test_a_page_is_not_blamed_for_links_to_another_pattern() -> None:
    host = HostYield()
    for number in range(100):
        host.learn(PAGE.format("x"), 0, News.REPEATED, [DAY.format(number)], had_level=False)

    assert host.levels_of(PAGE.format("x"))[0] == 0


def test_a_pattern_recovers_when_it_brings_news_again() -> None:
    host = HostYield()
    waste(host, 0, 20)
    for number in range(10):
        host.learn(DAY.format(number), 0, News.NEW, [], had_level=True)

    assert host.levels_of(DAY.format(99))[0] <= 1


def test_a_trap_among_real_pages_does_not_make_their_pattern_refused() -> None:
    host = HostYield()
    for number in range(50):
        host.learn(DAY.format(number), 0, News.NEW, [], had_level=False)
    waste(host, 100, 300)

    assert 0 < host.levels_of(DAY.format(7))[0] < REFUSED_LEVEL


def test_the_budget_grows_with_what_the_host_brings_and_who_links_to_it() -> None:
    host = HostYield()
    before = host.budget(BASE)
    for number in range(50):
        host.learn(PAGE.format(number), 0, News.NEW, [], had_level=False)
    with_news = host.budget(BASE)
    host.note_linking(b"12345678")
    host.note_linking(b"12345678")

    assert before == BASE < with_news < host.budget(BASE)
    assert host.budget(BASE) == with_news + 20


def test_news_of_a_url_with_a_level_give_some_of_the_budget_back() -> None:
    host = HostYield()
    waste(host, 0, 100)
    host.learn(PAGE.format("x"), 5, News.NEW, [], had_level=True)

    assert host.wasted == 80


def test_one_request_in_twenty_is_a_trial() -> None:
    host = HostYield()
    trials = 0
    for number in range(1_000):
        host.learn(PAGE.format(number), 0, News.NEW, [], had_level=False)
        trials += host.take_trial()

    assert trials == 50


def test_the_first_link_of_a_page_without_news_is_tried_before_the_others() -> None:
    first = level_of(8, 0, is_first=True)
    other = level_of(8, 0, is_first=False)

    assert first < other
    assert level_of(8, 0, is_first=False, news=1) == first  # another one brought news
    assert level_of(0, 0, is_first=False) == 0


def test_a_few_wasted_requests_of_a_pattern_give_a_lower_level_than_many() -> None:
    few, many = HostYield(), HostYield()
    waste(few, 0, 4)
    waste(many, 0, 40)

    assert 0 < few.levels_of(DAY.format(99))[0] < many.levels_of(DAY.format(99))[0]


def test_a_refusal_names_the_pattern_or_the_way() -> None:
    host = HostYield()
    waste(host, 0, 300)

    assert "/calendar/0/" in explain(host, DAY.format(1), 0, "host", (300, 200))
    assert "on the way" in explain(host, PAGE.format("x"), 12, "host", (300, 200))


def test_the_patterns_of_a_host_are_bounded() -> None:
    host = HostYield()
    for number in range(2_000):
        folder = "".join(chr(97 + int(digit)) for digit in str(number))
        url = f"http://a.example/{folder}/x.html"
        host.learn(url, 0, News.NEW, [], had_level=False)

    assert len(host.patterns) <= 300
