"""The head of a response, read the way browsers do."""

from __future__ import annotations

from gossamer.fetch.head import Head, status_of
from support.rows import each_row


@each_row(
    ("line", "status"),
    [
        (b"HTTP/1.1 200 OK\r\n", 200),
        (b"HTTP/1.1 200\r\n", 200),
        (b"HTTP/1.1 200OK\r\n", 200),
        (b"HTTP/1.1  404  Not Found\r\n", 404),
        (b"HTTP/2 301 \r\n", 301),
        (b"HTTP/1.1 20\r\n", 0),
        (b"HTTP/1.1 abc\r\n", 0),
        (b"HTTP/1.1\r\n", 0),
        (b"", 0),
        ("HTTP/1.1 ２００ OK".encode(), 0),
    ],
)
def test_a_status_is_three_digits(line: bytes, status: int) -> None:
    assert status_of(line) == status


def test_names_are_compared_without_case_and_values_stripped() -> None:
    head = Head(b"HTTP/1.1 200 OK\r\nContent-TYPE:  text/html \r\nX: 1\r\nx: 2\r\n\r\n")

    assert head.first("content-type") == "text/html"
    assert head.all("x") == ["1", "2"]
    assert head.first("y") == ""
    assert head.all("y") == []


def test_folded_lines_and_lines_without_a_colon_are_passed_over() -> None:
    head = Head(b"HTTP/1.1 200 OK\nA: 1\n  B: 2\nnonsense\n: 3\nC:4\n\n")

    assert (head.first("a"), head.first("b"), head.first("c")) == ("1", "", "4")


@each_row(
    ("value", "length"),
    [
        ("0", 0),
        ("12", 12),
        ("0012", 12),
        ("-5", None),
        ("+5", None),
        ("5, 5", None),
        ("0x10", None),
        ("", None),
        ("²", None),
        ("9" * 30, 10**18),
        ("9" * 5000, 10**18),
    ],
)
def test_a_length_is_a_number_or_none(value: str, length: int | None) -> None:
    assert Head(f"HTTP/1.1 200 OK\r\ncontent-length: {value}\r\n\r\n".encode()).length() == length


@each_row(
    ("written", "read"),
    [
        (b"/plain", "/plain"),
        ("/größe".encode(), "/größe"),
        ("http://bücher.example/".encode(), "http://bücher.example/"),
        ("/größe".encode("latin-1"), "/gr%F6%DFe"),
        (b"", ""),
    ],
)
def test_a_location_may_hold_raw_bytes(written: bytes, read: str) -> None:
    assert Head(b"HTTP/1.1 302 Found\r\nLocation: " + written + b"\r\n\r\n").location() == read
