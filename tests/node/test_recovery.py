"""Killed anywhere, a crawl goes on to the result that it would have had."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.archive.cdxj import cdxj_path
from gossamer.archive.reader import iter_exchanges
from gossamer.base.clock import ManualClock
from gossamer.collection.archive_ends import known_ends
from gossamer.errors import CorruptFile
from gossamer.graph import manifest as manifests
from gossamer.node.recovery import recover
from gossamer.records import Answer, Lease, Outcome, Reason, Stored
from gossamer.workers.process import PageProcessor, ProcessedPage
from workers.crash_bench import CrashBench, Found, a_web, found_in


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """What the crawl of the web comes to when nobody disturbs it."""
    clock = ManualClock()
    path = tmp_path_factory.mktemp("undisturbed") / "c"
    bench = CrashBench(path, a_web(), clock)
    bench.finish()
    found = found_in(path, clock)
    assert found.counts["fetched"] > 40
    assert found.counts["redirects"] == 1
    assert found.counts["refused"] == 2
    return found


def resumed(path: Path, clock: ManualClock) -> Found:
    """Open what a kill left, crawl to the end, and read it."""
    clock._now_s += 60.0
    bench = CrashBench(path, a_web(), clock)
    archived = {
        (exchange.lease.url, exchange.lease.tries)
        for file in bench.home.archive.glob("*.warc.gz")
        for exchange in iter_exchanges(file)
    }
    bench.finish()
    again = [url for url in bench.web.asked if (url, 0) in archived and "flaky" not in url]
    assert again == [], "what is archived is never asked for again"
    return found_in(path, clock)


def kills(tmp_path: Path, *, before: int, between: int) -> Iterator[Path]:
    """Directories as kills left them, in each step of two commits and one with links."""
    clock = ManualClock()
    bench = CrashBench(tmp_path / "live", a_web(), clock)
    for _ in range(before):
        bench.step()
    copies = bench.commit_in_steps(tmp_path / "first")
    for _ in range(between):
        bench.step()
    bench.write_part()
    copies += bench.commit_in_steps(tmp_path / "second")
    bench.close()
    yield from copies


@pytest.mark.parametrize(
    ("before", "between"),
    [
        (3, 9),
        pytest.param(1, 0, marks=pytest.mark.slow),
        pytest.param(14, 25, marks=pytest.mark.slow),
        pytest.param(45, 3, marks=pytest.mark.slow),
    ],
)
def test_a_kill_in_any_step_of_a_commit_changes_nothing(
    tmp_path: Path, undisturbed: Found, before: int, between: int
) -> None:
    for copy in kills(tmp_path, before=before, between=between):
        assert resumed(copy, ManualClock()) == undisturbed, copy


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_in_the_middle_of_an_exchange_cuts_it_and_asks_once_more(
    tmp_path: Path, undisturbed: Found, seed: int
) -> None:
    chance = random.Random(seed)
    clock = ManualClock()
    bench = CrashBench(tmp_path / "live", a_web(), clock)
    for _ in range(12):
        bench.step()
    bench.commit()
    committed = bench.worker.archive.end
    for _ in range(3):
        bench.step()
    copy = bench.copy(tmp_path / "copy")
    file, size = copy / "archive" / bench.worker.archive.name, bench.worker.archive.end
    bench.close()
    if size > committed:  # else the file was rolled, and there is nothing to cut
        os.truncate(file, chance.randrange(committed, size))

    assert resumed(copy, ManualClock()) == undisturbed


def test_killed_again_and_again_it_still_ends_the_same(tmp_path: Path, undisturbed: Found) -> None:
    chance = random.Random(3)
    path, clock = tmp_path / "live-0", ManualClock()
    for kill in range(1, 9):
        bench = CrashBench(path, a_web(), clock)
        for _ in range(chance.randrange(8)):
            bench.step()
            if chance.random() < 0.3:
                bench.write_part()
            if chance.random() < 0.3:
                bench.commit()
        path = bench.copy(tmp_path / f"live-{kill}")
        bench.close()
        clock._now_s += 10.0

    assert resumed(path, clock) == undisturbed


def test_a_start_that_finds_all_in_order_replays_nothing(tmp_path: Path) -> None:
    clock = ManualClock()
    CrashBench(tmp_path / "c", a_web(), clock).finish()

    bench = CrashBench(tmp_path / "c", a_web(), clock)

    assert bench.opened.recovered.exchanges == 0
    assert bench.opened.recovered.cut_bytes == 0
    bench.close()


def test_links_that_the_graph_missed_are_read_once_and_not_twice(tmp_path: Path) -> None:
    clock = ManualClock()
    bench = CrashBench(tmp_path / "c", a_web(), clock)
    for _ in range(9):
        bench.step()
    bench.commit()  # the state has them; no part was written
    bench.close()

    links = []
    for _ in range(3):
        bench = CrashBench(tmp_path / "c", a_web(), clock)
        links.append(sum(part.rows for part in bench.parts.links.manifest.parts))
        bench.close()
        clock._now_s += 10.0

    assert links[0] > 0
    assert links == [links[0]] * 3


def test_coverage_follows_the_files_as_they_roll(tmp_path: Path) -> None:
    clock = ManualClock()
    bench = CrashBench(tmp_path / "c", a_web(), clock)
    while len(list(bench.home.archive.glob("*.warc.gz"))) < 3:
        bench.step()
    bench.write_part()
    bench.commit()

    covered = bench.parts.links.manifest.covered
    assert len(covered) >= 2
    assert dict(covered) == dict(known_ends(bench.committer._store))
    for file, end in covered.items():
        assert (bench.home.archive / file).stat().st_size == end
    bench.close()


def test_parts_that_no_manifest_names_are_deleted(tmp_path: Path) -> None:
    clock = ManualClock()
    CrashBench(tmp_path / "c", a_web(), clock).finish()
    graph = tmp_path / "c" / "graph"
    named = {part.name for part in manifests.read(graph).parts}
    shutil.copy(graph / min(named), graph / "links-stray.parquet")
    (graph / "links-half.parquet.new").write_bytes(b"PAR1")

    CrashBench(tmp_path / "c", a_web(), clock).close()

    assert {file.name for file in graph.iterdir()} == {*named, manifests.NAME}


def test_committed_bytes_that_are_missing_are_named(tmp_path: Path) -> None:
    clock = ManualClock()
    bench = CrashBench(tmp_path / "c", a_web(), clock)
    for _ in range(5):
        bench.step()
    bench.commit()
    file, end = bench.worker.archive.path, bench.worker.archive.end
    bench.close()
    os.truncate(file, end - 1)

    with pytest.raises(CorruptFile, match=f"{file.name}, byte {end - 1}"):
        CrashBench(tmp_path / "c", a_web(), clock)


def test_an_index_of_a_file_that_was_cut_is_made_anew(tmp_path: Path) -> None:
    clock = ManualClock()
    bench = CrashBench(tmp_path / "c", a_web(), clock)
    for _ in range(5):
        bench.step()
    bench.commit()
    copy = bench.copy(tmp_path / "copy")
    bench.close()
    file = copy / "archive" / bench.worker.archive.name
    with file.open("ab") as tail:
        tail.write(b"\x1f\x8b\x08 half a record")
    cdxj_path(file).write_text("an index of bytes that are cut off\n")

    CrashBench(copy, a_web(), clock).close()

    assert "cut off" not in cdxj_path(file).read_text()
    assert len(cdxj_path(file).read_text().splitlines()) == 5


class CrashingHarvester(PageProcessor):
    """Our own code fails on every page."""

    def __init__(self) -> None:
        """Nothing is needed to fail."""

    def key_of(self, url: str) -> bytes:
        return url.encode()[:16].ljust(16)

    def processed(self, lease: Lease, answer: Answer, stored: Stored) -> ProcessedPage:
        raise RecursionError(f"too deep: {lease.url}, {answer.status}, {stored.start}")


def test_a_page_on_which_our_code_fails_does_not_keep_a_crawl_from_going_on(
    tmp_path: Path,
) -> None:
    clock = ManualClock()
    CrashBench(tmp_path / "c", a_web(), clock).finish()
    taken: list[ProcessedPage] = []

    recovered = recover(
        tmp_path / "c" / "archive",
        {},
        {},
        CrashingHarvester(),
        lambda processed, _state: taken.append(processed),
    )

    assert recovered.exchanges == len(taken) > 40
    reports = [processed.report for processed in taken]
    assert {(report.outcome, report.reason) for report in reports} == {
        (Outcome.FAILED, Reason.CRASH)
    }
    assert "RecursionError" in reports[0].detail


@pytest.mark.parametrize(
    ("deaths", "outcome", "reason"), [(1, Outcome.FETCHED, ""), (2, Outcome.FAILED, "crash")]
)
def test_an_exchange_is_read_again_after_one_death_and_not_after_two(
    tmp_path: Path, deaths: int, outcome: Outcome, reason: str
) -> None:
    clock = ManualClock()
    bench = CrashBench(tmp_path / "c", a_web(), clock)
    for _ in range(3):
        bench.step()
    copy = bench.copy(tmp_path / "copy")
    last = [exchange.stored for exchange in iter_exchanges(bench.worker.archive.path)][-1]
    bench.worker._marker.set(last.file, last.start)
    (note,) = bench.home.run.glob("marker-*-0")
    for reader in ("0", "start")[:deaths]:
        shutil.copy(note, copy / "run" / f"marker-x-{reader}")
    bench.close()

    again = CrashBench(copy, a_web(), clock)

    row = again.parts.frontier.find(bench.parts.scheduler._keys.of(bench.web.asked[-1]))
    assert row is not None
    assert (row.outcome, row.reason) == (outcome, reason)
    again.close()
