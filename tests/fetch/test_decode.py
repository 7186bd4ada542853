import gzip
import sys
import time
import zlib
from collections.abc import Callable
from functools import partial

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.decode import MAX_MEMBERS, Decoded, decode
from support.rows import each_row

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PAGE = b"<html>" + b"".join(b"<p>%d words</p>" % n for n in range(20_000)) + b"</html>"
LIMIT = 10 * 2**20


def raw_deflate(body: bytes) -> bytes:
    coder = zlib.compressobj(wbits=-15)
    return coder.compress(body) + coder.flush()


CODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=5),
    "zstd": zstd.compress,
    "identity": bytes,
}


@each_row("coding", CODERS)
def test_a_coding_is_undone(coding: str) -> None:
    assert decode(CODERS[coding](PAGE), coding, LIMIT) == Decoded(PAGE)


def test_deflate_may_come_without_its_wrapping() -> None:
    assert decode(raw_deflate(PAGE), "deflate", LIMIT) == Decoded(PAGE)


@each_row("header", ["", "identity", " , ", "IDENTITY"])
def test_without_coding_a_body_is_itself(header: str) -> None:
    assert decode(PAGE, header, LIMIT) == Decoded(PAGE)


def test_a_chain_is_undone_from_its_end() -> None:
    body = zstd.compress(CODERS["br"](gzip.compress(PAGE)))

    assert decode(body, " GZip ,br, identity, zstd", LIMIT) == Decoded(PAGE)


def test_a_longer_chain_than_five_is_left() -> None:
    result = decode(PAGE, ", ".join(["gzip"] * 6), LIMIT)

    assert result.body == PAGE
    assert "6 content codings" in result.fault


def test_an_unknown_coding_is_left_and_named() -> None:
    result = decode(b"abc", "compress", LIMIT)

    assert result == Decoded(b"abc", fault="the coding 'compress' is unknown")


@each_row("coding", ["gzip", "deflate", "br", "zstd", "gzip, br"])
def test_a_page_that_was_never_coded_comes_back_as_it_is(coding: str) -> None:
    result = decode(PAGE, coding, LIMIT)

    assert result.body == PAGE
    assert "but it is not" in result.fault


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_stream_with_a_broken_beginning_is_no_page(coding: str) -> None:
    result = decode(gzip.compress(PAGE)[2:], coding, LIMIT)

    assert result.body == b""
    assert "but it is not" in result.fault


@pytest.mark.parametrize(
    "body", [b"%PDF-1.7\n\x00\x01", b"\x89PNG\r\n\x1a\n\x00", "å".encode("utf-16")]
)
def test_a_file_that_tells_its_kind_is_taken_although_a_coding_is_declared(body: bytes) -> None:
    assert decode(body, "gzip", LIMIT).body == body


def test_a_body_coded_once_and_declared_twice_is_decoded() -> None:
    assert decode(gzip.compress(PAGE), "gzip, gzip", LIMIT).body == PAGE


@each_row("coding", ["gzip", "deflate", "br", "zstd"])
def test_an_empty_body_is_empty_whatever_is_declared(coding: str) -> None:
    assert decode(b"", coding, LIMIT) == Decoded(b"")


@each_row("coding", ["gzip", "deflate", "br", "zstd"])
def test_of_a_cut_off_body_comes_its_beginning(coding: str) -> None:
    whole = CODERS[coding](PAGE)

    result = decode(whole[: len(whole) // 2], coding, LIMIT)

    assert PAGE.startswith(result.body)
    assert len(result.body) > len(PAGE) // 20
    assert result.fault == f"the {coding} body is truncated"


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_of_a_damaged_body_comes_what_stands_before_the_damage(coding: str) -> None:
    damaged = bytearray(CODERS[coding](PAGE))
    middle = len(damaged) // 2
    damaged[middle : middle + 100] = b"\xff" * 100

    result = decode(bytes(damaged), coding, LIMIT)

    assert len(result.body) > len(PAGE) // 20
    assert result.body[: len(PAGE) // 20] == PAGE[: len(PAGE) // 20]
    assert "is damaged" in result.fault


def test_a_wrong_checksum_is_a_fault_and_loses_nothing() -> None:
    body = bytearray(gzip.compress(PAGE))
    body[-6] ^= 1

    result = decode(bytes(body), "gzip", LIMIT)

    assert result.body == PAGE
    assert "is damaged" in result.fault


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_several_members_are_one_body(coding: str) -> None:
    body = b"".join(CODERS[coding](part) for part in (b"one ", b"", PAGE, b" three"))

    assert decode(body, coding, LIMIT) == Decoded(b"one " + PAGE + b" three")


@each_row("coding", ["gzip", "deflate", "br", "zstd"])
@each_row("junk", [b"\0" * 512, b"junk", b"\x1f", b"\r\n"])
def test_junk_after_the_end_is_passed_over(coding: str, junk: bytes) -> None:
    assert decode(CODERS[coding](PAGE) + junk, coding, LIMIT) == Decoded(PAGE)


@each_row("coding", ["gzip", "deflate", "br", "zstd", "identity"])
@each_row("less", [0, 1])
def test_a_body_is_cut_only_when_it_is_longer_than_the_limit(coding: str, less: int) -> None:
    limit = len(PAGE) - less

    result = decode(CODERS[coding](PAGE), coding, limit)

    assert result == Decoded(PAGE[:limit], is_cut=bool(less))


def test_a_bomb_within_a_bomb_stops_at_the_limit() -> None:
    bomb = gzip.compress(gzip.compress(bytes(50 * 2**20), 9), 9)

    result = decode(bomb, "gzip, gzip", 100_000)

    assert (len(result.body), result.is_cut) == (100_000, True)


def test_members_without_end_and_without_content_do_not_take_forever() -> None:
    body = gzip.compress(b"") * (MAX_MEMBERS * 10)

    began = time.process_time()
    result = decode(body, "gzip", LIMIT)

    assert str(MAX_MEMBERS) in result.fault
    assert time.process_time() - began < 3.0


@given(st.binary(max_size=400), st.sampled_from(["gzip", "deflate", "br", "zstd", "br, gzip"]))
def test_any_bytes_give_a_body_within_the_limit(body: bytes, coding: str) -> None:
    assert len(decode(body, coding, 1000).body) <= 1000


@given(st.binary(max_size=5000), st.lists(st.sampled_from(sorted(CODERS)), max_size=5))
def test_what_was_coded_comes_back(body: bytes, codings: list[str]) -> None:
    coded = body
    for coding in codings:
        coded = CODERS[coding](coded)

    if coded:
        assert decode(coded, ", ".join(codings), LIMIT) == Decoded(body)


@given(
    st.integers(0, 10**6), st.integers(1, 255), st.sampled_from(["gzip", "deflate", "br", "zstd"])
)
def test_one_wrong_byte_never_raises(place: int, change: int, coding: str) -> None:
    body = bytearray(CODERS[coding](PAGE[:3000]))
    body[place % len(body)] ^= change

    assert len(decode(bytes(body), coding, 5000).body) <= 5000
