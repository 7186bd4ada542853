"""Records in C as in Python, to the byte."""

import gzip
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.archive.pack import digest_in_python, member_in_python, response_in_python
from gossamer.base import native

# Around the ends of SHA-1's blocks of 64 bytes and of its last one, and some that isal cuts.
SIZES = st.one_of(st.integers(0, 300), st.sampled_from([37_280, 65_535, 65_536, 300_000]))
BLOCKS = st.builds(lambda size, byte: bytes([byte, 65]) * (size // 2) + b"x" * (size % 2), SIZES,
                   st.integers(0, 255))  # fmt: skip
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


@given(start=STARTS, block=BLOCKS, level=LEVELS)
def test_a_record_is_that_of_python(c: ModuleType, start: str, block: bytes, level: int) -> None:
    ours = c.member_of(start, block, level)

    assert gzip.decompress(ours) == gzip.decompress(member_in_python(start, block, level))


@given(start=STARTS, head=BLOCKS, body=BLOCKS, level=LEVELS)
def test_a_response_is_that_of_python(
    c: ModuleType, start: str, head: bytes, body: bytes, level: int
) -> None:
    ours, digest = c.response_of(start, head, body, level)
    twin, same_digest = response_in_python(start, head, body, level)

    assert gzip.decompress(ours) == gzip.decompress(twin)
    assert digest == same_digest


def test_what_python_refuses_c_refuses(c: ModuleType) -> None:
    for member_of in (c.member_of, member_in_python):
        with pytest.raises(UnicodeEncodeError):
            member_of("WARC-Target-URI: \u00e4\r\n", b"", 1)
        with pytest.raises(TypeError):
            member_of("", "text", 1)  # type: ignore[arg-type]
        with pytest.raises(Exception, match=r"(?i)level"):
            member_of("", b"", 99)
