"""robots.txt as people save and misspell it."""

import time

from hypothesis import given
from hypothesis import strategies as st

from gossamer.politeness.robots import Robots
from gossamer.politeness.robots_text import key_of
from support.rows import each_row

RULES = "User-agent: *\nDisallow: /private\nCrawl-delay: 3\nSitemap: http://a.example/s.xml\n"


def forbids(body: bytes, path: str = "/private") -> bool:
    return not Robots.parse(body).judge(path).allowed


@each_row(
    "body",
    [
        b"\xff\xfe" + RULES.encode(),
        b"\xfe\xff" + RULES.encode(),
        b"\xff\xfe" + RULES.encode("utf-16le"),
        b"\xfe\xff" + RULES.encode("utf-16be"),
        RULES.encode("utf-16le"),
        b"\xff\xfe\xef\xbb\xbf" + RULES.encode(),
    ],
)
def test_a_byte_order_mark_that_does_not_fit_hides_nothing(body: bytes) -> None:
    found = Robots.parse(body)

    assert not found.judge("/private").allowed
    assert found.judge("/open").allowed
    assert found.crawl_delay_s == 3


@each_row(
    "page",
    [
        "<html><head></head><body><pre>\n{}</pre></body></html>",
        "<!DOCTYPE html>\n<html><body>\n<p>{}</p>\n</body></html>",
        "<pre>{}</pre>",
    ],
)
@each_row("line_end", ["\n", "<br>", "<BR />\n", "</p><p>"])
def test_rules_in_a_page_of_html_count(page: str, line_end: str) -> None:
    found = Robots.parse(page.format(RULES.replace("\n", line_end)).encode())

    assert not found.judge("/private").allowed
    assert found.judge("/open").allowed
    assert found.crawl_delay_s == 3


def test_references_in_a_page_of_html_are_read() -> None:
    page = b"<html><body>User-agent: &#42;<br>Disallow: /a?b&amp;c<br></body></html>"

    assert forbids(page, "/a?b&c")


def test_a_page_of_html_without_rules_allows_everything() -> None:
    assert not forbids(b"<!doctype html><html><body><h1>Not found</h1> Disallow all of it", "/")


def test_several_agents_in_one_line_are_all_named() -> None:
    body = b"User-agent: One, Gossamer , Two\nDisallow: /private\n\nUser-agent: *\nDisallow: /all\n"

    assert forbids(body)
    assert not forbids(body, "/all")
    assert forbids(b"User-agent: One, *\nDisallow: /private")
    assert not forbids(b"User-agent: One, Two\nDisallow: /private")


@each_row(
    ("written", "meant"),
    [
        *((one, "disallow") for one in (
            "disallow", "Disallow", "DISALLOW ", "dissallow", "dissalow", "disalow", "diasllow",
            "disallaw", "Desallow", "diallow", "disllow", "disalllow", "disallows", "disallowed",
            "dis-allow", "dsallow", "dissllow",
        )),
        *((one, "agent") for one in (
            "user-agent", "useragent", "user agent", "user_agent", "useg-agent", "ser-agent",
            "users-agent", "user-agents", "user-agnet", "User-Agen",
        )),
        *((one, "delay") for one in ("crawl-delay", "crawldelay", "crawl delay", "craw-delay")),
        *((one, "sitemap") for one in ("sitemap", "site-map", "sitemaps", "site map")),
        ("allow", "allow"),
        *((one, None) for one in (
            "allowed", "alow", "allows", "host", "noindex", "clean-param", "request-rate", "", ":",
            "visit-time", "disallow these pages", "user", "agent", "x" * 1000,
        )),
    ],
)  # fmt: skip
def test_near_spellings_are_understood_and_only_allow_allows(
    written: str, meant: str | None
) -> None:
    assert key_of(written.encode()) == meant


def test_misspelled_rules_forbid() -> None:
    assert forbids(b"useg-agent: *\nDesallow: /private")
    assert forbids(b"<html><body>useg-agent: *<br>Desallow: /private<br></body></html>")


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(body: bytes) -> None:
    Robots.parse(b"<html>user-agent: *\n" + body)
    Robots.parse(b"\xff\xfe" + body)


def test_a_page_of_half_tags_is_read_in_linear_time() -> None:
    began_s = time.process_time()
    Robots.parse(b"<html>user-agent: *\n" + b"<" * 250_000 + b"<p" * 125_000)

    assert time.process_time() - began_s < 2.0
