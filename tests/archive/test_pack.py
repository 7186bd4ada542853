"""The bytes of a record, and the digests in it."""

import base64
import gzip
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.archive.head import changed_head, stored_head
from gossamer.archive.pack import digest_of, member_of, response_of

STARTS = st.text(st.characters(max_codepoint=127), max_size=300)
BLOCKS = st.binary(max_size=300)
LEVELS = st.sampled_from([0, 1, 2, 3])


def base32(data: bytes) -> str:
    return f"sha1:{base64.b32encode(hashlib.sha1(data).digest()).decode()}"


@given(data=BLOCKS)
def test_a_digest_is_sha1_in_base_32(data: bytes) -> None:
    assert digest_of(data) == base32(data)


@given(start=STARTS, block=BLOCKS, level=LEVELS)
def test_a_record_is_its_lines_and_its_block(start: str, block: bytes, level: int) -> None:
    end = f"WARC-Block-Digest: {base32(block)}\r\nContent-Length: {len(block)}\r\n\r\n"

    record = gzip.decompress(member_of(start, block, level))

    assert record == (start + end).encode() + block + b"\r\n\r\n"


@given(start=STARTS, head=BLOCKS, body=BLOCKS, level=LEVELS)
def test_a_response_has_the_digests_of_body_and_block(
    start: str, head: bytes, body: bytes, level: int
) -> None:
    end = (
        f"WARC-Payload-Digest: {base32(body)}\r\nWARC-Block-Digest: {base32(head + body)}\r\n"
        f"Content-Length: {len(head) + len(body)}\r\n\r\n"
    )

    member, digest = response_of(start, head, body, level)

    assert gzip.decompress(member) == (start + end).encode() + head + body + b"\r\n\r\n"
    assert digest == base32(body)


def test_lines_are_ascii_and_blocks_are_bytes() -> None:
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
def test_a_head_that_is_stored_as_it_came_needs_no_change(lines: list[bytes], ends: bytes) -> None:
    head = b"".join([b"HTTP/1.1 200 OK\r\n", *lines, ends])

    assert stored_head(head, 200, 5) == changed_head(head, 200, 5)
