"""A lease may bring several captures: a page, and the files that belong to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs

from gossamer.base.clock import ManualClock
from gossamer.frontier.meta_keys import SALT_KEY
from gossamer.frontier.store import StateTable
from gossamer.records import Capture, Fetched, Lease, Outcome, Purpose
from gossamer.upkeep.verify import verify
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import Keys
from workers.crash_bench import SEED, CrashBench, a_web

QUEUED = f"{SEED}0"  # the first page links to it
STYLE = f"{SEED}style.css"
ELSEWHERE = "http://cdn.example/logo.png"


@pytest.fixture
def bench(tmp_path: Path) -> CrashBench:
    web = a_web()
    web.pages[STYLE] = "p { color: red }"
    return CrashBench(tmp_path / "c", web, ManualClock())


def key_of(bench: CrashBench, url: str) -> bytes:
    return Keys(bench.committer._store.find(StateTable.META, SALT_KEY) or b"").of(url)


def next_page(bench: CrashBench) -> Lease:
    while (lease := bench.lease()) is not None and lease.purpose is not Purpose.PAGE:
        bench.carry(lease)
    assert lease is not None
    return lease


def archive_part(bench: CrashBench, url: str) -> Capture:
    """Archive an answer, as a browser that shows a page does."""
    bench.clock._now_s += 0.01
    lease = Lease(0, url, key_of(bench, url), host_of(url), "127.0.0.1")
    answer = bench.web.answer(lease, bench.clock.wall_us())
    assert isinstance(answer, Fetched)
    stored = bench.worker.archive.append(lease, answer)
    return Capture(
        url, lease.key, answer.at_us, stored, answer.status, "text/html", len(answer.body)
    )


def carry_with_parts(bench: CrashBench, lease: Lease, *urls: str) -> None:
    parts = tuple(archive_part(bench, url) for url in urls)
    answer = bench.web.answer(lease, bench.clock.wall_us())
    stored = bench.worker.archive.append(lease, answer)
    processed = bench.worker._read(lease, answer, stored)
    report = structs.replace(processed.report, parts=parts)
    processed = structs.replace(processed, report=report)
    bench.worker.links.add(processed)
    bench.opened.node.take(processed)


def test_each_url_of_a_lease_gets_its_row_and_its_capture(bench: CrashBench) -> None:
    carry_with_parts(bench, next_page(bench), STYLE, ELSEWHERE)

    frontier = bench.parts.frontier
    for url in (SEED, STYLE, ELSEWHERE):
        key = key_of(bench, url)
        row, capture = frontier.find(key), frontier.last_capture(key)
        assert row is not None
        assert capture is not None
        assert (row.url, row.outcome) == (url, Outcome.FETCHED)
        assert capture.offset > 0
    assert frontier.host(key_of(bench, ELSEWHERE)[:8]).name == "cdn.example"
    bench.close()


def test_a_queued_url_that_came_with_a_page_is_not_requested_again(bench: CrashBench) -> None:
    bench.carry(next_page(bench))
    carry_with_parts(bench, next_page(bench), f"{SEED}gone")
    bench.finish()

    assert bench.web.asked.count(f"{SEED}gone") == 1


def test_a_collection_with_parts_verifies_and_its_log_names_each_once(bench: CrashBench) -> None:
    carry_with_parts(bench, next_page(bench), STYLE, ELSEWHERE)
    bench.finish()

    assert list(verify(bench.home)) == []
    lines = [json.loads(line) for line in bench.home.log.read_text().splitlines()]
    urls = [line["url"] for line in lines if line["outcome"] == "fetched"]
    assert (urls.count(STYLE), urls.count(ELSEWHERE), urls.count(SEED)) == (1, 1, 1)
