"""Searches by processes of their own: the same answers, and no end with the first that dies."""

import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gossamer.errors import CorruptFile, NoCollection, QueryError
from gossamer.index.writer import IndexWriter
from gossamer.search import searchers as module
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from gossamer.search.searchers import NoAnswer, Searchers, Shelved
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


def test_a_search_that_fails_leaves_its_process_as_it_is(where: Shelved) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    before = _processes_of(searchers)

    with pytest.raises(RuntimeError, match="in its process:\nTraceback"):
        searchers.search(where, Request(query=None))  # type: ignore[arg-type]  # no query at all

    assert searchers.search(where, Request(query="garden")).total == 20
    assert _processes_of(searchers) == before
    searchers.close()


def test_a_search_that_takes_for_ever_is_not_done_again(
    where: Shelved, monkeypatch: pytest.MonkeyPatch
) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    (process,) = _processes_of(searchers)
    os.kill(process, signal.SIGSTOP)
    monkeypatch.setattr(module, "_LONGEST_S", 0.05)

    with pytest.raises(NoAnswer, match="did not come to an end"):
        searchers.search(where, Request(query="garden"))

    monkeypatch.undo()
    assert searchers.search(where, Request(query="garden")).total == 20
    searchers.close()


def test_a_place_that_could_not_be_filled_is_filled_later(
    where: Shelved, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine had no memory or handles left for a moment."""
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    os.kill(_processes_of(searchers)[0], signal.SIGKILL)

    def none_left() -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(module, "_Searcher", none_left)
    for _ in range(2):
        with pytest.raises(NoAnswer, match="no process can be started"):
            searchers.search(where, Request(query="garden"))
    monkeypatch.undo()

    assert searchers.search(where, Request(query="garden")).total == 20
    searchers.close()


def test_who_searches_while_they_are_closed_is_told(where: Shelved) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    os.kill(_processes_of(searchers)[0], signal.SIGSTOP)

    with ThreadPoolExecutor(3) as clients:
        asking = [
            clients.submit(searchers.search, where, Request(query="garden")) for _ in range(3)
        ]
        searchers.close()
        faults = [one.exception(timeout=10) for one in asking]

    assert [str(fault) for fault in faults] == ["the server is ending"] * 3


def test_a_collection_that_was_cleared_is_not_held_open(where: Shelved) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    (process,) = _processes_of(searchers)
    shutil.rmtree(where.path / "index")

    with pytest.raises(NoCollection):
        searchers.search(Shelved(where.path / "nowhere"), Request(query="garden"))

    maps = Path(f"/proc/{process}/maps").read_text()
    assert str(where.path) not in maps
    searchers.close()


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
