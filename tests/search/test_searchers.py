"""Searches by processes of their own: the same answers, and no end with the first that dies."""

import asyncio
import json
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gossamer.errors import CorruptFile, NoCollection, QueryError
from gossamer.index.writer import IndexWriter
from gossamer.search import searchers as module
from gossamer.search.engine import Engine
from gossamer.search.messages import SearchedCollection
from gossamer.search.results import Request, results_object
from gossamer.search.searchers import NoAnswer, Searchers
from support.entries import an_entry


@pytest.fixture
def where(tmp_path: Path) -> SearchedCollection:
    writer = IndexWriter(tmp_path / "index")
    for number in range(20):
        writer.put(an_entry(number, f"page {number} of the garden"))
    writer.commit({})
    writer.close()
    return SearchedCollection(tmp_path)


@pytest.fixture(scope="module")
def searchers() -> Iterator[Searchers]:
    some = Searchers(2)
    yield some
    some.close()


def test_they_answer_as_an_engine_does(searchers: Searchers, where: SearchedCollection) -> None:
    request = Request(query="garden 7", limit=5, explain=True)

    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(lambda _: searchers.search(where, request), range(16)))

    alone = Engine(where.path).search(request)
    assert {(one.hits, one.total) for one in answers} == {(alone.hits, alone.total)}


def test_what_an_engine_raises_comes_back_whole(
    searchers: Searchers, where: SearchedCollection
) -> None:
    with pytest.raises(QueryError) as wrong:
        searchers.search(where, Request(query="a", since="soon"))
    with pytest.raises(NoCollection, match="gossamer crawl -c"):
        searchers.search(SearchedCollection(where.path / "nowhere"), Request(query="garden"))

    with pytest.raises(QueryError) as alone:
        Engine(where.path).search(Request(query="a", since="soon"))
    assert str(wrong.value) == str(alone.value)
    assert wrong.value.exit_code == 2


def test_a_search_survives_the_death_of_its_process(where: SearchedCollection) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    (process,) = _processes_of(searchers)

    os.kill(process, signal.SIGKILL)

    assert searchers.search(where, Request(query="garden")).total == 20
    assert _processes_of(searchers) != [process]
    searchers.close()


def test_a_task_is_told_the_same_as_a_thread(
    searchers: Searchers, where: SearchedCollection
) -> None:
    request = Request(query="garden 7", limit=5, explain=True)

    async def ask() -> list[bytes]:
        asking = (searchers.search_as_json(where, request) for _ in range(16))
        return await asyncio.gather(*asking)

    answers = [json.loads(one) for one in asyncio.run(ask())]

    alone = results_object(Engine(where.path).search(request), request)
    assert [one["hits"] for one in answers] == [alone["hits"]] * 16
    assert {one["total"] for one in answers} == {20}


def test_what_an_engine_raises_reaches_a_task(
    searchers: Searchers, where: SearchedCollection
) -> None:
    with pytest.raises(QueryError, match="soon"):
        asyncio.run(searchers.search_as_json(where, Request(query="a", since="soon")))
    with pytest.raises(RuntimeError, match="in its process:\nTraceback"):
        asyncio.run(searchers.search_as_json(where, Request(query=None)))  # type: ignore[arg-type]


def test_a_task_survives_the_death_of_the_process_it_asks(where: SearchedCollection) -> None:
    searchers = Searchers(1)

    async def ask() -> int:
        await searchers.search_as_json(where, Request(query="garden"))
        os.kill(_processes_of(searchers)[0], signal.SIGKILL)
        found: int = json.loads(await searchers.search_as_json(where, Request(query="5")))["total"]
        return found

    assert asyncio.run(ask()) == 1
    searchers.close()


def test_nobody_is_told_the_answer_to_a_question_that_was_given_up(
    where: SearchedCollection,
) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))

    async def give_up() -> bytes:
        first = asyncio.ensure_future(searchers.search_as_json(where, Request(query="garden")))
        second = asyncio.ensure_future(searchers.search_as_json(where, Request(query="garden")))
        third = asyncio.ensure_future(searchers.search_as_json(where, Request(query="5")))
        await asyncio.sleep(0)  # the first asks, the others wait for their turn
        first.cancel()
        second.cancel()
        return await third

    assert json.loads(asyncio.run(give_up()))["total"] == 1
    assert searchers.search(where, Request(query="7")).total == 1
    searchers.close()


