"""A live view: what is sent, in which order, and what a client gets that was away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import StreamingResponse

from gossamer.base.clock import ManualClock
from gossamer.errors import StoreError
from gossamer.web.parameters import Parameters
from gossamer.web.views.events import EVERY_S, Mark, Watched, event, feed, mark_of, read_on
from gossamer.web.views.json_api import events
from support.rows import each_row
from web.a_browser import Served


def lines(*numbers: int) -> str:
    return "".join(json.dumps({"url": f"http://a.example/{n}"}) + "\n" for n in numbers)


def urls(outcomes: Sequence[dict[str, Any]]) -> list[int]:
    return [int(one["url"].rpartition("/")[2]) for one in outcomes]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.jsonl"
    path.write_text(lines(1, 2))
    return path


def test_reading_goes_on_where_it_was(log: Path) -> None:
    first = read_on(log, None)
    with log.open("a") as file:
        file.write(lines(3))
    second = read_on(log, first.mark)

    assert (urls(first.outcomes), urls(second.outcomes)) == ([1, 2], [3])


def test_half_a_line_waits_for_its_end(log: Path) -> None:
    with log.open("a") as file:
        file.write('{"url": "http://a.exam')
    first = read_on(log, None)
    with log.open("a") as file:
        file.write('ple/3"}\n')

    assert urls(first.outcomes) == [1, 2]
    assert urls(read_on(log, first.mark).outcomes) == [3]


def test_a_place_in_another_file_or_behind_the_end_is_no_place(log: Path) -> None:
    mark = read_on(log, None).mark

    assert urls(read_on(log, Mark(mark.file + 1, 5)).outcomes) == [1, 2]
    assert urls(read_on(log, Mark(mark.file, 10**6)).outcomes) == [1, 2]


def test_a_new_client_of_a_long_log_begins_near_its_end_with_a_whole_line(log: Path) -> None:
    log.write_text(lines(*range(5_000)))

    piece = read_on(log, None)

    assert 100 < len(piece.outcomes) < 1_000
    assert urls(piece.outcomes)[-1] == 4_999
    assert piece.skipped_bytes == 0


def test_a_client_that_was_away_too_long_is_told_what_it_missed(log: Path) -> None:
    mark = read_on(log, None).mark
    with log.open("a") as file:
        file.write(lines(*range(150_000)))

    piece = read_on(log, mark)

    assert piece.skipped_bytes > 0
    assert urls(piece.outcomes)[-1] == 149_999


def test_a_log_that_is_not_there_yet_is_sent_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl"
    nothing = read_on(path, None)
    path.write_text(lines(*range(1_000)))

    assert nothing.outcomes == ()
    assert urls(read_on(path, nothing.mark).outcomes)[0] == 0


@each_row("text", ["", "x", "1", "1-", "-1", "1-2-3", "g-1", "1-" + "9" * 30, "1\n-2"])
def test_a_strange_last_event_id_is_none(text: str) -> None:
    assert mark_of(text) is None


def test_an_id_comes_back_as_it_was() -> None:
    assert mark_of(str(Mark(255, 7))) == Mark(255, 7)


def test_nothing_in_an_event_can_begin_another() -> None:
    made = event("status", Mark(1, 2), {"said": "a\n\nevent: evil\ndata: x\r\n\u2028"}).decode()

    assert made.count("\n") == 4
    assert made.endswith("}\n\n")


def test_a_feed_sends_what_changes_and_rests_between(log: Path) -> None:
    asyncio.run(_watch(log))


async def _watch(log: Path) -> None:
    clock = ManualClock()
    status = {"state": "stored", "fetched": 1}

    def told() -> dict[str, object]:
        if status["fetched"] == 7:
            status["fetched"] = 8
            raise StoreError("something in it is being forgotten")
        return dict(status)

    watched = Watched(log, told, list)
    events = feed(watched, "", clock)

    async def next_event() -> bytes:
        waiting = asyncio.ensure_future(anext(events))
        while not waiting.done():
            await asyncio.sleep(0)  # threads read the log meanwhile
            await clock.advance(EVERY_S)
        return waiting.result()

    assert await next_event() == b"retry: 2000\n\n"
    assert b"event: outcomes" in await next_event()
    assert b'"fetched": 1' in await next_event()
    assert await next_event() == b": still here\n\n"
    status["fetched"] = 2
    assert b'"fetched": 2' in await next_event()
    status["fetched"] = 7
    assert b'"fetched": 8' in await next_event(), "a moment without an answer does not end it"
    await events.aclose()


def test_a_feed_goes_on_after_the_last_event(log: Path) -> None:
    async def first_outcomes() -> bytes:
        mark = read_on(log, None).mark
        with log.open("a") as file:
            file.write(lines(3))
        events = feed(Watched(log, dict, list), str(mark), ManualClock())
        await anext(events)
        return await anext(events)

    sent = asyncio.run(first_outcomes())

    assert b"/3" in sent
    assert b"/2" not in sent


def test_a_feed_ends_with_the_session_that_opened_it(server: Served) -> None:
    sessions = server.context.credentials.sessions
    name = sessions.begin(server.clock.now_s())
    answer = events(server.context, Parameters({"c": ""}, session=name))
    assert isinstance(answer, StreamingResponse)
    sent = aiter(answer.body_iterator)

    async def watch() -> list[object]:
        first = [await anext(sent) for _ in range(2)]  # of four
        assert b"event: outcomes" in first[1]
        sessions.end(name)
        return [one async for one in sent]

    assert asyncio.run(watch()) == []


def test_nothing_is_sent_once_it_may_not_be_read(log: Path) -> None:
    async def watch() -> bytes:
        answers = iter([True, False])
        watched = Watched(log, dict, list, lambda: next(answers))
        return b"".join([one async for one in feed(watched, "", ManualClock())])

    assert asyncio.run(watch()) == b"retry: 2000\n\n"
