"""Searches by processes of their own: the same answers, and no end with the first that dies."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gossamer.errors import CorruptFile, NoCollection, QueryError
from gossamer.index.writer import IndexWriter
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from gossamer.search.searchers import Searchers, Shelved
from support.entries import an_entry


@pytest.fixture
def where(tmp_path: Path) -> Shelved:
    writer = IndexWriter(tmp_path / "index")
    for number in range(20):
        writer.put(an_entry(number, f"page {number} of the garden"))
    writer.commit({})
    writer.close()
    return Shelved(tmp_path)


@pytest.fixture(scope="module")
def searchers() -> Iterator[Searchers]:
    some = Searchers(2)
    yield some
    some.close()


def test_they_answer_as_an_engine_does(searchers: Searchers, where: Shelved) -> None:
    request = Request(query="garden 7", limit=5, explain=True)

    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(lambda _: searchers.search(where, request), range(16)))

    alone = Engine(where.path).search(request)
    assert {(one.hits, one.total) for one in answers} == {(alone.hits, alone.total)}


def test_what_an_engine_raises_comes_back_whole(searchers: Searchers, where: Shelved) -> None:
    with pytest.raises(QueryError) as wrong:
        searchers.search(where, Request(query='"no end'))
    with pytest.raises(NoCollection, match="gossamer crawl -c"):
        searchers.search(Shelved(where.path / "nowhere"), Request(query="garden"))

    with pytest.raises(QueryError) as alone:
        Engine(where.path).search(Request(query='"no end'))
    assert (str(wrong.value), wrong.value.at) == (str(alone.value), alone.value.at)
    assert wrong.value.exit_code == 2


def test_a_search_survives_the_death_of_its_process(where: Shelved) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    (process,) = _processes_of(searchers)

    os.kill(process, signal.SIGKILL)

    assert searchers.search(where, Request(query="garden")).total == 20
    assert _processes_of(searchers) != [process]
    searchers.close()


def test_a_collection_in_the_place_of_another_is_opened_anew(
    searchers: Searchers, where: Shelved, tmp_path: Path
) -> None:
    assert searchers.search(where, Request(query="garden")).total == 20
    other = IndexWriter(tmp_path / "other" / "index")
    other.put(an_entry(1, "a garden"))
    other.commit({})
    other.close()
    (tmp_path / "index").rename(tmp_path / "gone")
    (tmp_path / "other" / "index").rename(tmp_path / "index")

    assert searchers.search(Shelved(where.path, (2,)), Request(query="garden")).total == 1


def test_nothing_is_left_of_them_when_they_are_closed(where: Shelved) -> None:
    searchers = Searchers(2)
    searchers.search(where, Request(query="garden"))
    processes = _processes_of(searchers)

    searchers.close()

    assert len(processes) == 2
    assert not any(Path(f"/proc/{process}").exists() for process in processes)


def test_an_error_with_a_path_is_as_it_was(tmp_path: Path) -> None:
    import pickle

    error = CorruptFile(tmp_path, 7, "no text")

    again = pickle.loads(pickle.dumps(error))  # our own bytes

    assert (str(again), again.path, again.offset) == (str(error), tmp_path, 7)


def _processes_of(searchers: Searchers) -> list[int]:
    return [process for one in searchers._all if (process := one._process.pid)]
