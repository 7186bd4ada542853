"""Records in C as in Python: what is read from them is the same to the byte."""

import gzip
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from isal import igzip_lib

from gossamer.archive.head import changed_head, is_usual_in_python
from gossamer.archive.pack import digest_in_python, member_in_python, response_in_python
from gossamer.base import native

# Around the ends of SHA-1's blocks of 64 bytes and of its last one, and some that isal cuts.
SIZES = st.one_of(st.integers(0, 300), st.sampled_from([37_280, 65_535, 65_536, 300_000]))
BLOCKS = st.builds(lambda size, byte: bytes([byte, 65]) * (size // 2) + b"x" * (size % 2), SIZES,
                   st.integers(0, 255))  # fmt: skip
# Small records as they are, with phrases that come again, and with bytes that have no code.
TEXTS = st.lists(
    st.one_of(
        st.sampled_from([b"WARC-Date: ", b"\r\n", b"a", b"http://example.org/", b"x" * 300]),
        st.binary(max_size=20),
        st.text(st.characters(max_codepoint=127), max_size=40).map(str.encode),
    ),
    max_size=60,
).map(b"".join)
STARTS = st.text(st.characters(max_codepoint=127), max_size=300)
LEVELS = st.sampled_from([0, 1, 2, 3])


@pytest.fixture(scope="module")
def c() -> ModuleType:
    module = native.load("gossamer.archive._pack")
    if module is None:
        pytest.skip("gossamer.archive._pack is not built; `make native` builds it")
    if not module.IS_QUICK:
        pytest.skip("this processor has no instructions for SHA-1, so Python does it")
    return module


@given(data=BLOCKS)
def test_a_digest_is_that_of_python(c: ModuleType, data: bytes) -> None:
    assert c.digest_of(data) == digest_in_python(data)


@given(start=STARTS, block=BLOCKS | TEXTS, level=LEVELS)
def test_a_record_is_that_of_python(c: ModuleType, start: str, block: bytes, level: int) -> None:
    ours = c.member_of(start, block, level)
    twin = member_in_python(start, block, level)

    assert gzip.decompress(ours) == gzip.decompress(twin)
    assert igzip_lib.decompress(ours, igzip_lib.DECOMP_GZIP) == gzip.decompress(twin)


@given(start=STARTS, head=BLOCKS, body=BLOCKS, level=LEVELS)
def test_a_response_is_that_of_python(
    c: ModuleType, start: str, head: bytes, body: bytes, level: int
) -> None:
    ours, digest = c.response_of(start, head, body, level)
    twin, same_digest = response_in_python(start, head, body, level)

    assert gzip.decompress(ours) == gzip.decompress(twin)
    assert digest == same_digest


def test_the_small_records_of_a_page_are_hardly_larger(c: ModuleType) -> None:
    start = (
        "WARC/1.1\r\nWARC-Type: request\r\nWARC-Record-ID: "
        "<urn:uuid:1791b856-0fb1-4368-afa4-cf84c7b4e02d>\r\nWARC-Date: 2026-11-16T08:46:52.809884Z"
        "\r\nWARC-Target-URI: https://docs.example.org/library/index.html\r\nContent-Type: "
        "application/http; msgtype=request\r\n"
    )
    block = (
        b"GET /library/index.html HTTP/1.1\r\nHost: docs.example.org\r\nAccept: text/html\r\n\r\n"
    )

    assert len(c.member_of(start, block, 1)) < 1.1 * len(member_in_python(start, block, 1))


def test_what_python_refuses_c_refuses(c: ModuleType) -> None:
    for member_of in (c.member_of, member_in_python):
        with pytest.raises(UnicodeEncodeError):
            member_of("WARC-Target-URI: \u00e4\r\n", b"", 1)
        with pytest.raises(TypeError):
            member_of("", "text", 1)  # type: ignore[arg-type]
        with pytest.raises(Exception, match=r"(?i)level"):
            member_of("", b"", 99)


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


@given(lines=LINES, ends=st.sampled_from([b"", b"\r\n", b"\r\n\r\n", b"\n\n"]))
def test_a_head_that_c_calls_usual_needs_no_change(
    c: ModuleType, lines: list[bytes], ends: bytes
) -> None:
    head = b"".join([b"HTTP/1.1 200 OK\r\n", *lines, ends])

    if is_usual_in_python(head, 5):
        assert c.is_usual(head, 5)
    if c.is_usual(head, 5):
        assert changed_head(head, 200, 5) == (head, ())