def test_a_process_is_not_lost_with_the_task_that_had_it_replaced(
    where: SearchedCollection, monkeypatch: pytest.MonkeyPatch
) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    os.kill(_processes_of(searchers)[0], signal.SIGKILL)
    replaced, has_begun, may_continue = searchers._replaced, threading.Event(), threading.Event()

    def slowly(one: module._Searcher) -> module._Searcher:
        has_begun.set()
        may_continue.wait(10)
        return replaced(one)

    async def give_up() -> None:
        asking = asyncio.ensure_future(searchers.search_as_json(where, Request(query="garden")))
        await asyncio.to_thread(has_begun.wait, 10)
        asking.cancel()
        await asyncio.wait([asking])
        may_continue.set()

    with monkeypatch.context() as patch:
        patch.setattr(searchers, "_replaced", slowly)
        asyncio.run(give_up())

    (process,) = _processes_of(searchers)
    assert searchers.search(where, Request(query="5")).total == 1
    assert searchers.search(where, Request(query="7")).total == 1
    assert _processes_of(searchers) == [process]
    searchers.close()


def test_a_task_that_takes_for_ever_is_told_so(
    where: SearchedCollection, monkeypatch: pytest.MonkeyPatch
) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    os.kill(_processes_of(searchers)[0], signal.SIGSTOP)
    monkeypatch.setattr(module, "_LONGEST_S", 0.05)

    with pytest.raises(NoAnswer, match="timed out"):
        asyncio.run(searchers.search_as_json(where, Request(query="garden")))

    monkeypatch.undo()
    assert searchers.search(where, Request(query="garden")).total == 20
    searchers.close()


def test_a_task_that_asks_while_they_are_closed_is_told(where: SearchedCollection) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    os.kill(_processes_of(searchers)[0], signal.SIGSTOP)

    async def ask() -> list[BaseException | bytes]:
        asking = [
            asyncio.ensure_future(searchers.search_as_json(where, Request(query="garden")))
            for _ in range(3)
        ]
        await asyncio.sleep(0)
        searchers.close()
        return await asyncio.wait_for(asyncio.gather(*asking, return_exceptions=True), 10)

    assert [str(fault) for fault in asyncio.run(ask())] == ["the server is shutting down"] * 3


def test_a_collection_in_the_place_of_another_is_opened_anew(
    searchers: Searchers, where: SearchedCollection, tmp_path: Path
) -> None:
    assert searchers.search(where, Request(query="garden")).total == 20
    other = IndexWriter(tmp_path / "other" / "index")
    other.put(an_entry(1, "a garden"))
    other.commit({})
    other.close()
    (tmp_path / "index").rename(tmp_path / "gone")
    (tmp_path / "other" / "index").rename(tmp_path / "index")

    assert (
        searchers.search(SearchedCollection(where.path, (2,)), Request(query="garden")).total == 1
    )


def test_a_search_that_fails_leaves_its_process_as_it_is(where: SearchedCollection) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    before = _processes_of(searchers)

    with pytest.raises(RuntimeError, match="in its process:\nTraceback"):
        searchers.search(where, Request(query=None))  # type: ignore[arg-type]  # no query at all

    assert searchers.search(where, Request(query="garden")).total == 20
    assert _processes_of(searchers) == before
    searchers.close()


def test_a_search_that_takes_for_ever_is_not_done_again(
    where: SearchedCollection, monkeypatch: pytest.MonkeyPatch
) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    (process,) = _processes_of(searchers)
    os.kill(process, signal.SIGSTOP)
    monkeypatch.setattr(module, "_LONGEST_S", 0.05)

    with pytest.raises(NoAnswer, match="timed out"):
        searchers.search(where, Request(query="garden"))

    monkeypatch.undo()
    assert searchers.search(where, Request(query="garden")).total == 20
    searchers.close()


def test_a_place_that_could_not_be_filled_is_filled_later(
    where: SearchedCollection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine had no memory or handles left for a moment."""
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    os.kill(_processes_of(searchers)[0], signal.SIGKILL)

    def none_left() -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(module, "_Searcher", none_left)
    for _ in range(2):
        with pytest.raises(NoAnswer, match="cannot start a search process"):
            searchers.search(where, Request(query="garden"))
    monkeypatch.undo()

    assert searchers.search(where, Request(query="garden")).total == 20
    searchers.close()


def test_who_searches_while_they_are_closed_is_told(where: SearchedCollection) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    os.kill(_processes_of(searchers)[0], signal.SIGSTOP)

    with ThreadPoolExecutor(3) as clients:
        asking = [
            clients.submit(searchers.search, where, Request(query="garden")) for _ in range(3)
        ]
        searchers.close()
        faults = [one.exception(timeout=10) for one in asking]

    assert [str(fault) for fault in faults] == ["the server is shutting down"] * 3


def test_a_collection_that_was_cleared_is_not_held_open(where: SearchedCollection) -> None:
    searchers = Searchers(1)
    searchers.search(where, Request(query="garden"))
    (process,) = _processes_of(searchers)
    shutil.rmtree(where.path / "index")

    with pytest.raises(NoCollection):
        searchers.search(SearchedCollection(where.path / "nowhere"), Request(query="garden"))

    maps = Path(f"/proc/{process}/maps").read_text()
    assert str(where.path) not in maps
    searchers.close()


def test_nothing_is_left_of_them_when_they_are_closed(where: SearchedCollection) -> None:
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
