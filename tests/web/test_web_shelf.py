"""Who reads slowly holds nobody up, and nobody's collection is closed or changed under them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gossamer.errors import NoCollection
from web.a_browser import Browser, Served


def test_who_reads_slowly_holds_nobody_up(server: Served) -> None:
    collections = server.context.collections
    both = threading.Barrier(2)

    def read(_: int) -> int:
        with collections.reader("") as reader:
            both.wait(10)
            return reader.counts().fetched

    with ThreadPoolExecutor(2) as readers:
        found = list(readers.map(read, range(2)))

    assert found[0] == found[1] > 0


def test_pages_are_searched_while_somebody_reads(server: Served) -> None:
    with server.context.collections.reader(""):
        answer = Browser(server).get("/?q=rose")

    assert answer.status_code == 200


def test_what_is_read_does_not_change_on_the_way(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refresh may open the state anew, which would end whoever walks through it."""
    collections, refreshed = server.context.collections, []
    with collections.reader("") as reader:
        monkeypatch.setattr(reader, "refresh", lambda: refreshed.append(1))
        server.clock._now_s += 1
        with collections.reader(""):
            assert not refreshed

    with collections.reader(""):
        assert refreshed == [1]


def test_a_collection_is_closed_when_its_last_reader_is_done(server: Served) -> None:
    collections = server.context.collections
    with ThreadPoolExecutor(1) as other:
        with collections.reader("") as reader:
            closing = other.submit(collections.forget, "")
            assert reader.counts().fetched > 0
            assert not closing.done()
        closing.result(timeout=10)


def test_who_waited_for_a_collection_that_is_gone_is_told(server: Served) -> None:
    collections = server.context.collections
    opened = collections._open("")
    collections._opened.clear()
    opened.close()

    assert not opened.begin(0.0)
    with pytest.raises(NoCollection), collections.reader("nowhere"):
        pass
