"""A host with very many queued URLs is given up, or forbidden, without holding up the others."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from gossamer.frontier.rocks import RocksStore
from gossamer.records import Outcome
from schedule.scheduler_bench import KEYS, PUBLIC, A, B, Bench

SLICE = 500
FEW, MANY = 3_000, 200_000
NAMES: dict[str, tuple[str, ...]] = {"a.example": (PUBLIC + "7",), "b.example": ("10.0.0.1",)}


def a_crawl_with(urls: int, **places: object) -> Bench:
    bench = Bench(names=dict(NAMES), typed=("a.example",), **places)  # type: ignore[arg-type]
    bench.admit(*(f"{B}/{number}" for number in range(urls)))
    bench.admit(*(f"{A}/{number}" for number in range(40)))
    bench.commit()
    return bench


def steps_to_the_end(bench: Bench) -> tuple[list[int], list[str]]:
    """How many URLs each step decided, and what was requested meanwhile."""
    steps, requests = [], []

    async def run() -> None:
        while bench.frontier.host(KEYS.host("b.example")).queued:
            before = len(bench.decided)
            lease = bench.lease()
            steps.append(len(bench.decided) - before)
            if lease is not None:
                requests.append(lease.url)
                bench.answer(lease, 200)
            else:
                bench.commit()
                await bench.wait(0.1)

    asyncio.run(run())
    return steps, requests


def test_a_private_host_with_many_urls_is_refused_in_slices() -> None:
    bench = a_crawl_with(FEW)

    steps, requests = steps_to_the_end(bench)

    assert sum(steps) == FEW
    assert max(steps) <= SLICE
    assert requests, "other hosts are requested meanwhile"
    assert bench.outcome_of(f"{B}/{FEW - 1}") == (Outcome.REFUSED, "private")


def test_what_robots_txt_forbids_is_refused_in_slices_while_other_hosts_are_requested() -> None:
    bench = Bench(names={**NAMES, "b.example": (PUBLIC + "9",)}, typed=("a.example",))
    bench.admit(f"{B}/0", *(f"{A}/{number}" for number in range(40)))
    rules = b"User-agent: *\nDisallow: /"
    requests = 0

    async def run() -> None:
        nonlocal requests
        while len(bench.decided) < FEW:
            before = len(bench.decided)
            lease = bench.lease()
            assert len(bench.decided) - before <= SLICE
            if lease is None:
                await bench.wait(0.1)
            elif lease.host == "b.example":
                bench.answer(lease, 200, rules)
                bench.admit(*(f"{B}/{number}" for number in range(1, FEW)))
            else:
                bench.answer(lease, 200)
                requests += bool(bench.decided)

    asyncio.run(run())
    assert requests


def test_urls_that_come_while_a_host_is_given_up_get_the_same_verdict() -> None:
    bench = a_crawl_with(FEW)
    bench.lease()
    bench.admit(f"{B}/late")

    steps_to_the_end(bench)

    assert bench.outcome_of(f"{B}/late") == (Outcome.REFUSED, "private")


def test_a_restart_in_the_middle_decides_about_the_rest() -> None:
    bench = a_crawl_with(FEW)
    bench.lease()
    assert 0 < len(bench.decided) < FEW
    bench.commit()

    bench.open()
    steps_to_the_end(bench)

    assert len(bench.decided) == len({row.url for row in bench.decided}) == FEW


@pytest.mark.slow
def test_no_step_is_long_with_two_hundred_thousand_urls_on_disk(tmp_path: Path) -> None:
    store = RocksStore.open(tmp_path / "state", 32)
    bench = a_crawl_with(MANY, store=store)
    longest_s, commit_s = 0.0, 0.0
    try:
        while len(bench.decided) < MANY:
            began_s = time.thread_time()
            lease = bench.lease()
            longest_s = max(longest_s, time.thread_time() - began_s)
            if lease is not None:
                bench.answer(lease, 200)
            began_s = time.thread_time()
            bench.commit()
            commit_s = max(commit_s, time.thread_time() - began_s)
            asyncio.run(bench.wait(0.05))
    finally:
        store.close()
    print(f"longest step {longest_s * 1e3:.0f} ms, longest commit {commit_s * 1e3:.0f} ms")
    assert longest_s < 0.5, "all at once takes 4 s"
