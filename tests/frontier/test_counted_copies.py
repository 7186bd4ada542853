"""Pages that are byte for byte the same: all but one are copies, whether they are few or many."""

import pytest

from gossamer.frontier.copies import count_copies
from gossamer.frontier.rows import CaptureRow, time_key
from gossamer.frontier.store import MemoryStore, Table


def stored(*captures: tuple[int, int, CaptureRow]) -> MemoryStore:
    """A state with these captures: the number of a page, the moment, the row."""
    store = MemoryStore()
    rows = {page.to_bytes(16, "big") + time_key(at): row.encode() for page, at, row in captures}
    store.write({Table.CAPTURE: rows})
    return store


def a_page(digest: str, status: int = 200, size_bytes: int = 9) -> CaptureRow:
    return CaptureRow("a.warc.gz", status=status, digest=digest, size_bytes=size_bytes)


@pytest.mark.parametrize("few", [0, 100])
def test_all_but_one_of_the_pages_with_a_digest_are_copies(few: int) -> None:
    pages = [(number, 1, a_page(digest)) for number, digest in enumerate("abcabaz")]

    assert count_copies(stored(*pages), few) == 3


@pytest.mark.parametrize("few", [0, 100])
def test_only_the_last_capture_of_a_page_counts_and_only_if_it_is_a_page(few: int) -> None:
    store = stored(
        (1, 1, a_page("a")),
        (2, 1, a_page("a")),
        (2, 2, a_page("b")),  # it was a copy
        (3, 1, a_page("a", status=404)),
        (4, 1, a_page("a", size_bytes=0)),
    )

    assert count_copies(store, few) == 0


@pytest.mark.parametrize("few", [0, 100])
def test_without_pages_there_are_no_copies(few: int) -> None:
    assert count_copies(stored(), few) == 0
