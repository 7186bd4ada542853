"""What is on disk in which order, and a log that has every line once."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from gossamer.base.clock import ManualClock
from gossamer.collection.archive_ends import known_ends
from gossamer.collection.crawl_log import CrawlLog, _line_of_report, note_action
from gossamer.errors import DiskFault
from gossamer.frontier.meta_keys import CLEAN_KEY, LOG_KEY
from gossamer.frontier.rows import Standing, UrlRow
from gossamer.frontier.store import StateTable
from gossamer.index.reader import covered
from gossamer.node.commit import sync_descriptor
from gossamer.records import Lease, Outcome, Purpose, Reason, Report, Stored
from support.need import need_linux
from workers.crash_bench import CrashBench, a_web

ROW = UrlRow(standing=Standing.REFUSED, depth=1, url="http://a.example/", reason="robots", at_us=1)


@pytest.fixture
def bench(tmp_path: Path) -> CrashBench:
    return CrashBench(tmp_path / "c", a_web(), ManualClock())


def urls_in(path: Path) -> list[str]:
    return [json.loads(line)["url"] for line in path.read_text().splitlines()]


# -- the commit


def test_a_commit_carries_the_ends_of_the_archive_and_the_length_of_the_log(
    bench: CrashBench,
) -> None:
    for _ in range(6):
        bench.step()
    store = bench.committer._store
    before = dict(known_ends(store))

    bench.commit()

    archive, log = bench.worker.archive, bench.home.log
    assert before == {}
    assert known_ends(store)[archive.name] == archive.end
    assert int.from_bytes(store.find(StateTable.META, LOG_KEY) or b"", "big") == log.stat().st_size
    assert store.find(StateTable.META, CLEAN_KEY) == b"0"
    bench.close()


def test_the_log_is_written_before_the_state_and_graph_and_index_after_it(
    bench: CrashBench, tmp_path: Path
) -> None:
    for _ in range(6):
        bench.step()
    bench.write_part()

    copies = bench.commit_in_steps(tmp_path / "copies")

    sizes = [(copy / "log" / "crawl.jsonl").stat().st_size for copy in copies]
    manifests = [(copy / "graph" / "manifest.json").exists() for copy in copies]
    assert sizes[0] == sizes[1] < sizes[2] == sizes[3] == sizes[4]
    assert manifests == [False, False, False, False, True, True]
    assert [len(covered(copy / "index")) for copy in copies] == [0, 0, 0, 0, 0, 1]
    bench.close()


def test_a_commit_reaches_no_further_than_what_was_learned(bench: CrashBench) -> None:
    for _ in range(3):
        bench.step()
    bench.commit()
    store, archive = bench.committer._store, bench.worker.archive
    before = archive.end
    lease = bench.lease()
    assert lease is not None
    answer = bench.web.answer(lease, bench.clock.wall_us())
    processed = bench.worker._read(lease, answer, archive.append(lease, answer))
    no_bytes = structs.replace(
        processed, report=structs.replace(processed.report, size_bytes=2**64)
    )

    with pytest.raises(OverflowError):
        bench.opened.node.take(no_bytes)
    bench.commit()

    assert known_ends(store)[archive.name] == before < archive.end
    bench.close()


def test_after_a_fault_nothing_is_committed(bench: CrashBench) -> None:
    async def run() -> None:
        node = bench.opened.node
        node._fail(ValueError("a bug of ours"))
        node._is_much.set()
        async with asyncio.timeout(30):
            await node._commit_regularly()

    for _ in range(3):
        bench.step()
    asyncio.run(run())

    assert known_ends(bench.committer._store) == {}
    bench.close()


def test_only_the_last_commit_of_a_clean_end_says_so(bench: CrashBench) -> None:
    async def commit(*, is_clean: bool) -> bytes | None:
        await bench.committer.commit(is_clean=is_clean)
        return bench.committer._store.find(StateTable.META, CLEAN_KEY)

    assert asyncio.run(commit(is_clean=False)) == b"0"
    assert asyncio.run(commit(is_clean=True)) == b"1"
    bench.close()


def test_what_is_decided_while_a_commit_is_written_belongs_to_the_next(bench: CrashBench) -> None:
    async def commit_and_go_on() -> tuple[int, int]:
        bench.step()
        writing = asyncio.create_task(bench.committer.commit())
        await asyncio.sleep(0)
        for _ in range(3):
            bench.step()
        await writing
        committed = known_ends(bench.committer._store)[bench.worker.archive.name]
        return committed, bench.worker.archive.end

    committed, end = asyncio.run(commit_and_go_on())
    assert committed < end
    bench.commit()
    assert known_ends(bench.committer._store)[bench.worker.archive.name] == end
    bench.close()


def test_a_commit_that_is_cancelled_is_written_all_the_same(bench: CrashBench) -> None:
    async def cancel() -> None:
        for _ in range(4):
            bench.step()
        writing = asyncio.create_task(bench.committer.commit())
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing

    asyncio.run(cancel())

    archive = bench.worker.archive
    assert known_ends(bench.committer._store)[archive.name] == archive.end
    bench.commit()
    assert len(urls_in(bench.home.log)) == len(set(urls_in(bench.home.log)))
    bench.close()


def test_a_file_that_cannot_be_synced_stops_the_commit() -> None:
    need_linux("a pipe that refuses fdatasync")
    reading, writing = os.pipe()

    with pytest.raises(DiskFault, match="committed data is safe") as told:
        sync_descriptor(writing)

    assert not told.value.is_full
    os.close(reading)
    os.close(writing)


# -- the log


def test_lines_behind_the_committed_length_were_never_true(tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl"
    crawl_log = CrawlLog(path, 0)
    crawl_log.note_row(ROW)
    committed = crawl_log.append(crawl_log.take())
    crawl_log.note_row(ROW)
    crawl_log.append(crawl_log.take())
    crawl_log.close()

    CrawlLog(path, committed).close()

    assert path.stat().st_size == committed
    assert urls_in(path) == [ROW.url]


def test_a_log_that_somebody_cut_goes_on_from_where_it_ends(tmp_path: Path) -> None:
    clock = ManualClock()
    bench = CrashBench(tmp_path / "c", a_web(), clock)
    for _ in range(6):
        bench.step()
    bench.commit()
    bench.close()
    bench.home.log.write_text("")

    bench = CrashBench(tmp_path / "c", a_web(), clock)
    while bench.step():
        pass
    bench.commit()
    length = bench.home.log.stat().st_size
    stored = bench.committer._store.find(StateTable.META, LOG_KEY) or b""
    bench.close()

    assert int.from_bytes(stored, "big") == length > 0


def test_a_line_has_no_empty_columns_and_any_text(tmp_path: Path) -> None:
    crawl_log = CrawlLog(tmp_path / "crawl.jsonl", 0)
    strange = "http://a.example/\u2028\ud800\n"
    crawl_log.note_row(
        UrlRow(standing=Standing.FAILED, depth=0, url=strange, reason="dns", at_us=1)
    )

    length = crawl_log.append(crawl_log.take())
    crawl_log.close()

    raw = (tmp_path / "crawl.jsonl").read_bytes()
    assert len(raw) == length
    assert raw.count(b"\n") == 1
    assert json.loads(raw) == {
        "at": "1970-01-01T00:00:00Z",
        "url": "http://a.example/\u2028?\n",
        "outcome": "failed",
        "reason": "dns",
    }


@given(st.text(max_size=30), st.integers(0, 2), st.floats(0, 1e9), st.sampled_from(Purpose))
def test_the_line_of_a_report_is_the_json_of_its_columns(
    text: str, count: int, took_s: float, purpose: Purpose
) -> None:
    lease = Lease(1, text, b"", text, text, purpose, count, count, via=text)
    stored = Stored("", 0, 0, 0)
    told = Report(lease, Outcome.FAILED, 5, took_s, stored, Reason.DNS, text, count, text, count)
    columns = {
        "at": "1970-01-01T00:00:00Z", "url": text, "outcome": "failed", "reason": "dns",
        "detail": text, "status": count, "type": text, "bytes": count, "took_s": round(took_s, 4),
        "depth": count, "tries": count, "via": text, "host": text, "address": text,
        "purpose": "" if purpose is Purpose.PAGE else purpose.value,
    }  # fmt: skip

    line = json.loads(_line_of_report(told))

    assert line.pop("url") == columns.pop("url")
    assert line == {name: value for name, value in columns.items() if value not in ("", 0)}
    assert list(line) == [name for name in columns if name in line]


def test_nothing_to_write_is_nothing_written(tmp_path: Path) -> None:
    crawl_log = CrawlLog(tmp_path / "crawl.jsonl", 0)

    assert crawl_log.take() == b""
    assert crawl_log.append(b"") == 0
    crawl_log.close()


def test_a_full_disk_is_told_when_the_log_is_written() -> None:
    need_linux("/dev/full")
    crawl_log = CrawlLog.__new__(CrawlLog)
    crawl_log._file = os.open("/dev/full", os.O_WRONLY)

    with pytest.raises(DiskFault, match="free some space, then resume") as told:
        crawl_log.append(b"line\n")

    assert told.value.is_full
    crawl_log.close()


def test_acts_of_the_operator_are_noted_one_a_line(tmp_path: Path) -> None:
    path = tmp_path / "log" / "acts.jsonl"

    note_action(path, 0, "begin", seeds=["http://a.example/"])
    note_action(path, 1_000_000, "pause")

    actions = [json.loads(line) for line in path.read_text().splitlines()]
    assert actions == [
        {"at": "1970-01-01T00:00:00Z", "act": "begin", "seeds": ["http://a.example/"]},
        {"at": "1970-01-01T00:00:01Z", "act": "pause"},
    ]
