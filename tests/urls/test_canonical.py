"""One spelling per URL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.urls.canonical import (
    MAX_HOST_CHARS,
    MAX_URL_CHARS,
    NormalForm,
    host_of,
    origin_of,
    parse,
    path_of,
    port_of,
    target_of,
)
from support.rows import each_row

KEEP = NormalForm()
DROP = NormalForm(query="drop")
CLEAN = NormalForm(query="clean", session_parameters=("phpsessid", "jsessionid", "sid", "utm_*"))


@each_row(
    ("text", "url"),
    [
        ("HTTP://Example.ORG:80", "http://example.org/"),
        ("https://example.org:443/a/./b/../c", "https://example.org/a/c"),
        ("https://example.org:8443/", "https://example.org:8443/"),
        ("https://example.org/a#part", "https://example.org/a"),
        ("https://me:secret@example.org/", "https://example.org/"),
        ("https://me@example.org:81/a@b", "https://example.org:81/a@b"),
        ("https://example.org/a?", "https://example.org/a"),
        ("https://example.org/a?#x", "https://example.org/a"),
        ("https://example.org?a=1", "https://example.org/?a=1"),
        ("https://example.org/a??", "https://example.org/a??"),
        ("  https://example.org/a\n b ", "https://example.org/a%20b"),
        ("https:\\\\example.org\\a", "https://example.org/a"),
        ("https://Bücher.example/ü?ü", "https://xn--bcher-kva.example/%C3%BC?%C3%BC"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::0001]:8080/", "http://[::1]:8080/"),
        ("http://example.org/\ud800", "http://example.org/%EF%BF%BD"),
    ],
)
def test_spellings_of_one_url_become_one(text: str, url: str) -> None:
    assert KEEP.find(text) == url


@each_row(
    ("href", "url"),
    [
        ("c", "https://example.org/a/c"),
        ("../c", "https://example.org/c"),
        ("/c", "https://example.org/c"),
        ("//other.org", "https://other.org/"),
        ("?q", "https://example.org/a/b?q"),
        ("#x", "https://example.org/a/b?p=1"),
        ("", "https://example.org/a/b?p=1"),
        ("https:c", "https://example.org/a/c"),
        ("http:c", "http://c/"),
    ],
)
def test_a_relative_link_is_resolved_as_a_browser_does(href: str, url: str) -> None:
    assert KEEP.find(href, "https://example.org/a/b?p=1") == url


@each_row(
    "text",
    [
        "",
        "   ",
        "mailto:me@example.org",
        "javascript:void(0)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "data:text/html," + "x" * 2 * MAX_URL_CHARS,
        "tel:+49",
        "ftp://example.org/",
        "file:///etc/passwd",
        "ws://example.org/",
        "made-up:thing",
    ],
)
def test_what_is_no_link_for_a_crawler_is_no_url_and_no_fault(text: str) -> None:
    assert KEEP.find(text) is None
    assert KEEP.fault(text) == ""


@each_row(
    ("text", "base", "fault"),
    [
        ("http://example.org:99999/", "", "its port '99999' is above 65535"),
        ("http://example.org:http/", "", "its port 'http' is not a number"),
        ("http://example.org:80:80/", "", "its host 'example.org:80' is not a valid host name"),
        ("http://exa mple.org/", "", "its host 'exa mple.org' is not a valid host name"),
        ("//exa<mple/", "https://example.org/", "its host 'exa<mple' is not a valid host name"),
        ("http://1.2.3.256/", "", "its host '1.2.3.256' is not an IPv4 address"),
        ("http://[::g]/", "", "its host '[::g]' is not an IPv6 address"),
        ("http://xn--a.ß/", "", "its host 'xn--a.\\xdf' is not a valid host name"),
        ("http://", "", "it has no host"),
        ("http://:80/", "", "it has no host"),
        ("http://me@/x", "", "it has no host"),
        ("page.html", "", "http:// or https:// expected"),
        ("page.html", "nonsense", "its base is not a URL"),
        ("page.html", "mailto:me", "its base URL cannot have relative URLs"),
        ("http://example.org/" + "a" * MAX_URL_CHARS, "", "it is longer than 16384"),
        ("http://example.org/" + "ü" * 6000, "", "it is longer than 16384"),
        ("http://" + "a." * MAX_HOST_CHARS + "org/", "", "its host is longer than 253"),
        ("http://a\x00b\nc/", "", "its host 'a\\x00bc' is not a valid host name"),
    ],
)
def test_a_malformed_link_has_one_sentence_that_says_why(text: str, base: str, fault: str) -> None:
    assert KEEP.find(text, base) is None
    assert KEEP.fault(text, base).startswith(fault)
    assert "\n" not in KEEP.fault(text, base)


def test_what_is_relative_to_no_web_page_is_no_fault() -> None:
    assert KEEP.find("page.html", "ftp://example.org/") is None
    assert KEEP.fault("page.html", "ftp://example.org/") == ""


def test_the_longest_host_that_dns_can_name_is_taken() -> None:
    host = "a." * 126 + "b"

    assert len(host) == MAX_HOST_CHARS
    assert KEEP.find(f"http://{host}:8080/") == f"http://{host}:8080/"
    assert KEEP.find(f"http://me:{'x' * 300}@{host}./") == f"http://{host}./"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://a.org/x?b=1&c", "https://a.org/x"),
        ("https://a.org/x;sid=1?b=1", "https://a.org/x;sid=1"),
        ("https://a.org/x", "https://a.org/x"),
    ],
)
def test_a_dropped_query_is_gone_whole(text: str, url: str) -> None:
    assert DROP.find(text) == url


@each_row(
    ("text", "url"),
    [
        ("https://a.org/x?b=1&PHPSESSID=7&c=%7e&&d", "https://a.org/x?b=1&c=%7e&&d"),
        ("https://a.org/x?PHPSESSID=7", "https://a.org/x"),
        ("https://a.org/x?sid", "https://a.org/x"),
        ("https://a.org/x?sid=1&", "https://a.org/x"),
        ("https://a.org/x?&", "https://a.org/x?&"),
        ("https://a.org/x?utm_source=a&utm_=b&utm=c", "https://a.org/x?utm=c"),
        ("https://a.org/x?utm%5Fsource=a&b", "https://a.org/x?b"),
        ("https://a.org/x?side=1&insid=2", "https://a.org/x?side=1&insid=2"),
        ("https://a.org/x;jsessionid=AB.c1?b", "https://a.org/x?b"),
        ("https://a.org/x;v=1;JSESSIONID=AB;w=2/y", "https://a.org/x;v=1;w=2/y"),
        ("https://a.org/;sid", "https://a.org/;sid"),
        ("https://a.org/a/..;sid=1/b", "https://a.org/b"),
        ("https://a;sid=1.org/", "https://a;sid=1.org/"),
    ],
)
def test_cleaning_takes_session_parameters_and_not_a_byte_more(text: str, url: str) -> None:
    assert CLEAN.find(text) == url


def test_cleaning_with_no_names_takes_nothing() -> None:
    assert NormalForm(query="clean").find("https://a.org/;b=1?=1") == "https://a.org/;b=1?=1"


def test_the_case_of_a_listed_name_does_not_matter() -> None:
    form = NormalForm(query="clean", session_parameters=("ASPSESSIONID*",))

    assert form.find("https://a.org/?aspsessionidQX=1") == "https://a.org/"


pieces = st.sampled_from(
    [
        "/",
        "//",
        "..",
        ".",
        "%2e",
        ";",
        "sid=1",
        ";sid=1",
        "=",
        "&",
        "?",
        "#",
        "@",
        ":",
        "80",
        "a",
        "\\",
        " ",
        "\t",
        "ü",
        "%",
        "%41",
        "[::1]",
        "xn--",
        "http:",
        "example.org",
        "utm_x",
        "+",
        ".",
    ]
)
texts = st.lists(pieces | st.text(max_size=3), max_size=12).map("".join)
links = texts | texts.map("https://example.org".__add__) | texts.map("http://".__add__)


@given(links, texts, st.sampled_from([KEEP, DROP, CLEAN]))
def test_the_form_of_a_form_is_itself(text: str, base: str, form: NormalForm) -> None:
    url = form.find(text, "http://example.org/" + base)

    if url is not None:
        assert form.find(url) == url
        assert url.isascii()
        assert "#" not in url


@given(links, links)
def test_each_link_is_a_url_or_not_one_and_never_breaks_the_crawler(text: str, base: str) -> None:
    if KEEP.find(text, base) is not None:
        assert KEEP.fault(text, base) == ""
    else:
        assert "\n" not in KEEP.fault(text, base)


@given(links)
def test_slicing_agrees_with_the_parser(text: str) -> None:
    url = KEEP.find(text)
    parsed = parse(url) if url else None

    if url and parsed:
        assert host_of(url) == parsed.hostname
        assert origin_of(url) == parsed.origin
        assert port_of(url) == int(parsed.port or {"http:": 80, "https:": 443}[parsed.protocol])
        assert target_of(url) == parsed.pathname + parsed.search
        assert path_of(url) == parsed.pathname


@each_row(
    ("url", "host", "origin", "port", "target"),
    [
        ("http://a/", "a", "http://a", 80, "/"),
        ("https://a/b/?c/d", "a", "https://a", 443, "/b/?c/d"),
        ("http://a:8080/b?c:1", "a", "http://a:8080", 8080, "/b?c:1"),
        ("http://[::1]/b", "[::1]", "http://[::1]", 80, "/b"),
        ("https://[::1]:8443/@", "[::1]", "https://[::1]:8443", 8443, "/@"),
    ],
)
def test_a_form_comes_apart(url: str, host: str, origin: str, port: int, target: str) -> None:
    parts = (host_of(url), origin_of(url), port_of(url), target_of(url))

    assert parts == (host, origin, port, target)
    assert path_of(url) == target.partition("?")[0]
