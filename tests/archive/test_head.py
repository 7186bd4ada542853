"""The stored form of heads, and the way back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.archive_samples import any_head
from gossamer.archive.fields import escaped, fields_of, lines_of, unescaped
from gossamer.archive.head import original_head, stored_head
from support.rows import each_row


@given(head=any_head(), body_bytes=st.integers(0, 9))
def test_every_head_comes_back(head: bytes, body_bytes: int) -> None:
    stored = stored_head(head, 200, body_bytes)

    assert original_head(stored.data, dict(stored.notes)) == head


def test_transfer_coding_and_a_wrong_length_are_renamed_and_nothing_else() -> None:
    head = b"HTTP/1.1 200 OK\r\nA: \xff\r\nTransfer-Encoding: chunked\r\ncontent-length: 9\r\n\r\n"

    stored = stored_head(head, 200, body_bytes=5)

    assert stored.data == (
        b"HTTP/1.1 200 OK\r\nA: \xff\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n"
        b"X-Archive-Orig-content-length: 9\r\n\r\n"
    )


def test_a_right_length_stays() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

    assert stored_head(head, 200, body_bytes=5).data == head


def test_newer_versions_of_http_are_written_as_the_one_that_all_tools_read() -> None:
    assert stored_head(b"HTTP/2 200 \r\n\r\n", 200, 0).data == b"HTTP/1.1 200 \r\n\r\n"
    assert stored_head(b"HTTP/3 404\r\n\r\n", 404, 0).data == b"HTTP/1.1 404\r\n\r\n"


def test_a_head_that_ends_nowhere_is_ended() -> None:
    assert stored_head(b"HTTP/1.1 200 OK\r\nA: b", 200, 0).data.endswith(b"A: b\r\n\r\n")
    assert stored_head(b"", 204, 0).data == b"HTTP/1.1 204 \r\n\r\n"


@given(st.text(st.characters()))
def test_any_text_is_one_line_and_comes_back(text: str) -> None:
    block = lines_of([("detail", text), ("next", "1")])

    assert block.count(b"\n") == 2
    assert fields_of(block) == {"detail": text, "next": "1"}
    assert unescaped(escaped(text)) == text


@each_row("text", [r"35\.-", "a\\", r"\x4", r"\u00e", r"\N{DASH}", r"\7"])
def test_a_backslash_that_nobody_wrote_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="escapes nothing"):
        unescaped(text)
