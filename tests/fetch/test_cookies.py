"""Which cookies a site may set, and to whom they go."""

from __future__ import annotations

import pytest

from gossamer.fetch.cookies import Cookie, Jar, cookie_text, read_cookie_text, read_set_cookie
from support.rows import each_row

NOW_S = 1_767_225_600.0  # 2026-01-01
URL = "https://www.example.org/shop/list?x"


def sent(url: str, *given: str, at: str = URL, now_s: float = NOW_S) -> str:
    """What goes to `url` after an answer from `at` gave these cookies."""
    jar = Jar()
    jar.take_headers(at, given, NOW_S)
    return jar.header_for(url, now_s)


@each_row(
    ("given", "url", "expected"),
    [
        ("a=1", "https://www.example.org/shop/", "a=1"),
        ("a=1", "https://www.example.org/shop", "a=1"),
        ("a=1", "https://www.example.org/shopping", ""),
        ("a=1", "https://www.example.org/", ""),
        ("a=1; path=/", "https://www.example.org/", "a=1"),
        ("a=1; Path=shop", "https://www.example.org/shop/x", "a=1"),
        ("a=1; path=/", "http://www.example.org/", "a=1"),
        ("a=1; path=/", "https://www.example.org:8443/", "a=1"),
        ("a=1; path=/", "https://example.org/", ""),
        ("a=1; path=/", "https://a.www.example.org/", ""),
        ("a=1; path=/; domain=example.org", "https://example.org/", "a=1"),
        ("a=1; path=/; Domain=.EXAMPLE.org", "https://a.b.example.org/", "a=1"),
        ("a=1; path=/; domain=example.org", "https://badexample.org/", ""),
        ("a=1; path=/; domain=other.example", "https://other.example/", ""),
        ("a=1; path=/; domain=org", "https://www.example.org/", ""),
        ("a=1; path=/; domain=a.www.example.org", "https://a.www.example.org/", ""),
        ("a=1; path=/; secure", "https://www.example.org/", "a=1"),
        ("a=1; path=/; secure", "http://www.example.org/", ""),
        ("__Secure-a=1; path=/; secure", "https://www.example.org/", "__Secure-a=1"),
        ("__Secure-a=1; path=/", "https://www.example.org/", ""),
        ("__Host-a=1; path=/; secure", "https://www.example.org/", "__Host-a=1"),
        ("__Host-a=1; path=/; secure; domain=example.org", "https://www.example.org/", ""),
        ("__host-a=1; secure", "https://www.example.org/shop/", ""),
        ("a; path=/", "https://www.example.org/", "a"),
        ('a="x y"; path=/', "https://www.example.org/", 'a="x y"'),
        ("a=b=c; path=/", "https://www.example.org/", "a=b=c"),
        ("; path=/", "https://www.example.org/", ""),
        ("a=\x00; path=/", "https://www.example.org/", ""),
        ("a=" + "x" * 4096 + "; path=/", "https://www.example.org/", ""),
    ],
)
def test_a_cookie_goes_where_its_rules_allow(given: str, url: str, expected: str) -> None:
    assert sent(url, given) == expected


@pytest.mark.parametrize("at", ["http://127.0.0.1:80/", "http://[::1]/", "http://a.localhost/"])
def test_an_address_keeps_its_cookies_to_itself(at: str) -> None:
    host = at.partition("//")[2].partition("/")[0].partition(":80")[0]

    assert sent(at, f"a=1; domain={host}", at=at) == "a=1"
    assert sent("http://127.0.0.2/", "a=1; domain=0.0.1", at=at) == ""
    assert sent("http://b.localhost/", "a=1; domain=localhost", at=at) == ""


def test_neighbours_below_a_public_suffix_share_nothing() -> None:
    assert sent("https://b.github.io/", "a=1; domain=github.io", at="https://a.github.io/") == ""
    own = sent("https://github.io/", "a=1; domain=github.io", at="https://github.io/")
    assert own == "a=1"  # for this very host alone
    assert sent("https://b.github.io/", "a=1; domain=github.io", at="https://github.io/") == ""


@each_row(
    ("ends", "lasts_s"),
    [
        ("max-age=60", 60),
        ("max-age=60; expires=Thu, 01 Jan 1970 00:00:00 GMT", 60),
        ("max-age=x; expires=Thu, 01 Jan 2026 00:01:00 GMT", 60),
        ("expires=Thu, 01 Jan 2026 00:01:00 GMT", 60),
        ("expires=Thursday, 01-Jan-26 00:01:00 GMT", 60),
        ("expires=Thu Jan  1 00:01:00 2026", 60),
        ("expires=Sat, 30 Feb 2026 00:01:00 GMT", 10**9),  # no date: for the session
        ("expires=soon", 10**9),
        ("max-age=99999999999999999999", 400 * 86400),
        ("expires=Fri, 31 Dec 9999 23:59:59 GMT", 400 * 86400),
    ],
)
def test_a_cookie_ends_when_it_says(ends: str, lasts_s: int) -> None:
    given = f"a=1; path=/; {ends}"

    assert sent(URL, given, now_s=NOW_S + lasts_s - 1) == "a=1"
    if lasts_s < 10**9:
        assert sent(URL, given, now_s=NOW_S + lasts_s) == ""


