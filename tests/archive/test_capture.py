"""A capture made by the extension is the one made in Python, to the byte."""

import os
from itertools import islice
from types import ModuleType

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from archive.archive_samples import ANY_FETCHED, ANY_LEASE, ANY_TIME_US, a_lease, a_page
from gossamer.archive.capture import capture_in_python, capture_of, random_ids
from gossamer.archive.warc import RevisitOf
from gossamer.native import extensions
from gossamer.records import Fetched, Lease, Purpose

IDS = bytes(range(100, 148))
PLACE = ("w1-20260101000000-00000.warc.gz", 123_456)
PROPERTY = settings(deadline=None, suppress_health_check=list(HealthCheck))

_HOSTS = st.text("aw3.-", min_size=1, max_size=12) | st.sampled_from(
    ["www.example.org", "www2.a.example", "a.www.b", "wwww.c", "www", "www.", "A.example", "[::1]"]
)
_PORTS = st.sampled_from(["", ":8080", ":80", ":0443", ":65536", ":12345", ":", ":x"])
_PATHS = st.text("aB/.%~;@:", max_size=12).map("/".__add__) | st.sampled_from(
    ["", "//", "/é", "/ "]
)
_QUERIES = st.text("aB=&%/?", max_size=20).map("?".__add__) | st.sampled_from(
    ["", "?" + "&".join("zyxab" * 20), "?" + "q" * 3000, "?a#b", '?"', "?\\"]
)
ANY_WEB_URL = st.builds(
    lambda *parts: "".join(parts),
    st.sampled_from(["http://", "https://", "HTTP://", "ftp://", "httpss://"]),
    _HOSTS, _PORTS, _PATHS, _QUERIES,
)  # fmt: skip
TYPES = st.sampled_from(
    [
        b"Content-Type: text/html; charset=utf-8",
        b"content-type:\tText/HTML",
        b"Content-Type : a.b/c+d-e_f/g",
        b"Content-Type: nonsense",
        b"Content-Type: text/",
        b"Content-Type: /html",
        b"Content-Types: text/plain",
        b"Content-Type",
        b"X-Content-Type: text/css",
    ]
)


@pytest.fixture(scope="module")
def c() -> ModuleType:
    module = extensions.load("gossamer.native._archive")
    if module is None:
        pytest.skip("gossamer.native._archive is not built; `make native` builds it")
    return module


def agree(c: ModuleType, lease: Lease, answer: Fetched, *, is_made: bool = False) -> None:
    """C makes what Python makes, or leaves it to Python where it may."""
    ours = c.capture_of(lease, answer, 1, IDS, PLACE)

    assert ours is not None or not is_made
    assert ours in (None, capture_in_python(lease, answer, 1, IDS, PLACE))


@PROPERTY
@given(lease=ANY_LEASE, answer=ANY_FETCHED)
def test_any_exchange(c: ModuleType, lease: Lease, answer: Fetched) -> None:
    agree(c, lease, answer)
    agree(
        c, structs.replace(lease, url=answer.url, host="a", via=""), structs.replace(answer, cut="")
    )


@PROPERTY
@given(url=ANY_WEB_URL)
@example("http://www.example.org/A/b/?q=2&a=1&&B")
@example("https://example.org/?")
def test_any_url(c: ModuleType, url: str) -> None:
    agree(c, a_lease(url), a_page(url))


@PROPERTY
@given(at_us=ANY_TIME_US)
@example(951_782_400_000_000)  # 29 February 2000
@example(4_107_542_399_999_999)  # 28 February 2100
@example(253_402_300_799_999_999)  # the last moment of the year 9999
def test_any_time(c: ModuleType, at_us: int) -> None:
    agree(c, a_lease(), structs.replace(a_page(), at_us=at_us), is_made=True)


@PROPERTY
@given(lines=st.lists(TYPES, max_size=4))
def test_any_type(c: ModuleType, lines: list[bytes]) -> None:
    head = b"\r\n".join([b"HTTP/1.1 200 OK", *lines, b"", b""])

    agree(c, a_lease(), a_page(head=head), is_made=True)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "https://www.example.org/A/b.html",
        "http://a.example:8080/x?b=2&a=1",
        "http://127.0.10.1:8070/%20/",
    ],
)
def test_an_ordinary_page_is_not_left_to_python(c: ModuleType, url: str) -> None:
    lease = structs.replace(
        a_lease(url), tries=2, redirects=1, is_trusted=True, source="ab", address="x"
    )

    agree(c, lease, a_page(url), is_made=True)
    agree(c, structs.replace(lease, purpose=Purpose.ROBOTS), a_page(url), is_made=True)
    agree(c, a_lease(url), a_page(url, body=os.urandom(70_000)), is_made=False)


def test_what_does_not_fit_a_small_record_is_left_to_python(c: ModuleType) -> None:
    url = "http://example.org/" + "x" * 9000

    assert c.capture_of(a_lease(url), a_page(url), 1, IDS, PLACE) is None
    assert c.capture_of(a_lease(), a_page(), 1, IDS, ("n" * 9000, 0)) is None


def test_what_is_no_exchange_raises(c: ModuleType) -> None:
    with pytest.raises(AttributeError):
        c.capture_of(a_page(), a_page(), 1, IDS, PLACE)
    with pytest.raises(TypeError):
        c.capture_of(a_lease(), a_page(), 1, b"too few", PLACE)
    with pytest.raises(Exception, match=r"(?i)level"):
        c.capture_of(a_lease(), a_page(), 99, IDS, PLACE)


def test_a_revisit_is_indexed_by_the_body_that_it_repeats() -> None:
    origin = RevisitOf("https://docs.example.org/old", 0, "sha1:" + "A" * 32)

    line = capture_of(a_lease(), a_page(), 1, IDS, PLACE, origin)[4]

    assert '"mime": "warc/revisit"' in line
    assert origin.digest in line


def test_no_random_bytes_are_given_twice() -> None:
    taken = list(islice(random_ids(), 200))

    assert {len(one) for one in taken} == {48}
    assert len(set(taken)) == 200


LINES = st.lists(
    st.sampled_from([
        b"HTTP/2 200\r\n", b"Content-Length: 5\r\n", b"Content-Length:5\r\n",
        b"content-length: 7\r\n", b"CONTENT-LENGTH : 5\r\n", b"content-length: 55\r\n",
        b"Content-Length: 5\n", b"Transfer-Encoding: chunked\r\n", b"transfer\rencoding: x\r\n",
        b"X-Content-Length: 9\r\n", b"Server: x\r\n", b" folded\r\n", b"\r\n", b"\n", b"\x85\r\n",
        b"content-length", b"a",
    ]),
    max_size=9,
)  # fmt: skip


@PROPERTY
@given(lines=LINES, ends=st.sampled_from([b"", b"\r\n", b"\r\n\r\n", b"\n\n"]))
def test_any_head(c: ModuleType, lines: list[bytes], ends: bytes) -> None:
    head = b"".join([b"HTTP/1.1 200 OK\r\n", *lines, ends])

    agree(c, a_lease(), a_page(head=head, body=b"12345"))
