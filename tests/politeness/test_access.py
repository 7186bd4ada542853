import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.politeness.access import Access
from gossamer.politeness.robots import Robots, RobotsRule
from gossamer.settings import Politeness
from support.rows import each_row

NOW_US = 1_767_225_600_000_000
HOUR_US = 3_600_000_000
SETTINGS = Politeness()
CLOSED = b"User-agent: *\nDisallow: /"


@pytest.mark.parametrize("status", [200, 206])
def test_an_answer_gives_rules_for_a_day_at_the_most(status: int) -> None:
    access = Access.from_answer(status, CLOSED, NOW_US, SETTINGS, tries=3)

    assert access.judge("/x").line == 2
    assert not access.is_denied_all
    assert access.tries == 0
    assert access.is_fresh(NOW_US + 24 * HOUR_US - 1)
    assert not access.is_fresh(NOW_US + 24 * HOUR_US)


@each_row("status", [401, 403, 404, 410, 301, 308])
def test_a_refusal_and_endless_redirects_allow_everything(status: int) -> None:
    access = Access.from_answer(status, CLOSED, NOW_US, SETTINGS, tries=0)

    assert access.judge("/x").allowed
    assert str(status) in access.detail


@each_row("status", [429, 500, 503, 599, 0, 101])
def test_a_server_error_denies_everything_until_it_answers(status: int) -> None:
    access = Access.from_answer(status, b"", NOW_US, SETTINGS, tries=0)

    assert access.is_denied_all
    assert not access.judge("/x").allowed
    assert f"status {status}" in access.judge("/x").rule
    assert access.judge("/robots.txt").allowed
    assert access.expires_us == NOW_US + 60_000_000


def test_each_try_waits_twice_as_long_and_never_more_than_a_day() -> None:
    waits_us = [
        Access.from_failure("timeout", NOW_US, SETTINGS, tries).expires_us - NOW_US
        for tries in (0, 1, 2, 3, 9, 99, 10**6)
    ]

    assert waits_us[:4] == [60_000_000, 120_000_000, 240_000_000, 480_000_000]
    assert waits_us[4] == 60_000_000 * 2**9
    assert waits_us[5:] == [24 * HOUR_US] * 2


def test_a_host_is_given_up_after_the_last_try() -> None:
    access = Access.from_failure("timeout", NOW_US, SETTINGS, tries=0)
    for _ in range(SETTINGS.robots_tries - 1):
        assert not access.is_hopeless
        access = Access.from_failure("timeout", NOW_US, SETTINGS, tries=access.tries)

    assert access.is_hopeless
    assert access.tries == 5


def test_a_clock_that_was_set_back_makes_it_stale() -> None:
    access = Access.from_answer(200, b"", NOW_US, SETTINGS, tries=0)

    assert not access.is_fresh(NOW_US - 1)


def test_a_crawl_delay_is_honoured_up_to_the_setting() -> None:
    def delay_s(text: bytes) -> float | None:
        body = b"User-agent: *\nCrawl-delay: " + text
        return Access.from_answer(200, body, NOW_US, SETTINGS, tries=0).crawl_delay_s

    assert (delay_s(b"10"), delay_s(b"999999"), delay_s(b"")) == (10.0, 300.0, None)


RULES = st.builds(
    RobotsRule, st.booleans(), st.text(st.characters(codec="utf-8")), st.integers(1, 10**6)
)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
DELAYS = st.none() | st.floats(0, 1e6)


@given(
    st.builds(
        Access,
        robots=st.builds(
            Robots,
            rules=st.lists(RULES, max_size=5).map(tuple),
            crawl_delay_s=DELAYS,
            sitemaps=st.lists(TEXTS, max_size=3).map(tuple),
        ),
        at_us=st.integers(0, 2**62),
        expires_us=st.integers(0, 2**62),
        is_denied_all=st.booleans(),
        is_hopeless=st.booleans(),
        tries=st.integers(0, 100),
        detail=TEXTS,
        crawl_delay_s=DELAYS,
    )
)
def test_what_is_stored_comes_back_equal(access: Access) -> None:
    assert Access.decode(access.encode()) == access


@each_row("damaged", [b"", b"\x01", b"\x94\x63\x90\x90\x93\x90\xc0\x90", b"\x94\x01", b"\xc1"])
def test_bytes_that_are_not_ours_are_an_error(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"state of a robots\.txt"):
        Access.decode(damaged)


@given(st.binary(max_size=2000))
def test_what_any_body_says_can_be_stored(body: bytes) -> None:
    access = Access.from_answer(
        200, b"User-agent: *\nDisallow: /" + body, NOW_US, SETTINGS, tries=0
    )

    assert Access.decode(access.encode()) == access
