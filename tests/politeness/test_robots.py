import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.politeness.robots import MAX_BYTES, Robots, RobotsRule, Ruling
from support.rows import each_row


def robots(*lines: str, agent: str = "gossamer") -> Robots:
    return Robots.parse("\n".join(lines).encode(), agent)


def everyone(*lines: str) -> Robots:
    return robots("User-agent: *", *lines)


def test_a_ruling_names_the_rule_and_its_line() -> None:
    rules = everyone("# ours", "Disallow: /private  # keep out")

    assert rules.judge("/private/diary") == Ruling(False, "Disallow: /private", 3)
    assert rules.judge("/news") == Ruling(True)


def test_the_longest_rule_wins_wherever_it_stands() -> None:
    rules = everyone("Allow: /a/open", "Disallow: /a", "Allow: /*.html$")

    assert not rules.judge("/a/x").allowed
    assert rules.judge("/a/open/x").allowed
    assert rules.judge("/a/x.html").allowed
    assert not rules.judge("/a/x.html?y").allowed


@pytest.mark.parametrize("lines", [("Allow: /x", "Disallow: /x"), ("Disallow: /x", "Allow: /x")])
def test_of_two_rules_as_long_the_one_that_allows_wins(lines: tuple[str, str]) -> None:
    assert everyone(*lines).judge("/x").allowed


def test_spellings_of_one_path_are_as_long_as_each_other() -> None:
    assert everyone("Disallow: /ツ", "Allow: /%E3%83%84").judge("/%e3%83%84").allowed


def test_the_groups_of_one_agent_are_one_group() -> None:
    rules = robots(
        *("User-agent: Gossamer", "Disallow: /a", "User-agent: other", "Disallow: /b"),
        *("User-agent: x", "user-agent: GOSSAMER/2.0 (+x)", "Disallow: /c"),
    )

    assert [rules.judge(path).allowed for path in ("/a", "/b", "/c")] == [False, True, False]


def test_the_group_of_all_counts_only_where_none_names_us() -> None:
    lines = ("User-agent: *", "Disallow: /", "Crawl-delay: 9", "User-agent: gossamer")

    assert robots(*lines).judge("/x").allowed
    assert robots(*lines).crawl_delay_s is None
    assert not robots(*lines, agent="other").judge("/x").allowed


@each_row("name", ["gossamers", "goss", "xgossamer", "gossamer-news", "bot gossamer"])
def test_a_group_of_a_similar_name_is_not_ours(name: str) -> None:
    assert robots(f"User-agent: {name}", "Disallow: /").judge("/x").allowed


def test_a_token_with_digits_is_compared_as_a_whole_word() -> None:
    lines = ("User-agent: bot1", "Disallow: /", "User-agent: *", "Allow: /")

    assert not robots(*lines, agent="Bot1").judge("/x").allowed
    assert robots(*lines, agent="bot2").judge("/x").allowed


def test_other_lines_do_not_end_a_group() -> None:
    rules = robots(
        "User-agent: gossamer", "Crawl-delay: 2", "Sitemap: /s", "User-agent: b", "Disallow: /"
    )

    assert not rules.judge("/x").allowed
    assert rules.crawl_delay_s == 2.0


def test_rules_before_any_agent_belong_to_nobody() -> None:
    assert robots("Disallow: /", "<html>: no", "User-agent: *", "Disallow: /x").judge("/y").allowed


def test_robots_txt_itself_is_always_allowed() -> None:
    assert everyone("Disallow: /").judge("/robots.txt").allowed


def test_an_empty_path_is_the_root() -> None:
    assert not everyone("Disallow: /$").judge("").allowed


@each_row(
    ("pattern", "matching", "other"),
    [
        ("/a*b", "/axxb/c", "/ac"),
        ("/a*b$", "/abbb", "/abc"),
        ("/a*", "/a", "/b"),
        ("*/a", "/x/a", "/x/b"),
        ("/a*$", "/abc", "/x"),
        ("/a**b", "/axb", "/ax"),
        ("/*.gif$", "/x.gif", "/x.gif?y"),
        ("/ab*b$", "/abb", "/ab"),
        ("/a$b", "/a$b", "/a"),
        ("/%2A", "/*", "/x"),
        ("/%24", "/$", "/x"),
        ("/a%2fb", "/a%2Fb", "/a/b"),
        ("/%7ejoe", "/~joe", "/%257Ejoe"),
        ("/a b", "/a%20b", "/a+b"),
        ("/|", "/%7C", "/%7"),
        ("/*%", "/a%20b", "/ab"),
        ("/x?u=https://a", "/x?u=https%3A%2F%2Fa", "/x?u=https"),
        ("/*/private", "/x?u=/private", "/private"),
        ("/*https%3A%2F%2F", "/x?u=https://a", "/x?u=http://a"),
        ("/a:b", "/a%3Ab", "/a"),
        ("/*B$", "/x/B", "/x+"),
    ],
)
def test_a_pattern_matches_one_path_and_not_the_other(
    pattern: str, matching: str, other: str
) -> None:
    rules = everyone(f"Disallow: {pattern}")

    assert not rules.judge(matching).allowed
    assert rules.judge(other).allowed


