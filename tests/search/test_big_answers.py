"""Answers larger than a pipe holds: whole, for many at once, from processes that live on."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import uvloop

from gossamer.index.writer import IndexWriter
from gossamer.search.channel import Message, ServerEnd, pair, receive, send
from gossamer.search.engine import Engine
from gossamer.search.messages import SearchedCollection
from gossamer.search.results import Request
from gossamer.search.searchers import Searchers
from support.entries import an_entry

BIG = Request(query="garden", limit=100, explain=True)


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> SearchedCollection:
    path = tmp_path_factory.mktemp("big")
    writer = IndexWriter(path / "index")
    for number in range(100):
        writer.put(an_entry(number, f"page {number} of the garden " + "of long words " * 60))
    writer.commit({})
    writer.close()
    return SearchedCollection(path)


@pytest.fixture(scope="module")
def searchers() -> Iterator[Searchers]:
    some = Searchers(2)
    yield some
    some.close()


def processes_of(searchers: Searchers) -> list[int]:
    return [process for one in searchers._all if (process := one._process.pid)]


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_big_answers_come_whole_and_their_processes_live_on(
    searchers: Searchers, where: SearchedCollection, new_loop: object
) -> None:
    async def ask() -> list[bytes]:
        return await asyncio.gather(*(searchers.search_as_json(where, BIG) for _ in range(30)))

    before = processes_of(searchers)
    with asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        answers = runner.run(ask())

    assert {len(json.loads(one)["hits"]) for one in answers} == {100}
    assert min(map(len, answers)) > 32 * 2**10
    assert processes_of(searchers) == before


def test_threads_and_tasks_share_processes_in_turn(
    searchers: Searchers, where: SearchedCollection
) -> None:
    before = processes_of(searchers)
    alone = Engine(where.path).search(BIG)

    async def ask() -> list[bytes]:
        return [await searchers.search_as_json(where, BIG) for _ in range(5)]

    for _ in range(2):
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(ask())
        with ThreadPoolExecutor(4) as clients:
            answers = list(clients.map(lambda _: searchers.search(where, BIG), range(8)))
        assert {one.hits for one in answers} == {alone.hits}

    assert processes_of(searchers) == before


def test_an_answer_that_ends_in_the_middle_is_no_answer() -> None:
    whole = b"x" * 2**22  # more than any system buffers

    def answer(theirs: socket.socket) -> None:
        receive(theirs)
        theirs.sendall(struct.pack("!BQ", 1, len(whole)) + whole[: len(whole) // 2])
        theirs.close()

    for ask in (_ask_in_thread, _ask_in_task):
        ours, theirs = pair()
        with ThreadPoolExecutor(1) as process:
            process.submit(answer, theirs)
            with pytest.raises(EOFError):
                ask(ours)
        ours.close()


def test_messages_of_any_size_come_whole() -> None:
    def echo(theirs: socket.socket) -> None:
        for _ in range(8):
            send(theirs, 7, receive(theirs)[1])

    for exchange in (_ask_in_thread, _ask_in_task):
        ours, theirs = pair()
        with ThreadPoolExecutor(1) as process, theirs:
            process.submit(echo, theirs)
            for size in (0, 1, 8, 9, 2**14, 2**18 + 1, 2**20, 5 * 2**20):
                assert exchange(ours, b"y" * size) == (7, b"y" * size)
        ours.close()


def test_a_message_that_does_not_come_in_time_is_told() -> None:
    for exchange in (_ask_in_thread, _ask_in_task):
        ours, theirs = pair()
        with theirs, pytest.raises(TimeoutError):
            exchange(ours, b"?", 0.01)
        ours.close()


def _ask_in_thread(ours: ServerEnd, question: bytes = b"?", within_s: float = 20.0) -> Message:
    return ours.exchange(question, within_s)


def _ask_in_task(ours: ServerEnd, question: bytes = b"?", within_s: float = 20.0) -> Message:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(ours.exchange_async(question, within_s))
