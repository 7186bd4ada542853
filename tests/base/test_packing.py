"""Values become bytes and come back; what is not ours is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from gossamer.base.packing import pack, pack_row, unpack, unpacker
from support.rows import each_row

HALF = "a\ud83d"


class Small(Struct, array_like=True, frozen=True):
    name: str
    count: int = 0
    words: tuple[str, ...] = ()


class Larger(Struct, array_like=True, frozen=True):
    """`Small` as a later version has it."""

    name: str
    count: int = 0
    words: tuple[str, ...] = ()
    is_new: bool = False


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.binary(max_size=9)
    | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8"), max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab"), inner, max_size=3),
)  # fmt: skip


@given(VALUES)
def test_a_value_comes_back(value: object) -> None:
    assert unpack(pack(value)) == value


@given(st.lists(st.sampled_from(["", "x", 0, 7, b"", 1.5, False]), min_size=1, max_size=20))
def test_a_row_ends_with_its_last_value_that_is_not_empty(values: list[object]) -> None:
    packed = unpack(pack_row(tuple(values)))

    assert packed == values[: len(packed)]
    assert len(packed) == 1 or packed[-1]
    assert not any(values[len(packed) :])


def test_a_row_of_an_older_version_reads_with_the_default_of_a_new_field() -> None:
    assert unpacker(Larger)(pack(Small("a", 5, ("b",)))) == Larger("a", 5, ("b",))


def test_a_row_of_a_newer_version_reads_without_its_new_field() -> None:
    assert unpacker(Small)(pack(Larger("a", 5, (), is_new=True))) == Small("a", 5)


def test_half_of_a_surrogate_pair_is_written_as_a_question_mark() -> None:
    packed = pack((HALF, {HALF: [HALF]}, b"\xff", Small(HALF, 1, (HALF, "c"))))

    assert unpack(packed) == ["a?", {"a?": ["a?"]}, b"\xff", ["a?", 1, ["a?", "c"]]]


@each_row("damaged", [b"", b"\xc1", b"\x92\x01", b"\x01\x01", b"\xa1\xff"])
def test_bytes_that_are_no_value_are_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(damaged)
    with pytest.raises(ValueError, match=r"."):
        unpacker(Small)(damaged)


def test_arrays_within_arrays_without_end_are_refused() -> None:
    deep = b"\x91" * 100_000 + b"\x01"

    with pytest.raises(ValueError, match="nested too deeply"):
        unpack(deep)
    with pytest.raises(ValueError, match=r"."):
        unpacker(Small)(b"\x94\xa1a\x00\x90" + deep)
