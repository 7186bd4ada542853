"""Worker processes may die, hang and fail as they like: no lease and no exchange is lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from faults.processes import is_alive, open_files, reading_workers
from gossamer.archive.reader import iter_exchanges
from gossamer.archive.verify import check_file
from gossamer.errors import DiskFault, StoreError
from gossamer.graph.arrow import pq
from gossamer.records import Outcome, Reason
from gossamer.urls.keys import Keys
from gossamer.urls.repeated_links import unpack_links
from support.a_site import Pages, Site, hang, page, site_in_thread
from support.need import need_linux
from workers.pool_bench import SALT, WAIT_S, PoolBench, a_crew

# Takes half a second to read: long enough to be killed over.
BIG = page("".join(f"<p><a href=/x{n}/{n % 977}>w {n}</a>" for n in range(150_000)))
WEB: Pages = {
    "/big": BIG,
    "/never": hang(),
    "*": page("<title>x</title><a href=/1>one</a><a href=/2>two</a>" + "words " * 50),
}


@pytest.fixture(autouse=True)
def _linux() -> None:
    need_linux("processes are looked up in /proc")


def with_crew(
    collection: Path,
    work: Callable[[PoolBench], Awaitable[None]],
    workers: int = 2,
) -> PoolBench:
    async def run() -> PoolBench:
        async with a_crew(collection, workers) as bench:
            await work(bench)
        return bench

    return asyncio.run(run())


def kill(bench: PoolBench, name: str) -> int:
    """Kill the worker of that name, as the kernel or an operator does."""
    [process] = [handle.process.pid for handle in bench.handles if handle.name == name]
    os.kill(process, signal.SIGKILL)
    return process


async def kill_while_reading(bench: PoolBench) -> None:
    """Kill whoever reads next, in the middle of it. Raises TimeoutError when it was missed."""
    async with asyncio.timeout(30):
        await bench.until(lambda: bool(reading_workers(bench.home.path)))
    [name] = reading_workers(bench.home.path)
    kill(bench, name)
    await bench.until(lambda: name not in [handle.name for handle in bench.handles])


def caught(
    collection: Path, work: Callable[[Site], Callable[[PoolBench], Awaitable[None]]]
) -> tuple[Site, PoolBench]:
    """Do `work` until the moment in which a worker reads was not missed: it is short."""
    for attempt in range(6):
        with (
            site_in_thread({**WEB, "*": page("x")}) as site,
            contextlib.suppress(TimeoutError),
        ):
            return site, with_crew(collection / str(attempt), work(site))
    raise AssertionError("the moment was missed six times")


def links_of(bench: PoolBench) -> Counter[str]:
    """How many links each source has in the parts that were handed over."""
    found: Counter[str] = Counter()
    for part in bench.kept.parts:
        if part.name:
            links = [("kind", "!=", "capture")]
            table = pq.read_table(bench.home.graph / part.name, filters=links)
            found.update(table.column("source").to_pylist())
    return found


def assert_whole(bench: PoolBench, *, given_up: int = 0) -> None:
    """Each lease ended once, in a harvest or by coming back, but for those under way at the end;
    all that is archived was told, once; all links are in parts; nothing is left behind."""
    kept = bench.kept
    assert kept.faults == []
    ended = Counter([*kept.numbers, *(lease.number for lease in kept.back)])
    assert set(ended.values()) == {1}
    assert len(ended) == bench.given - given_up
    files = sorted(bench.home.archive.glob("*.warc.gz"))
    archived = [exchange.lease.number for file in files for exchange in iter_exchanges(file)]
    assert sorted(archived) == sorted(kept.numbers)
    assert [fault for file in files for fault in check_file(file)] == []
    assert kept.covered_too_early == []
    assert kept.covered == {file.name: file.stat().st_size for file in files}
    fetched = {h.report.lease.url: h.report.out_links for h in kept.processed_pages}
    assert links_of(bench) == Counter({url: links for url, links in fetched.items() if links})
    assert list(bench.home.run.glob("marker-*")) == []


def test_a_crew_carries_every_lease_once_and_in_the_order_of_its_files(collection: Path) -> None:
    async def work(bench: PoolBench) -> None:
        bench.give(site, [f"/{number}" for number in range(200)])
        await bench.until(lambda: len(bench.kept.processed_pages) == 200)
        assert bench.pool.under_way == 0
        await bench.pool.finish()

    with site_in_thread(WEB) as site:
        bench = with_crew(collection, work)

    assert sorted(site.asked) == sorted(f"/{number}" for number in range(200))
    assert_whole(bench)
    assert len(bench.kept.covered) == 2, "both worked"


@pytest.mark.parametrize("counts_links", [True, False])
def test_every_link_to_a_url_reaches_the_node_where_links_are_counted(
    collection: Path, *, counts_links: bool
) -> None:
    links: Counter[bytes] = Counter()

    async def run(site: Site) -> None:
        async with a_crew(collection, 2, counts_links=counts_links) as bench:
            bench.give(site, [f"/page{number}" for number in range(8)])
            await bench.until(lambda: len(bench.kept.numbers) == 8)
            for processed in bench.kept.processed_pages:
                links.update(one.key for one in processed.report.found)
                links.update(dict(unpack_links(processed.report.repeated)))

    with site_in_thread(WEB) as site:
        asyncio.run(run(site))
        key = Keys(SALT).of(site.url("/1"))

    if counts_links:
        assert links[key] == 8
    else:
        assert 1 <= links[key] <= 2  # each worker reports a URL once


def test_what_a_killed_worker_archived_is_taken_and_the_rest_comes_back(collection: Path) -> None:
    async def work(bench: PoolBench) -> None:
        bench.give(site, ["/never"] * 6 + [f"/{number}" for number in range(300)])
        await bench.until(lambda: len(bench.kept.processed_pages) > 50)
        process = kill(bench, "w1")
        await bench.until(lambda: "w3" in [handle.name for handle in bench.handles])
        assert not is_alive(process)
        await bench.until(lambda: bench.pool.under_way == never_answered(bench))
        under_way.append(bench.pool.under_way)
        await bench.pool.finish()

    def never_answered(bench: PoolBench) -> int:
        """Of the six leases that hang, those whose worker lives."""
        return 6 - len([lease for lease in bench.kept.back if lease.url == site.url("/never")])

    under_way: list[int] = []
    with site_in_thread(WEB) as site:
        bench = with_crew(collection, work)

    back = [lease.url for lease in bench.kept.back]
    assert site.url("/never") in back
    asked = Counter(site.asked)
    told = Counter(
        h.report.lease.url.removeprefix(site.url("")) for h in bench.kept.processed_pages
    )
    assert all(asked[path] == 1 for path in told), "nobody was asked twice"
    assert_whole(bench, given_up=under_way[0])


@pytest.mark.slow
def test_a_worker_that_is_stopped_for_too_long_is_replaced(collection: Path) -> None:
    async def work(bench: PoolBench) -> None:
        bench.give(site, [f"/{number}" for number in range(40)])
        await bench.until(lambda: len(bench.kept.processed_pages) == 40)
        [stopped] = [handle for handle in bench.handles if handle.name == "w1"]
        os.kill(stopped.process.pid, signal.SIGSTOP)
        bench.give(site, [f"/{number}" for number in range(40, 140)])
        stopped.last_message_s = time.monotonic() - 20.0
        bench.pool.maintain()
        assert is_alive(stopped.process.pid), "half a minute is not over"
        stopped.last_message_s -= 15.0
        await bench.until(lambda: stopped not in bench.handles)
        assert not is_alive(stopped.process.pid)
        assert bench.kept.back
        bench.give(site, ["/after"])
        await bench.until(lambda: bench.pool.under_way == 0)
        await bench.pool.finish()

    with site_in_thread(WEB) as site:
        bench = with_crew(collection, work)

    assert_whole(bench)


def test_the_silence_of_workers_says_nothing_when_the_node_itself_was_stopped(
    collection: Path,
) -> None:
    async def work(bench: PoolBench) -> None:
        bench.give(site, ["/1"])
        await bench.until(lambda: len(bench.kept.processed_pages) == 1)
        for handle in bench.handles:
            handle.last_message_s -= 60.0
        bench.pool._maintained_s -= 60.0
        bench.pool.maintain()
        bench.give(site, ["/2"])
        await bench.until(lambda: len(bench.kept.processed_pages) == 2)
        await bench.pool.finish()

    with site_in_thread(WEB) as site:
        bench = with_crew(collection, work)

    assert_whole(bench)
    assert bench.pool._spawned == 2


@pytest.mark.slow
def test_what_a_worker_was_killed_over_is_read_by_the_next_and_not_asked_again(
    collection: Path,
) -> None:
    def working_on(site: Site) -> Callable[[PoolBench], Awaitable[None]]:
        async def work(bench: PoolBench) -> None:
            bench.give(site, ["/1", "/2", "/3"])
            await bench.until(
                lambda: len(bench.kept.processed_pages) == 3
            )  # else one of these is read
            bench.give(site, ["/big"])
            await kill_while_reading(bench)
            await bench.until(lambda: bench.pool.under_way == 0)
            await bench.pool.finish()

        return work

    site, bench = caught(collection, working_on)

    assert site.asked.count("/big") == 1
    [big] = [h.report for h in bench.kept.processed_pages if h.report.lease.url == site.url("/big")]
    assert (big.outcome, big.status, big.out_links) == (Outcome.FETCHED, 200, 20_000)
    assert_whole(bench)


@pytest.mark.slow
def test_a_page_that_killed_two_workers_is_set_aside(collection: Path) -> None:
    def working_on(site: Site) -> Callable[[PoolBench], Awaitable[None]]:
        async def work(bench: PoolBench) -> None:
            bench.give(site, ["/1", "/2", "/3"])
            await bench.until(
                lambda: len(bench.kept.processed_pages) == 3
            )  # else one of these is read
            bench.give(site, ["/big"])
            await kill_while_reading(bench)
            await kill_while_reading(bench)
            bench.give(site, ["/4"])
            await bench.until(lambda: bench.pool.under_way == 0)
            await bench.pool.finish()

        return work

    site, bench = caught(collection, working_on)

    assert site.asked.count("/big") == 1
    [big] = [h.report for h in bench.kept.processed_pages if h.report.lease.url == site.url("/big")]
    assert (big.outcome, big.reason) == (Outcome.FAILED, Reason.CRASH)
    assert "crashed two" in big.detail
    assert_whole(bench)


def test_a_worker_killed_while_it_closes_is_not_waited_for(collection: Path) -> None:
    async def work(bench: PoolBench) -> None:
        bench.give(site, [f"/{number}" for number in range(50)])
        await bench.until(lambda: len(bench.kept.processed_pages) == 50)
        os.kill(bench.handles[0].process.pid, signal.SIGSTOP)
        finishing = asyncio.ensure_future(bench.pool.finish())
        await bench.until(lambda: len([h for h in bench.handles if h.is_closed]) == 1)
        kill(bench, next(handle.name for handle in bench.handles if not handle.is_closed))
        async with asyncio.timeout(WAIT_S):
            await finishing

    with site_in_thread(WEB) as site:
        bench = with_crew(collection, work)

    assert_whole(bench)


@pytest.mark.slow
def test_what_killed_a_worker_at_the_very_end_is_read_before_the_crew_goes(
    collection: Path,
) -> None:
    async def work(bench: PoolBench) -> None:
        bench.give(site, ["/big"])
        await bench.until(lambda: bool(reading_workers(bench.home.path)))
        finishing = asyncio.ensure_future(bench.pool.finish())
        await asyncio.sleep(0)  # the order to close is out
        kill(bench, "w1")
        async with asyncio.timeout(WAIT_S):
            await finishing

    with site_in_thread(WEB) as site:
        bench = with_crew(collection, work, workers=1)

    assert site.asked == ["/big"]
    assert_whole(bench)


def test_a_crew_that_is_closed_in_the_middle_ends_at_once(collection: Path) -> None:
    async def work(bench: PoolBench) -> None:
        bench.give(site, ["/never"] * 8)
        await bench.until(lambda: len(site.asked) == 8)

    with site_in_thread(WEB) as site:
        began_s = time.monotonic()
        with_crew(collection, work)
        assert time.monotonic() - began_s < 15, "who is not told is waited for 10 s, each"


def test_workers_that_cannot_start_end_in_one_sentence(
    collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken" / "gossamer"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("import sys; sys.exit(3)\n")
    monkeypatch.setenv("PYTHONPATH", str(broken.parent))

    async def work(bench: PoolBench) -> None:
        await bench.until(lambda: bool(bench.kept.faults))
        await bench.until(lambda: bench.handles == [])  # the other one dies, too
        hired = bench.pool._spawned
        await bench.pool.finish()
        assert bench.pool._spawned == hired, "nobody else is hired"

    bench = with_crew(collection, work)

    [fault] = bench.kept.faults
    assert isinstance(fault, StoreError)
    assert "workers died" in str(fault)
    assert "--workers 0" in str(fault)


def test_a_disk_that_fails_a_worker_stops_the_crew_at_once(collection: Path) -> None:
    async def work(bench: PoolBench) -> None:
        bench.home.archive.rmdir()
        bench.home.archive.write_text("a file where the archive should be")
        bench.give(site, [f"/{number}" for number in range(20)])
        await bench.until(lambda: bool(bench.kept.faults))
        began_s = time.monotonic()
        await bench.pool.finish()
        assert time.monotonic() - began_s < 60

    with site_in_thread(WEB) as site:
        bench = with_crew(collection, work)

    assert isinstance(bench.kept.faults[0], DiskFault)
    assert "\n" not in str(bench.kept.faults[0])
    assert bench.kept.processed_pages == []


@pytest.mark.slow
def test_deaths_leak_no_files(collection: Path) -> None:
    async def work(bench: PoolBench) -> None:
        before = 0
        for turn in range(6):
            bench.give(site, [f"/{turn}"])
            await bench.until(lambda turn=turn: len(bench.kept.processed_pages) > turn)  # type: ignore[misc]
            kill(bench, bench.handles[0].name)
            await bench.until(lambda turn=turn: bench.pool._spawned == turn + 2)  # type: ignore[misc]
            before = before or open_files(os.getpid())
        await bench.until(lambda: len(bench.handles) == 1)
        await bench.until(lambda: open_files(os.getpid()) <= before)  # the site closes its own
        await bench.pool.finish()

    with site_in_thread(WEB) as site:
        bench = with_crew(collection, work, workers=1)

    assert_whole(bench)
