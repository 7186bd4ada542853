"""Links to URLs that were reported before, counted and packed."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.urls.repeated_links import pack_links, repeated, unpack_links

KEYS = st.sampled_from([bytes([number]) * 16 for number in range(4)])


@given(st.dictionaries(st.binary(min_size=16, max_size=16), st.integers(1, 0xFFFF), max_size=9))
def test_keys_and_counts_come_back(links: dict[bytes, int]) -> None:
    assert dict(unpack_links(pack_links(links))) == links


def test_more_links_than_a_count_holds_are_held_at_its_end() -> None:
    key = b"k" * 16

    assert dict(unpack_links(pack_links({key: 10**9}))) == {key: 0xFFFF}


@given(st.lists(KEYS), st.sets(KEYS))
def test_every_link_is_either_reported_or_counted(targets: list[bytes], new: set[bytes]) -> None:
    reported = new & set(targets)

    counts = repeated(targets, reported)

    assert all(count > 0 for count in counts.values())
    for key in set(targets):
        assert counts.get(key, 0) + (key in reported) == targets.count(key)
