"""The samples behind the curves: bounded, whole after a kill, one line over all runs."""

from __future__ import annotations

import asyncio
import os
from itertools import pairwise
from pathlib import Path

import pytest

from gossamer.base.clock import ManualClock
from gossamer.base.memory import resident_bytes
from gossamer.collection.directory import CollectionPaths
from gossamer.collection.history import (
    FIRST_INTERVAL_S,
    MOST_SAMPLES,
    Recorder,
    Sample,
    decode_sample,
    encode_sample,
    read_history,
)
from gossamer.frontier.counts import Counts
from gossamer.node.session import delete_collection
from gossamer.upkeep.backup import backup
from support.a_crawl import crawl
from support.a_site import Pages, page, redirect, site_in_thread

SAMPLE = Sample(1_700_000_000_000, 250, 1, 10, 2, 30, 4, 5, 6, 70_000, None)
SMALL: Pages = {
    "/": page("<a href=/a>a</a><a href=/gone>gone</a><a href=/to>to</a>"),
    "/a": page("<a href=/b>b</a>"),
    "/b": page("deep"),
    "/to": redirect("/b"),
}


def recorder(path: Path, clock: ManualClock, counts: Counts | None = None) -> Recorder:
    return Recorder(path, clock, counts or Counts(), lambda: 5_000_000)


async def run_for(one: Recorder, clock: ManualClock, seconds: float) -> None:
    keeping = asyncio.ensure_future(one.keep())
    await asyncio.sleep(0)
    await clock.advance(seconds)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


def test_a_sample_is_read_as_it_was_written() -> None:
    assert decode_sample(encode_sample(SAMPLE)) == SAMPLE
    assert decode_sample(encode_sample(SAMPLE._replace(memory_bytes=7))) is not None


def test_every_changed_byte_of_a_sample_is_noticed() -> None:
    line = encode_sample(SAMPLE).rstrip("\n")

    for at in range(len(line)):
        damaged = line[:at] + chr(ord(line[at]) ^ 1) + line[at + 1 :]
        assert decode_sample(damaged) in (None, SAMPLE)
        assert decode_sample(line[:at]) is None


def test_samples_come_ten_times_a_second_at_first(tmp_path: Path) -> None:
    clock = ManualClock()
    asyncio.run(run_for(recorder(tmp_path / "h", clock), clock, 10))

    found = read_history(tmp_path / "h")
    assert len(found) == pytest.approx(10 / FIRST_INTERVAL_S + 1, abs=1)
    assert {after.ran_ms - before.ran_ms for before, after in pairwise(found)} == {100}


def test_ten_weeks_have_no_more_samples_than_ten_minutes(tmp_path: Path) -> None:
    clock = ManualClock()
    asyncio.run(run_for(recorder(tmp_path / "h", clock), clock, 10 * 7 * 86_400))

    found = read_history(tmp_path / "h")
    assert MOST_SAMPLES / 2 <= len(found) < MOST_SAMPLES
    assert (tmp_path / "h").stat().st_size < 150_000
    steps = [after.ran_ms - before.ran_ms for before, after in pairwise(found)]
    assert max(steps[:-1]) <= 2 * min(steps[:-1])  # evenly spaced: one curve, not two
    assert found[0].ran_ms == 0
    assert found[-1].ran_ms >= 10 * 7 * 86_400_000 - max(steps)


def test_a_second_run_goes_on_where_the_first_ended(tmp_path: Path) -> None:
    clock = ManualClock()
    asyncio.run(run_for(recorder(tmp_path / "h", clock), clock, 5))
    asyncio.run(clock.advance(86_400))  # nobody ran
    asyncio.run(run_for(recorder(tmp_path / "h", clock), clock, 5))

    found = read_history(tmp_path / "h")
    first = [sample for sample in found if sample.run == 1]
    second = [sample for sample in found if sample.run == 2]
    assert found == first + second
    assert second[0].ran_ms == first[-1].ran_ms >= 4_900
    assert second[0].at_ms - first[-1].at_ms >= 86_400_000


def test_a_line_cut_by_a_kill_is_left_out_and_dropped_by_the_next_run(tmp_path: Path) -> None:
    clock = ManualClock()
    asyncio.run(run_for(recorder(tmp_path / "h", clock), clock, 1))
    whole = (tmp_path / "h").read_text()
    (tmp_path / "h").write_text(whole + encode_sample(SAMPLE)[:40])

    before = len(read_history(tmp_path / "h"))
    assert before == len(whole.splitlines()) - 1
    recorder(tmp_path / "h", clock).note()
    assert len(read_history(tmp_path / "h")) == before + 1
    assert all(map(decode_sample, (tmp_path / "h").read_text().splitlines()[1:]))


def test_a_disk_that_refuses_does_not_stop_the_crawl(tmp_path: Path) -> None:
    clock = ManualClock()
    one = recorder(tmp_path / "missing" / "h", clock)

    asyncio.run(run_for(one, clock, 5))

    assert not (tmp_path / "missing").exists()


def test_a_crawl_keeps_its_history_with_the_collection(collection: Path, tmp_path: Path) -> None:
    with site_in_thread(SMALL) as site:
        summary = crawl(collection, [site.url()])
    found = read_history(CollectionPaths(collection).history)

    assert len(found) >= 3  # enough for a curve, however short the crawl is
    assert found[0].fetched == 0
    last = found[-1]
    assert (last.fetched, last.redirects, last.queued) == (summary.fetched, 1, 0)
    assert (last.errors, last.bytes) == (1, summary.bytes)
    assert last.memory_bytes is None or last.memory_bytes > 2**20
    backup(CollectionPaths(collection), tmp_path / "copy")
    assert read_history(CollectionPaths(tmp_path / "copy").history) == found
    delete_collection(CollectionPaths(collection))
    assert not collection.exists()


def test_pages_are_counted_by_depth(collection: Path) -> None:
    with site_in_thread(SMALL) as site:
        summary = crawl(collection, [site.url()])

    assert summary.by_depth == {"0": 1, "1": 2, "2": 1}


def test_sums_of_an_older_version_have_no_depths() -> None:
    old = Counts(fetched=3)
    old.by_depth = None

    decoded = Counts.decode(old.encode())
    decoded.count_depth(1)

    assert decoded.by_depth is None
    assert Counts.decode(None).by_depth == {}


def test_all_depths_beyond_the_deepest_are_one() -> None:
    counts = Counts()
    for depth in range(300):
        counts.count_depth(depth)

    assert counts.by_depth is not None
    assert len(counts.by_depth) == 101
    assert counts.by_depth["100"] == 200


def test_memory_of_a_process_that_has_ended_is_not_known() -> None:
    assert resident_bytes([2**22 + 5]) is None


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="there is no /proc")
def test_memory_of_this_process_is_known() -> None:
    found = resident_bytes([os.getpid()])
    assert found is not None
    assert found > 2**20