@pytest.mark.parametrize(
    "ends", ["max-age=0", "max-age=-1", "expires=Thu, 01 Jan 1970 00:00:00 GMT"]
)
def test_a_site_takes_its_cookie_back(ends: str) -> None:
    assert sent(URL, "a=1; path=/", "b=2; path=/", f"a=; path=/; {ends}") == "b=2"


def test_longer_paths_come_first_then_older_cookies() -> None:
    given = ("a=1; path=/", "b=2; path=/shop", "c=3; path=/", "a=4; path=/")

    assert sent(URL, *given) == "b=2; a=4; c=3"


def test_what_is_secure_is_neither_made_nor_replaced_in_the_open() -> None:
    jar = Jar()
    jar.take_headers("http://www.example.org/", ["a=0; secure"], NOW_S)
    assert jar.all() == []

    jar.take_headers("https://www.example.org/", ["a=1; secure; domain=example.org"], NOW_S)
    jar.take_headers("http://www.example.org/", ["a=2", "b=2"], NOW_S)
    assert jar.header_for("https://www.example.org/", NOW_S) == "a=1; b=2"


def test_a_site_cannot_fill_the_memory_and_others_keep_theirs() -> None:
    jar = Jar()
    jar.take_headers("http://a.example/", ["kept=1"], NOW_S)
    for number in range(1000):
        jar.take_headers("http://b.example/", [f"n{number}=" + "x" * 500], NOW_S)

    assert len(jar.header_for("http://b.example/", NOW_S)) < 20_000
    assert jar.header_for("http://a.example/", NOW_S) == "kept=1"
    for number in range(5000):
        jar.take_headers(f"http://s{number}.example/", ["a=1"], NOW_S)
    assert len(jar.all()) <= 4000


def test_changes_are_told_once_and_only_where_something_changed() -> None:
    jar = Jar()
    jar.take_headers(URL, ["a=1", "b=2"], NOW_S)
    jar.take_headers(URL, ["a=1"], NOW_S)
    other = Jar()
    other.put(jar.take_changes(), NOW_S)

    assert other.all() == jar.all()
    assert jar.take_changes() == []
    jar.take_headers(URL, ["a=; max-age=0", "z=; max-age=0"], NOW_S)
    other.put(jar.take_changes(), NOW_S)
    assert other.header_for(URL, NOW_S) == "b=2"


def test_a_closed_jar_hears_nothing_of_sites() -> None:
    jar = Jar([Cookie("www.example.org", True, "/", False, 0, "a", "1")], is_open=False)
    jar.take_headers(URL, ["a=2", "b=3"], NOW_S)

    assert jar.header_for(URL, NOW_S) == "a=1"
    assert jar.is_personal("https://example.org/")
    assert not jar.is_personal("https://other.example/")


def test_cookies_survive_their_file() -> None:
    jar = Jar()
    jar.take_headers(URL, ["a=1; secure; domain=example.org", "b=\xe4; max-age=9", "c"], NOW_S)

    assert read_cookie_text(cookie_text(jar.all(), "a remark")) == jar.all()


def test_files_of_other_programs_are_read() -> None:
    text = (
        "# Netscape HTTP Cookie File\n\n"
        "#HttpOnly_.example.org\tTRUE\t/\tTRUE\t1767225700.5\ta\t1\r\n"
        "127.0.0.1\tFALSE\t/\tFALSE\t-1\tb\t\n.github.io\tTRUE\t/\tFALSE\t0\tc\n"
    )

    assert read_cookie_text(text) == [
        Cookie("example.org", False, "/", True, 1_767_225_700, "a", "1"),
        Cookie("127.0.0.1", True, "/", False, 0, "b", ""),
        Cookie("github.io", True, "/", False, 0, "c", ""),
    ]


@pytest.mark.parametrize("line", ['[{"name": "a"}]', "a b c", "a\tFALSE\tx\tFALSE\t0\ta\tb"])
def test_another_form_is_named_by_its_line(line: str) -> None:
    with pytest.raises(ValueError, match=r"^2$"):
        read_cookie_text(f"# x\n{line}\n")


def test_a_cookie_is_read_from_its_header() -> None:
    cookie = read_set_cookie("a=1; HttpOnly; SameSite=Strict; Priority=High", URL, NOW_S)

    assert cookie == Cookie("www.example.org", True, "/shop", False, 0, "a", "1")