def test_octets_that_are_no_utf_8_are_compared_as_octets() -> None:
    assert not Robots.parse(b"User-agent: *\nDisallow: /caf\xe9").judge("/caf%E9").allowed


@each_row("end", [b"\n", b"\r", b"\r\n"])
@each_row("start", [b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\0\0"])
def test_marks_nuls_and_line_ends_do_not_matter(start: bytes, end: bytes) -> None:
    body = start + end.join((b"User-agent:*", b"", b"Dis\0allow : /x\t"))

    assert Robots.parse(body).judge("/x").line == 3


def test_utf_16_with_a_mark_is_read() -> None:
    assert not Robots.parse("User-agent: *\nDisallow: /x".encode("utf-16")).judge("/x").allowed


@pytest.mark.parametrize("slip", ["disallow /x", "Dissallow: /x", "DISALOW:/x"])
def test_slips_of_the_pen_are_understood(slip: str) -> None:
    assert not robots("useragent: *", slip).judge("/x").allowed


@each_row(
    ("value", "delay_s"),
    [
        ("10", 10.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("3 # s", 3.0),
        ("-1", None),
        ("x", None),
        ("nan", None),
    ],
)
def test_a_crawl_delay_is_a_number_of_seconds(value: str, delay_s: float | None) -> None:
    assert everyone(f"Crawl-delay: {value}").crawl_delay_s == delay_s


def test_of_two_delays_the_longer_holds() -> None:
    assert everyone("Crawl-delay: 9", "Crawl-delay: 2").crawl_delay_s == 9.0


def test_sitemaps_keep_their_order_and_come_once() -> None:
    rules = robots("Sitemap: http://a/2", "sitemap: http://a/1", "Site-map: http://a/2", "Sitemap:")

    assert rules.sitemaps == ("http://a/2", "http://a/1")


def test_what_lies_past_the_limit_is_not_read_nor_half_a_line() -> None:
    head = b"User-agent: *\nDisallow: /\n"
    body = (
        head + b"#" * (MAX_BYTES - len(head) - 20) + b"\nAllow: /private/open-to-all" + b"x" * 2**20
    )

    assert Robots.parse(body).rules == (RobotsRule(False, "/", 2),)


def test_a_file_of_1_4_mb_and_lines_without_end_are_survived() -> None:
    body = b"User-agent: *\n" + b"Disallow: /dir/page\n" * 70_000
    long = b"User-agent: *\nDisallow: /" + b"a*" * 200_000

    began = time.process_time()
    assert not Robots.parse(body).judge("/dir/page").allowed
    assert Robots.parse(long).judge("/" + "a" * 2000).allowed
    assert time.process_time() - began < 2.0


def test_a_hostile_pattern_costs_one_pass_over_the_path() -> None:
    rules = everyone("Disallow: /*a*a*a*a*b$")
    path = "/" + "a" * 2000

    began = time.process_time()
    for _ in range(10):
        assert rules.judge(path).allowed

    assert (time.process_time() - began) / 10 < 0.005


def test_a_group_that_is_named_often_has_each_rule_once() -> None:
    agents = ["User-agent: *", "User-agent: gossamer"] * 2000

    rules = robots(*agents, *["Disallow: /a"] * 2000)

    assert len(rules.rules) == 2000
    assert not rules.judge("/a").allowed
    assert not robots(*agents, "Disallow: /a", agent="other").judge("/a").allowed


@given(st.binary(max_size=300), st.text(max_size=50))
def test_any_bytes_and_any_path_give_a_ruling(body: bytes, target: str) -> None:
    ruling = Robots.parse(b"User-agent: *\nDisallow: " + body).judge(target)

    assert ruling.allowed or ruling.line


@given(
    st.text(alphabet="/ab*", max_size=8).map(lambda text: "/" + text),
    st.text(alphabet="/ab", max_size=10).map(lambda text: "/" + text),
    st.booleans(),
)
def test_a_pattern_matches_what_its_definition_says(
    pattern: str, path: str, is_closed: bool
) -> None:
    def matches(p: str, s: str) -> bool:
        if not p:
            return not is_closed or not s
        if p[0] == "*":
            return any(matches(p[1:], s[n:]) for n in range(len(s) + 1))
        return s[:1] == p[0] and matches(p[1:], s[1:])

    rules = everyone(f"Disallow: {pattern}{'$' if is_closed else ''}")

    assert rules.judge(path).allowed != matches(pattern, path)
