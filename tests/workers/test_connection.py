"""When does the node hear what its workers say?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from gossamer.records import Lease, Outcome, Report, Stored
from gossamer.workers import wire
from gossamer.workers.connection import WorkerHandle
from gossamer.workers.process import ProcessedPage
from support.need import need_linux
from workers.pool_bench import PoolBench, a_crew


@pytest.fixture(autouse=True)
def _linux() -> None:
    need_linux("workers are forked")


def with_hands(
    collection: Path, work: Callable[[PoolBench, WorkerHandle, WorkerHandle], None]
) -> PoolBench:
    """Do `work` with two workers, of whom each has 20 leases that it was never told of."""

    async def run() -> PoolBench:
        async with a_crew(collection) as bench:
            first, second = bench.handles
            for number in range(40):
                handle = (first, second)[number // 20]
                handle.leases[number] = Lease(number, "http://a.example/", b"k" * 16, "", "")
                (bench.home.archive / f"{handle.name}.warc.gz").touch()
            work(bench, first, second)
            await asyncio.sleep(0)
            return bench

    return asyncio.run(run())


def say(handle: WorkerHandle, numbers: Iterable[int]) -> None:
    """A worker reports that these leases have ended."""
    reports = [
        Report(
            handle.leases[number],
            Outcome.FETCHED,
            at_us=0,
            took_s=0.0,
            stored=Stored(f"{handle.name}.warc.gz", number, number, number + 1),
        )
        for number in numbers
    ]
    frames = [wire.frame(wire.Reported(ProcessedPage(report))) for report in reports]
    handle.connection.data_received(b"".join(frames))


def test_a_worker_with_much_left_to_do_is_heard_together_with_the_next(collection: Path) -> None:
    def work(bench: PoolBench, first: WorkerHandle, second: WorkerHandle) -> None:
        say(first, [0, 1])
        say(first, [2])
        assert bench.kept.numbers == []
        say(second, range(20, 38))
        assert bench.kept.numbers == [0, 1, 2, *range(20, 38)]

    with_hands(collection, work)


def test_a_worker_with_little_left_to_do_is_heard_at_once(collection: Path) -> None:
    def work(bench: PoolBench, first: WorkerHandle, _: WorkerHandle) -> None:
        say(first, range(10))
        assert bench.kept.numbers == []
        say(first, [10])
        assert bench.kept.numbers == [*range(11)]

    with_hands(collection, work)


def test_what_can_wait_is_heard_after_a_moment(collection: Path) -> None:
    async def run() -> None:
        async with a_crew(collection) as bench:
            [handle, _] = bench.handles
            (bench.home.archive / f"{handle.name}.warc.gz").touch()
            for number in range(4):
                handle.leases[number] = Lease(number, "http://a.example/", b"k" * 16, "", "")
            say(handle, [0])
            assert bench.kept.numbers == []
            await bench.until(lambda: bench.kept.numbers == [0])

    asyncio.run(run())


def test_what_is_no_report_is_heard_at_once_and_after_the_reports_before_it(
    collection: Path,
) -> None:
    def work(bench: PoolBench, first: WorkerHandle, _: WorkerHandle) -> None:
        say(first, [0])
        first.connection.data_received(
            wire.frame(wire.PartWritten("", 0, {f"{first.name}.warc.gz": 1}))
        )
        assert bench.kept.numbers == [0]
        assert len(bench.kept.parts) == 1

    assert with_hands(collection, work).kept.covered_too_early == []


def test_a_message_that_comes_in_pieces_is_heard_when_it_is_whole(collection: Path) -> None:
    def work(bench: PoolBench, first: WorkerHandle, _: WorkerHandle) -> None:
        message = wire.frame(wire.Cookies([])) + wire.frame(wire.Alive())
        say(first, [0])
        for byte in message:
            first.connection.data_received(bytes([byte]))
        assert bench.kept.numbers == [0]
        say(first, range(1, 18))
        assert bench.kept.numbers == [*range(18)]
        assert bench.kept.faults == []

    with_hands(collection, work)


def test_the_last_words_of_a_worker_that_died_are_heard(collection: Path) -> None:
    def work(bench: PoolBench, first: WorkerHandle, _: WorkerHandle) -> None:
        say(first, [0, 1])
        first.connection.connection_lost(None)
        assert bench.kept.numbers == [0, 1]
        assert [lease.number for lease in bench.kept.back] == [*range(2, 20)]

    with_hands(collection, work)


def test_who_was_buried_is_neither_heard_nor_buried_again(collection: Path) -> None:
    """A worker that did not end in time: its socket closes only when it has been killed."""

    def work(bench: PoolBench, first: WorkerHandle, _: WorkerHandle) -> None:
        bench.pool.reap(first)
        back = [lease.number for lease in bench.kept.back]
        first.connection.data_received(
            wire.frame(wire.PartWritten("", 0, {f"{first.name}.warc.gz": 1}))
        )
        first.connection.connection_lost(None)
        assert back == [lease.number for lease in bench.kept.back] == [*range(20)]
        assert bench.kept.parts == []

    with_hands(collection, work)
